"""What an experiment is to do: a TOML file as a checked record, and the trials that follow from it.

It knows names and numbers; it carries nothing out.
"""

from __future__ import annotations

import hashlib
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from scrubjay.environments.tasks import named_task
from scrubjay.errors import InvalidInput, NotFound
from scrubjay.memory.jsonio import Json
from scrubjay.methods.encoders.named import FRAMES_DEFAULT, TEXT_DEFAULT

__all__ = ["Experiment", "Published", "Task", "Trial", "experiment_of", "read_experiment"]

_NAME = re.compile(r"[\w.][\w .-]{0,59}")
_LONGEST = 60
_UNSAFE = re.compile(r"[^\w.-]+")


@dataclass(frozen=True, slots=True)
class Task:
    """What an agent is told, how long it has, and what its environment is made with.

    `goal` is the milestone that counts, where one does; `environment` is that of the task, else of the experiment.
    """

    name: str
    text: str
    steps: int = 2000
    lives: int | None = None
    arguments: Json = field(default_factory=dict)
    goal: str | None = None
    environment: str | None = None


@dataclass(frozen=True, slots=True)
class Published:
    """A figure of a paper that reports show beside ours, marked as the paper's."""

    method: str
    measure: str
    value: str
    source: str


@dataclass(frozen=True, slots=True)
class Trial:
    """One run: everything that decides how it goes."""

    environment: str
    task: Task
    model: str
    method: str
    seed: int
    frame: tuple[int, int] | None = None
    encoder: str = TEXT_DEFAULT
    frame_encoder: str = FRAMES_DEFAULT

    @property
    def name(self) -> str:
        """The name of its folder."""
        parts = (self.task.name, self.model, self.method, f"seed-{self.seed}")
        return "--".join(_short(_UNSAFE.sub("-", part).strip("-")) for part in parts)

    def to_json(self) -> Json:
        """As `run.json` holds it."""
        return {**asdict(self), "frame": None if self.frame is None else list(self.frame)}


@dataclass(frozen=True, slots=True)
class Experiment:
    """A name, and the choices that trials combine. `encoder` is that of texts, for the methods that use one."""

    name: str
    environment: str
    methods: tuple[str, ...]
    models: tuple[str, ...]
    seeds: tuple[int, ...]
    tasks: tuple[Task, ...]
    frame: tuple[int, int] | None = None
    encoder: str = TEXT_DEFAULT
    frame_encoder: str = FRAMES_DEFAULT
    published: tuple[Published, ...] = ()

    def trials(self) -> Iterator[Trial]:
        """Every combination; seed by seed, so that what is done early compares all methods."""
        for seed in self.seeds:
            for task in self.tasks:
                for model in self.models:
                    for method in self.methods:
                        yield Trial(
                            task.environment or self.environment,
                            task,
                            model,
                            method,
                            seed,
                            self.frame,
                            self.encoder,
                            self.frame_encoder,
                        )


def _short(part: str) -> str:
    """A command as a model is as long as it likes; the name of a folder is not."""
    return part if len(part) <= _LONGEST else f"{part[:40]}-{hashlib.sha256(part.encode()).hexdigest()[:12]}"


def read_experiment(path: str | os.PathLike[str]) -> Experiment:
    """The experiment in a TOML file. Raises NotFound, or InvalidInput that names what is wrong."""
    try:
        with open(path, "rb") as file:
            return experiment_of(tomllib.load(file))
    except (FileNotFoundError, IsADirectoryError):
        raise NotFound(f"there is no file {os.fspath(path)}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{os.fspath(path)} is no TOML file: {error}") from None


