"""A desktop behind Gymnasium's contract: a program on an X display, seen by screenshots, used by mouse and keyboard."""

from __future__ import annotations

import contextlib
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded

from scrubjay.environments.atoms import Atom
from scrubjay.environments.desktop.actions import Action, parse_action, parse_step
from scrubjay.environments.desktop.atoms import ATOMS
from scrubjay.environments.desktop.connection import DisplayGone
from scrubjay.environments.desktop.display import Display, Home
from scrubjay.environments.desktop.held import Held, held_on, move_to_middle
from scrubjay.environments.desktop.input import Hands
from scrubjay.environments.desktop.processes import Program
from scrubjay.environments.desktop.rules import ACTIONS, RULES
from scrubjay.environments.desktop.screen import Screen, frame_of
from scrubjay.environments.desktop.settling import Patience, changed_region, settle
from scrubjay.environments.desktop.state import desktop_world, state_of
from scrubjay.errors import InvalidInput
from scrubjay.memory.frames import screen_hash
from scrubjay.memory.jsonio import Json

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Frame = NDArray[np.uint8]

__all__ = ["Desktop"]

_SMALLEST, _LARGEST = 200, 8192
_SECONDS = 60.0  # for a first window, on a machine that is busy


class Desktop(gymnasium.Env["Frame", "int | Mapping[str, Any]"]):
    """A program on a screen of its own, or the screen of a given `display`.

    The frame is a screenshot of the whole screen. A raw action is an object such as
    `{"click": {"x": 500, "y": 320, "button": "left", "clicks": 1}}` with coordinates from 0 to 1000, or an index into
    `actions` for those without arguments. A step waits until the screen is still, and not longer than `patience`
    allows. A life ends (terminated) by `done`, or where the display or the program ends; `info["ending"]` says which.
    The reward is 0: what counts is for those to say who know the task.

    `command` is started at every reset, in a fresh home folder. `reset` without a step since the last one changes
    nothing, so that asking for the world costs no second start.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"]}  # noqa: RUF012 (Gymnasium's form)

    def __init__(
        self,
        command: str | Sequence[str] = (),
        size: Sequence[int] = (1280, 800),
        *,
        display: str | None = None,
        length: int | None = None,
        world: str = "desktop",
        patience: Patience = Patience(),  # noqa: B008 (frozen)
        render_mode: str = "rgb_array",
    ) -> None:
        """Raises InvalidInput for a size that no screen has. The display starts with the first reset."""
        width, height = (int(edge) for edge in size)
        if not (_SMALLEST <= width <= _LARGEST and _SMALLEST <= height <= _LARGEST):
            raise InvalidInput(f"size: {_SMALLEST} to {_LARGEST} pixels each way were expected, found {width}x{height}")
        self.command = shlex.split(command) if isinstance(command, str) else list(command)
        self.render_mode = render_mode
        self.actions: tuple[str, ...] = ACTIONS
        self.atoms: tuple[Atom, ...] = ATOMS
        self.milestones: tuple[str, ...] = ()
        self.deriver = "desktop"
        self.rules = RULES
        self.world = desktop_world(world)
        self.action_space = gymnasium.spaces.Discrete(len(ACTIONS))  # type: ignore[assignment]
        self.observation_space = gymnasium.spaces.Box(0, 255, (height, width, 3), np.uint8)
        self.home: Home | None = None
        self.display: Display | None = None
        self.program: Program | None = None
        self.screen: Screen | None = None
        self._given, self._size, self._length, self._patience = display, (width, height), length, patience
        self._hands: Hands | None = None
        self.life = self.steps = 0
        self._needs_reset = True
        self._frame: Frame | None = None
        self._pixels: NDArray[np.uint32] | None = None
        self._state: Json = {}

    # --- Gymnasium's contract

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Frame, Json]:
        """Starts the program anew on a screen that is there; raises InvalidInput where that can't be done."""
        super().reset(seed=seed)
        life = (options or {}).get("life", self.life + 1 if self.steps else max(1, self.life))
        if type(life) is not int or life < 1:
            raise ValueError(f"life: a number of 1 or more was expected, found {life!r}")
        if not self._needs_reset and self.steps == 0 and self._is_alive and self.is_same_life(life):
            self.life = life
            return self.render(), self._info()
        self.end_program()
        self.life, self.steps = life, 0
        try:
            self._open()
            self._fresh_home()
            self.start()
            self._pixels = None
            self.look()
        except DisplayGone as error:
            self.close()
            raise InvalidInput(f"{error}: reset() starts another") from None
        except BaseException:
            self.close()
            raise
        self._needs_reset = False
        return self.render(), self._info()

    def step(self, action: int | Mapping[str, Any]) -> tuple[Frame, float, bool, bool, Json]:
        """Takes an action. Raises Gymnasium's ResetNeeded after an end, InvalidInput for what is no action."""
        if self._needs_reset:
            raise ResetNeeded("the life has ended or none was begun: call reset() before step()")
        taken = parse_step(action, self.actions)
        ending = "done" if taken.name == "done" else self._do(taken)
        self.steps += 1
        truncated = ending is None and self._length is not None and self.steps >= self._length
        self._needs_reset = truncated or ending is not None
        info = self._info()
        if ending is not None:
            info["ending"] = ending
        return self.render(), 0.0, ending is not None, truncated, info

    def render(self) -> Frame:
        """The frame of the last look, `uint8 (H, W, 3)`. Raises ResetNeeded before the first reset."""
        if self._frame is None:
            raise ResetNeeded("there is no frame before the first reset()")
        return self._frame.copy()

    def close(self) -> None:
        """Ends the program, and the display where it is our own. A reset after it starts both again."""
        self._needs_reset = True
        self.end_program()
        hands, self._hands = self._hands, None
        if hands is not None and self._given is not None:
            hands.close()
        screen, self.screen = self.screen, None
        if screen is not None:
            screen.close()
        display, self.display = self.display, None
        if display is not None:
            display.close()
        home, self.home = self.home, None
        if home is not None:
            home.remove()

    # --- for environments that know their program

    def start(self) -> None:
        """Starts the program and waits until the screen is still. What knows its program does it in its own way."""
        if self.command:
            self.run(self.command)
            self.wait_for(lambda: bool(self.need_screen().windows()), _SECONDS, f"{self.command[0]} showed no window")

    def is_same_life(self, life: int) -> bool:
        """True where a reset to that life would begin the present one again."""
        return True

    def told(self) -> Json:
        """What the state says beside what the screen shows."""
        return {}

    def ending(self) -> str | None:
        """Why the life has ended, where the program is what ended it: asked after every step."""
        return None if self.program is None else self.program.ending

    def run(self, command: Sequence[str], **variables: str) -> None:
        """Starts a program on the display, in the fresh home. Raises InvalidInput where it is not installed."""
        assert self.home is not None
        assert self.screen is not None
        environment = {**self.home.environment(self.screen.display), **variables}
        log = self.home.logs / Path(command[0]).name
        self.program = Program(command, log, environment, self.home.root)

    def worked(self) -> float:
        """Seconds of CPU that the program has used."""
        return 0.0 if self.program is None else self.program.worked()

    def end_program(self) -> None:
        """Ends the program with all that it started. A second call does nothing."""
        program, self.program = self.program, None
        if program is not None:
            program.end()

    def wait_for(self, holds: Callable[[], bool], seconds: float, otherwise: str) -> None:
        """Waits until `holds()`. Raises InvalidInput where the program or the display ends, or it takes too long.

        The error begins with `otherwise`, and has what the program said.
        """
        deadline = time.monotonic() + seconds
        while not holds():
            ended = self._ended()
            if ended is not None or time.monotonic() > deadline:
                why = f" within {seconds:g} s" if ended is None else f": {ended}"
                said = "" if self.program is None else self.program.said()
                raise InvalidInput(f"{otherwise}{why}{f'; it said: {said}' if said else ''}")
            time.sleep(0.05)

    def need_screen(self) -> Screen:
        """The open screen. Raises ResetNeeded before the first reset."""
        if self.screen is None:
            raise ResetNeeded("there is no display before the first reset()")
        return self.screen

    def press(self, **action: Json) -> None:
        """Does an action that is no step: what brings a program to where a life can begin."""
        assert self._hands is not None
        problem = self._hands.do(parse_action(action))
        if problem is not None:
            raise InvalidInput(f"{next(iter(action))}: {problem}")

    # --- within

    @property
    def _is_alive(self) -> bool:
        return self.screen is not None and self._ended() is None

    def _ended(self) -> str | None:
        """What of the program and the display has ended, if anything."""
        return self.ending() or (None if self.display is None else self.display.ending())

    def _open(self) -> None:
        """Sees to it that there is a display that answers, on which nothing is held down."""
        if self.screen is not None and self._hands is not None and (self.display is None or self.display.is_running):
            with contextlib.suppress(DisplayGone):
                self._hands.let_go()
                if self.display is not None:
                    move_to_middle(self.screen.display)
                return
        self.close()
        if self._given is None:
            self.display = Display(self._size)
        name = self._given or (self.display.name if self.display is not None else "")
        self.screen = Screen(name)
        self._size = (self.screen.width, self.screen.height)
        self.observation_space = gymnasium.spaces.Box(0, 255, (self._size[1], self._size[0], 3), np.uint8)
        self._hands = Hands(name, self._size, Held() if self._given is None else held_on(name))

    def _fresh_home(self) -> None:
        """Each life has a home of its own: what a program remembers of the last one is gone."""
        home, self.home = self.home, Home()
        if home is not None:
            home.remove()

    def _do(self, action: Action) -> str | None:
        """Carries an action out and looks; returns why the life ends, where it does."""
        assert self._hands is not None
        try:
            problem = self._hands.do(action)
            self.look(problem)
        except DisplayGone as error:
            self._state = {**self._state, "problem": str(error), "changed": None, "settled": False}
            return str(error)
        return self._ended()

    def look(self, problem: str | None = None) -> None:
        """Waits until the screen is still and takes it in. `problem` is what was wrong with the action before."""
        screen, before = self.need_screen(), self._pixels
        settled = settle(screen, self._patience, before, self.worked)
        self._pixels, self._frame = settled.pixels, frame_of(settled.pixels)
        changed = None if before is None else changed_region(before, settled.pixels)
        self._state = (
            state_of(
                self._size,
                screen.pointer(),
                screen.windows(),
                screen.active(),
                screen_hash(self._frame),
                changed,
                settled.is_still,
            )
            | self.told()
        )
        if problem is not None:
            self._state["problem"] = problem

    def _info(self) -> Json:
        return {"state": self._state, "milestones": []}
