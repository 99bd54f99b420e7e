"""A run put together from names: environment, method, player, and the turns that the method has besides.

It knows how the parts fit, for whoever starts a run: a command, an experiment. What a run is, it does not know.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scrubjay.agent.driver import DRIVER, Driver, Patience
from scrubjay.agent.loop import Run
from scrubjay.agent.reflex_watch import ReflexWatch
from scrubjay.agent.skills import Skills
from scrubjay.environments.contract import Environment
from scrubjay.errors import InvalidInput
from scrubjay.methods.contract import Method
from scrubjay.methods.named import make_consolidation, make_player, make_workshop

if TYPE_CHECKING:
    from scrubjay.agent.progress import Progress
    from scrubjay.models.contract import Model
    from scrubjay.models.waiting import Outage
    from scrubjay.public import Memory

__all__ = ["Living", "Setting", "living"]


@dataclass(frozen=True, slots=True)
class Setting:
    """What decides how a run goes, beside its environment and its method.

    `model` may be `driver:COMMAND`, a coding agent, each start of which may take `driver_seconds`.
    """

    environment: str
    model: str = "scripted"
    task: str = "Reach as many milestones as you can."
    steps: int = 2000
    lives: int | None = None
    seed: int = 0
    driver_seconds: float = 600.0


@dataclass(frozen=True, slots=True)
class Living:
    """A run that is ready, and its player."""

    run: Run
    model: Model


def _nothing(progress: Progress) -> None:
    pass


@contextmanager
def living(
    setting: Setting,
    environment: Environment,
    method: Method,
    memory: Memory,
    watch: Callable[[Progress], None] = _nothing,
    outage: Callable[[Outage | None], None] | None = None,
) -> Iterator[Living]:
    """A run that is ready; what it holds (processes of a sandbox, a guarded memory) is let go at the end.

    `watch` is told after every turn, `outage` while a provider is out of reach; a Ctrl-C ends that waiting. Raises
    InvalidInput, saying what there is, for a model that there is not. The environment stays open.
    """

    def wait(what: Outage | None) -> None:
        if outage is not None:
            outage(what)
        if what is not None and run.is_stopping:
            raise KeyboardInterrupt

    with ExitStack() as held:
        skills = Skills(environment, memory)
        held.callback(skills.close)
        model = _player(setting, method, memory, skills, wait)
        if isinstance(model, Driver):
            held.callback(model.close)
        reflexes = ReflexWatch(memory, skills) if method.traits.offer.procedures else None
        if reflexes is not None:
            held.callback(reflexes.close)
        run = Run(
            environment,
            model,
            memory,
            task=setting.task,
            method=method.traits.name,
            seed=setting.seed,
            steps=setting.steps,
            lives=setting.lives,
            skills=skills,
            recall=method.recall,
            reflexes=reflexes,
            workshop=make_workshop(model, method, memory),
            consolidation=make_consolidation(model, method, memory),
            watch=watch,
        )
        yield Living(run, model)


def _player(
    setting: Setting,
    method: Method,
    memory: Memory,
    skills: Skills,
    outage: Callable[[Outage | None], None],
) -> Model:
    if not setting.model.startswith(DRIVER):
        return make_player(setting.model, setting.environment, method, memory, skills, outage)
    if method.traits.name != "mfm":
        raise InvalidInput(f"{method.traits.name}: a command with a shell sees the whole memory; its method is mfm")
    command, patience = setting.model.removeprefix(DRIVER), Patience(seconds=setting.driver_seconds)
    return Driver(command, memory, check=skills.check, own=skills.own, rules=skills.rules, patience=patience)