def experiment_of(given: Mapping[str, Any]) -> Experiment:
    """The experiment that these values describe. Raises InvalidInput."""
    known = {
        "name", "environment", "methods", "models", "seeds", "tasks", "steps", "lives", "frame", "encoder",
        "frame_encoder", "published",
    }  # fmt: skip
    _only(given, known, "")
    tasks = given.get("tasks", [{"name": "milestones", "text": "Reach as many milestones as you can."}])
    _need(isinstance(tasks, list) and tasks, "tasks", "a list of tables or of names", tasks)
    shared = {name: given[name] for name in ("steps", "lives") if name in given}
    experiment = Experiment(
        name=_name("name", given.get("name")),
        environment=_text("environment", given.get("environment")),
        methods=_texts("methods", given.get("methods")),
        models=_texts("models", given.get("models", ["scripted"])),
        seeds=_seeds(given.get("seeds")),
        tasks=tuple(
            _named(one) if isinstance(one, str) else _task({**shared, **_table("tasks", one)}) for one in tasks
        ),
        frame=_frame(given.get("frame")),
        encoder=_text("encoder", given.get("encoder", TEXT_DEFAULT)),
        frame_encoder=_text("frame_encoder", given.get("frame_encoder", FRAMES_DEFAULT)),
        published=tuple(_published(_table("published", one)) for one in given.get("published", [])),
    )
    names = [trial.name for trial in experiment.trials()]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InvalidInput(f"two trials would have the name {twice[0]}: give tasks, models and methods once each")
    return experiment


def _named(name: str) -> Task:
    """A task that ships, as it is: its steps and lives are its own."""
    task = named_task(name)
    return Task(name, task.text, task.steps, task.lives, dict(task.arguments), task.goal, task.environment)


def _task(given: Mapping[str, Any]) -> Task:
    _only(given, {"name", "text", "steps", "lives", "arguments", "goal", "environment"}, "tasks: ")
    lives = given.get("lives")
    return Task(
        _name("tasks: name", given.get("name")),
        _text("tasks: text", given.get("text")),
        _count("tasks: steps", given.get("steps", 2000)),
        None if lives is None else _count("tasks: lives", lives),
        dict(_table("tasks: arguments", given.get("arguments", {}))),
        None if given.get("goal") is None else _text("tasks: goal", given["goal"]),
        None if given.get("environment") is None else _text("tasks: environment", given["environment"]),
    )


def _published(given: Mapping[str, Any]) -> Published:
    names = ("method", "measure", "value", "source")
    _only(given, set(names), "published: ")
    return Published(*(_text(f"published: {name}", str(given[name]) if name in given else None) for name in names))


def _only(given: Mapping[str, Any], known: set[str], where: str) -> None:
    unknown = sorted(set(given) - known)
    if unknown:
        raise InvalidInput(f"{where}{unknown[0]!r} is not known; there are {', '.join(sorted(known))}")


def _need(holds: object, name: str, expected: str, found: object) -> None:
    if not holds:
        raise InvalidInput(f"{name}: {expected} was expected, found {found!r:.80}")


def _text(name: str, value: Any) -> str:
    _need(isinstance(value, str) and value.strip(), name, "some text", value)
    return str(value)


def _name(name: str, value: Any) -> str:
    _need(isinstance(value, str) and _NAME.fullmatch(value), name, "a short name of letters and digits", value)
    return str(value)


def _texts(name: str, value: Any) -> tuple[str, ...]:
    _need(isinstance(value, list) and value, name, "a list of names", value)
    return tuple(_text(name, one) for one in value)


def _count(name: str, value: Any) -> int:
    _need(type(value) is int and value > 0, name, "a count above 0", value)
    return int(value)


def _seeds(value: Any) -> tuple[int, ...]:
    _need(isinstance(value, list) and value, "seeds", "a list of whole numbers", value)
    for one in value:
        _need(type(one) is int and one >= 0, "seeds", "whole numbers of 0 or more", one)
    return tuple(value)


def _frame(value: Any) -> tuple[int, int] | None:
    if value is None:
        return None
    _need(isinstance(value, list) and len(value) == 2, "frame", "width and height", value)
    return (_count("frame", value[0]), _count("frame", value[1]))


def _table(name: str, value: Any) -> Mapping[str, Any]:
    _need(isinstance(value, dict), name, "a table", value)
    found: Mapping[str, Any] = value
    return found
