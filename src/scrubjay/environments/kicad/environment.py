"""KiCad's schematic editor as an environment: a task's project, on a screen, judged by what was saved."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrubjay.environments.desktop.environment import Desktop
from scrubjay.environments.desktop.rules import RULES
from scrubjay.environments.desktop.settling import Patience, Settled, changed_region, settle
from scrubjay.environments.kicad.configuration import configure, kicad_version
from scrubjay.environments.kicad.evaluator import Evaluator
from scrubjay.environments.kicad.tasks import Task, find_task, read_tasks
from scrubjay.errors import InvalidInput
from scrubjay.memory.jsonio import Json

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    Frame = NDArray[np.uint8]

__all__ = ["STEPS", "KiCad"]

STEPS = 100
_SECONDS = 90.0
_CANVAS = (628, 128)  # a place on the canvas, above the sheet, where there is nothing
_CALM = Patience(first=1.0, still=0.5)
_TRIES = 10
_LOADED = re.compile(r"Schematic Editor$")
_RULES = """
The program is KiCad's schematic editor. Hot keys act at the pointer, on the canvas: move there first. A click right
after a dialog closed may be lost. A drag moves what was selected by a click before, and ends a little short. What
counts is the saved schematic, or a netlist exported beside it."""


class KiCad(Desktop):
    """A task of a folder of tasks, in KiCad 9's schematic editor.

    `task` is an id, several separated by commas, or `all`; life n is given the n-th of them, and begins again with
    the first after the last. The state says the task's text. `tasks` is the folder, by default that of the tasks that
    ship. A life ends by `done`, after `length` steps, or where the editor ends. Nothing of the evaluator's view is in
    frames, states or rewards: `evaluation` gives it to who runs the life.
    """

    def __init__(
        self,
        task: str = "all",
        tasks: str | None = None,
        size: Sequence[int] = (1280, 800),
        *,
        display: str | None = None,
        length: int | None = STEPS,
        patience: Patience = Patience(),  # noqa: B008 (frozen)
        render_mode: str = "rgb_array",
    ) -> None:
        """Raises NotFound for a task or folder that is not there, InvalidInput where KiCad 9 is not installed."""
        super().__init__(
            (), size, display=display, length=length, world="kicad", patience=patience, render_mode=render_mode
        )
        self.rules = RULES + _RULES
        self.usual_steps = STEPS if length is None else length
        self._folder = tasks
        self._version = kicad_version()
        self._tasks: tuple[Task, ...] = ()
        self._begun: Task | None = None
        self._evaluator: Evaluator | None = None
        self._keep: Callable[[Json], None] | None = None
        self.choose_task(task)

    # --- tasks

    @property
    def task(self) -> Task:
        """The task of this life, or of the next one before the first."""
        return self._tasks[(max(1, self.life) - 1) % len(self._tasks)]

    @property
    def lives(self) -> int:
        """How many lives there are until every task was given once."""
        return len(self._tasks)

    def choose_task(self, name: str) -> str:
        """Takes up other tasks, from the next life on, and returns what the agent is told."""
        if name == "all":
            self._tasks = read_tasks(self._folder)
        else:
            self._tasks = tuple(find_task(one.strip(), self._folder) for one in name.split(","))
        for task in self._tasks:
            task.reference()  # one that can't be scored is told now, not after a hundred steps
        if len(self._tasks) == 1:
            return self._tasks[0].text
        return "Do in KiCad's schematic editor what the state names as the task; each life has another one."

    def evaluation(self) -> tuple[Json, ...]:
        """What the evaluator noted in this life; its score once the life has ended. Never for the agent to see."""
        return () if self._evaluator is None else self._evaluator.rows

    def tell_evaluator(self, keep: Callable[[Json], None] | None) -> None:
        """Gives each row of the evaluator to `keep` as it comes."""
        self._keep = keep

    def end_life(self, ending: str | None) -> None:
        """The life is over, whatever the reason: judges what was saved. A second call does nothing."""
        if self._evaluator is not None:
            self._evaluator.end(self.steps, ending)

    # --- the desktop's steps

    def step(self, action: int | Mapping[str, Any]) -> tuple[Frame, float, bool, bool, Json]:
        """Takes an action, as a desktop does; saves are noted."""
        frame, reward, terminated, truncated, info = super().step(action)
        if self._evaluator is not None:
            self._evaluator.after(self.steps)
            if terminated or truncated:
                self.end_life(info.get("ending", "truncated"))
        return frame, reward, terminated, truncated, info

    def start(self) -> None:
        """Opens the task's project in a fresh home and waits until the editor can be used."""
        assert self.home is not None
        configure(self.home.config, self._version)
        project = self.home.root / "project"
        self._begun = self.task
        schematic = _begin(self._begun, project)
        self._evaluator = Evaluator(self._begun, project, self._note)
        self.run(["eeschema", str(schematic)])
        self.wait_for(self._is_loaded, _SECONDS, "KiCad's schematic editor did not open the project")
        self._wake()

    def is_same_life(self, life: int) -> bool:
        """True where a reset to that life would begin the present one again."""
        return self._tasks[(life - 1) % len(self._tasks)] == self._begun

    def told(self) -> Json:
        """What the state says beside the screen: the task."""
        return {} if self._begun is None else {"task": self._begun.text}

    def _note(self, row: Json) -> None:
        if self._keep is not None:
            self._keep(row)

    def _wake(self) -> None:
        """Moves on the canvas until it follows, then clicks: before that, hot keys do nothing."""
        (x, y), screen = _CANVAS, self.need_screen()
        for _ in range(_TRIES):
            seen: list[Settled] = []
            for right in (40, 0):
                self.press(mouse_move={"x": x + right, "y": y})
                seen.append(settle(screen, _CALM, seen[0].pixels if seen else None, self.worked))
            if changed_region(seen[0].pixels, seen[1].pixels) is not None:
                break
        self.press(click={"x": x, "y": y})
        settle(screen, _CALM, seen[1].pixels, self.worked)

    def _is_loaded(self) -> bool:
        windows = self.need_screen().windows()
        if any(window.title == "Confirmation" for window in windows):  # a schematic that is not there is begun
            self.press(key={"keys": "Return"})
            return False
        if any(window.title.startswith("Loading") for window in windows):
            return False
        titles = [window.title for window in windows if _LOADED.search(window.title)]
        return bool(titles) and "[no schematic loaded]" not in titles[0]


def _begin(task: Task, project: Path) -> Path:
    """Lays the starting project into a folder; returns the schematic, which is not there where the sheet is blank."""
    project.mkdir()
    if task.schematic is None:
        return project / f"{task.id}.kicad_sch"
    try:
        shutil.copytree(task.initial, project, dirs_exist_ok=True, copy_function=shutil.copyfile)
        for path in project.rglob("*"):
            path.chmod(0o700 if path.is_dir() else 0o600)
    except (OSError, shutil.Error) as error:
        raise InvalidInput(f"task {task.id}: its project can't be copied: {error}") from None
    return project / task.schematic.relative_to(task.initial)
