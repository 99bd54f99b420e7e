"""Pressing keys and moving the mouse on a display, through xdotool."""

from __future__ import annotations

import contextlib
import math
import shutil
import subprocess
import time
from collections.abc import Sequence

from scrubjay.environments.desktop.actions import BUTTONS, DIRECTIONS, Action
from scrubjay.environments.desktop.connection import DisplayGone, credentials
from scrubjay.environments.desktop.held import Held, let_go
from scrubjay.environments.desktop.keymap import Keymap
from scrubjay.errors import InvalidInput

__all__ = ["Hands"]

_TYPING = "8"  # milliseconds between characters; GTK loses some that come faster
_SECONDS = 10.0
_TYPING_SECONDS = 30.0
_READING = 0.5  # a program must have read what was typed before its keys mean something else
_HOVER = 0.03  # a program must see the pointer arrive before the button goes down
_DRAG_STEPS = 8
_DRAG_PAUSE = 0.12  # a program that draws slowly must have seen each place on the way, or nothing is dragged
_DRAG_START = (7, 14)  # pixels: a program moves things by what is left of the way once it has noticed the drag


class Hands:
    """Mouse and keyboard of a display whose screen has this size in pixels."""

    def __init__(self, display: str, size: tuple[int, int], found: Held = Held()) -> None:  # noqa: B008 (frozen)
        """`found` is what was down before. Raises InvalidInput where xdotool is not installed."""
        program = shutil.which("xdotool")
        if program is None:
            raise InvalidInput("xdotool was not found; on Debian: apt-get install xdotool")
        self._program, self._keymap, self._size = program, Keymap(display), size
        self._display, self._found = display, found
        self._environment = {"DISPLAY": display, "LC_ALL": "C.UTF-8", **credentials()}

    def do(self, action: Action) -> str | None:
        """Carries an action out; returns what is wrong with it where the display refused it. Raises DisplayGone."""
        given = action.arguments
        match action.name:
            case "click":
                problem = self._move(given["x"], given["y"])
                repeat = ["--repeat", str(given["clicks"]), "--delay", "60"]
                return problem or self._run("click", *repeat, str(BUTTONS[given["button"]]))
            case "mouse_move":
                return self._move(given["x"], given["y"])
            case "drag":
                return self._drag(given["from_x"], given["from_y"], given["to_x"], given["to_y"], given["button"])
            case "scroll":
                problem = self._move(given["x"], given["y"])
                repeat = ["--repeat", str(given["amount"]), "--delay", "20"]
                return problem or self._run("click", *repeat, str(DIRECTIONS[given["direction"]]))
            case "type":
                return self._type(given["text"])
            case "key":
                return self._run("key", "--delay", _TYPING, _never_a_command(given["keys"]))
            case "key_down":
                return self._run("keydown", _never_a_command(given["keys"]))
            case "key_up":
                return self._run("keyup", _never_a_command(given["keys"]))
            case "hold_key":
                problem = self._run("keydown", _never_a_command(given["keys"]))
                time.sleep(0.0 if problem else given["seconds"])
                return problem or self._run("keyup", _never_a_command(given["keys"]))
            case "wait":
                time.sleep(given["seconds"])
        return None

    def let_go(self) -> None:
        """Lets go of all that was pressed and not let go, and puts the locks as they were found. Raises DisplayGone."""
        let_go(self._display, self._found)

    def close(self) -> None:
        """Gives mouse and keyboard back as they were found."""
        with contextlib.suppress(DisplayGone):
            self.let_go()
            self._keymap.release()

    def pixel(self, x: float, y: float) -> tuple[int, int]:
        """The pixel at coordinates from 0 to 1000."""
        width, height = self._size
        return round(x / 1000 * (width - 1)), round(y / 1000 * (height - 1))

    def _type(self, text: str) -> str | None:
        for i, part in enumerate(self._keymap.parts(text)):
            if i:
                time.sleep(_READING)
            problem = self._run("type", "--delay", _TYPING, "--", part)
            if problem:
                return problem
        return None

    def _move(self, x: float, y: float) -> str | None:
        problem = self._run("mousemove", *map(str, self.pixel(x, y)))
        time.sleep(_HOVER)
        return problem

    def _drag(self, from_x: float, from_y: float, to_x: float, to_y: float, button: str) -> str | None:
        problem = self._move(from_x, from_y) or self._run("mousedown", str(BUTTONS[button]))
        for share in _shares(math.dist(self.pixel(from_x, from_y), self.pixel(to_x, to_y))):
            problem = problem or self._move(from_x + (to_x - from_x) * share, from_y + (to_y - from_y) * share)
            time.sleep(_DRAG_PAUSE)
        return self._run("mouseup", str(BUTTONS[button])) or problem

    def _run(self, *words: str) -> str | None:
        command: Sequence[str] = [self._program, *words]
        limit = _TYPING_SECONDS if words[0] == "type" else _SECONDS
        try:
            done = subprocess.run(command, env=self._environment, capture_output=True, text=True, timeout=limit)
        except subprocess.TimeoutExpired:
            return f"{words[0]} did not end within {limit:g} s"
        said = " ".join(dict.fromkeys(done.stderr.splitlines()))
        if "open display" in said:
            raise DisplayGone("the display has ended")
        if said or done.returncode:
            return said[:200] or f"{words[0]} failed"
        return None


def _never_a_command(keys: str) -> str:
    """Keys as xdotool takes them for keys: it has commands called Help, sleep and selectwindow, and chains them."""
    return f"{keys}+"


def _shares(length: float) -> list[float]:
    """How much of a way of so many pixels is gone at each place of a drag; all of it at the last."""
    start = {pixels / length for pixels in _DRAG_START if pixels < length}
    return sorted(start | {part / _DRAG_STEPS for part in range(1, _DRAG_STEPS + 1)})
