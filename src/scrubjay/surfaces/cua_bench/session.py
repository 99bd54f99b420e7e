"""The desktop of a cua-bench session behind the contract of an environment.

A session is asynchronous and an environment is not: steps are handed to the session's own loop, from another thread.
It knows a session by what it can be asked (`screenshot`, `execute_action`); which package it is from it does not know.
"""

from __future__ import annotations

import asyncio
import io
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar

from scrubjay.environments.atoms import Atom
from scrubjay.environments.desktop.actions import Action, parse_step
from scrubjay.environments.desktop.atoms import ATOMS
from scrubjay.environments.desktop.rules import ACTIONS, RULES
from scrubjay.environments.desktop.state import desktop_world
from scrubjay.memory.frames import screen_hash
from scrubjay.memory.jsonio import Json
from scrubjay.memory.records import World

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Frame = NDArray[np.uint8]

__all__ = ["SessionDesktop"]

T = TypeVar("T")
_SECONDS = 120.0
_LOOKS = 12  # at most, until the screen is still
_PAUSE = 0.3
_GIVEN_UP = "the session was taken away"


class SessionDesktop:
    """A desktop that belongs to somebody else: it is neither started nor ended here."""

    def __init__(
        self, session: Any, loop: asyncio.AbstractEventLoop, kinds: Any, task: str, patience: float = _SECONDS
    ) -> None:
        """`kinds` is the module with the session's actions (`ClickAction` and so on), `loop` the one it lives in.

        `patience` is for how many seconds an answer is waited for.
        """
        self._session, self._loop, self._kinds, self._task = session, loop, kinds, task
        self._patience, self._given_up = patience, threading.Event()
        self._asked: Future[Any] | None = None
        self.actions: tuple[str, ...] = ACTIONS
        self.atoms: tuple[Atom, ...] = ATOMS
        self.milestones: tuple[str, ...] = ()
        self.deriver = "desktop"
        self.rules = RULES
        self.world: World = desktop_world("cua-bench")
        self._pointer = (500.0, 500.0)
        self._frame: Frame | None = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Frame, Json]:
        """Looks at what the session shows: it was set up by those who gave it."""
        state = self._look(None)
        return self.render(), {"state": state, "milestones": []}

    def step(self, action: Any) -> tuple[Frame, float, bool, bool, Json]:
        """Takes an action; the state tells what the session can't do. Raises InvalidInput for what is no action."""
        taken = parse_step(action, self.actions)
        is_done = taken.name == "done"
        problem = None if is_done else self._do(taken)
        info: Json = {"state": self._look(problem), "milestones": []}
        if is_done or self._given_up.is_set():
            info["ending"] = "done" if is_done else _GIVEN_UP
        return self.render(), 0.0, "ending" in info, False, info

    def render(self) -> Frame:
        """The frame of the last look."""
        if self._frame is None:
            raise RuntimeError("there is no frame before the first reset()")
        return self._frame.copy()

    def give_up(self) -> None:
        """The session is taken away: what waits for it ends, and with the next step the life."""
        self._given_up.set()
        asked = self._asked
        if asked is not None:
            asked.cancel()

    def close(self) -> None:
        """Nothing: the session is closed by those who gave it."""

    def _do(self, action: Action) -> str | None:
        given = action.arguments
        cannot = _cannot(action)
        if cannot is not None:
            return f"{action.name}: this desktop {cannot}"
        if "x" in given:
            self._pointer = (given["x"], given["y"])
        if "to_x" in given:
            self._pointer = (given["to_x"], given["to_y"])
        try:
            for one in self._translated(action):
                self._wait_for(self._session.execute_action, one)
        except Exception as error:  # of the session's own making
            return f"{action.name}: {type(error).__name__}: {str(error)[:160]}"
        return None

    def _translated(self, action: Action) -> list[Any]:
        kinds, given = self._kinds, action.arguments
        match action.name:
            case "click":
                return self._clicks(given)
            case "mouse_move":
                return [kinds.MoveToAction(*self._pixel(given["x"], given["y"]))]
            case "drag":
                ends = (*self._pixel(given["from_x"], given["from_y"]), *self._pixel(given["to_x"], given["to_y"]))
                return [kinds.DragAction(*ends)]
            case "scroll":
                turn = kinds.ScrollAction(direction=given["direction"], amount=100 * given["amount"])
                return [kinds.MoveToAction(*self._pixel(given["x"], given["y"])), turn]
            case "type":
                return [kinds.TypeAction(text=given["text"])]
            case "key":
                keys = given["keys"].split("+")
                return [kinds.KeyAction(key=keys[0]) if len(keys) == 1 else kinds.HotkeyAction(keys=keys)]
            case "wait":
                return [kinds.WaitAction(seconds=given["seconds"])]
        return []

    def _clicks(self, given: Json) -> list[Any]:
        kinds, at = self._kinds, self._pixel(given["x"], given["y"])
        one: dict[str, Callable[..., Any]] = {
            "left": kinds.ClickAction, "right": kinds.RightClickAction, "middle": kinds.MiddleClickAction,
        }  # fmt: skip
        if given["button"] != "left" or given["clicks"] == 1:
            return [one[given["button"]](*at) for _ in range(given["clicks"])]
        return [kinds.DoubleClickAction(*at), *(kinds.ClickAction(*at) for _ in range(given["clicks"] - 2))]

    def _pixel(self, x: float, y: float) -> tuple[int, int]:
        height, width = self.render().shape[:2]
        return round(x / 1000 * (width - 1)), round(y / 1000 * (height - 1))

    def _look(self, problem: str | None) -> Json:
        """Looks until two screenshots are the same; where the session gives none, the last one stands.

        Both are of now: the first may show what was there before the program took notice of the action.
        """
        is_still, last = False, None
        for _ in range(_LOOKS):
            try:
                frame = _decoded(self._wait_for(self._session.screenshot))
            except Exception as error:  # of the session's own making
                if self._frame is None:
                    raise
                problem = problem or f"no screenshot: {type(error).__name__}: {str(error)[:160]}"
                break
            is_still = last is not None and frame.shape == last.shape and bool((frame == last).all())
            self._frame = last = frame
            if is_still:
                break
            time.sleep(_PAUSE)
        state: Json = {"pos": [*self._pointer, 0.0], "screen": screen_hash(self.render()), "settled": is_still}
        state["task"] = self._task
        return state if problem is None else {**state, "problem": problem}

    def _wait_for(self, ask: Callable[..., Coroutine[Any, Any, T]], *given: Any) -> T:
        if self._given_up.is_set():
            raise ConnectionError(_GIVEN_UP)
        self._asked = asked = asyncio.run_coroutine_threadsafe(ask(*given), self._loop)
        if self._given_up.is_set():  # meanwhile, by one who saw what was asked before
            asked.cancel()
        try:
            return asked.result(self._patience)
        except TimeoutError:
            if asked.done():  # the session's own
                raise
            asked.cancel()  # or it would be done later, when something else is shown
            raise TimeoutError(f"the session did not answer within {self._patience:g} s") from None


def _cannot(action: Action) -> str | None:
    """What a session can't do of an action, or would silently do otherwise."""
    if action.name in ("key_down", "key_up", "hold_key"):
        return "can't keep a key down"
    if action.name == "scroll" and action.arguments["direction"] in ("left", "right"):
        return "scrolls up and down alone"
    if action.name == "drag" and action.arguments["button"] != "left":
        return "drags with the left button alone"
    return None


def _decoded(data: bytes) -> Frame:
    import numpy
    from PIL import Image

    with Image.open(io.BytesIO(data)) as image:
        return numpy.asarray(image.convert("RGB")).copy()
