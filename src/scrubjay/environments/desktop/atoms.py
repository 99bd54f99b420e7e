"""The actions of a desktop as atoms: what a plan calls by name, each of them one step."""

from __future__ import annotations

from typing import Any

from scrubjay.environments.atoms import SUCCESS, Atom, Moves, atom, failure
from scrubjay.environments.desktop.actions import parse_action
from scrubjay.errors import InvalidInput
from scrubjay.memory.jsonio import Json

__all__ = ["ATOMS"]


def click(state: Json, x: float, y: float, button: str = "left", clicks: int = 1) -> Moves:
    """Moves there and clicks: button left, middle or right; 1 to 3 clicks. 0 to 1000 spans the screen, each way."""
    return _do("click", x=x, y=y, button=button, clicks=clicks)


def mouse_move(state: Json, x: float, y: float) -> Moves:
    """Moves the pointer there."""
    return _do("mouse_move", x=x, y=y)


def drag(state: Json, from_x: float, from_y: float, to_x: float, to_y: float, button: str = "left") -> Moves:
    """Presses the button at one place, moves to the other, and lets go."""
    return _do("drag", from_x=from_x, from_y=from_y, to_x=to_x, to_y=to_y, button=button)


def scroll(state: Json, x: float, y: float, direction: str, amount: int = 3) -> Moves:
    """Turns the wheel at a place: direction up, down, left or right, by so many notches."""
    return _do("scroll", x=x, y=y, direction=direction, amount=amount)


def type_text(state: Json, text: str) -> Moves:
    """Types the text into whatever has the focus; see that it is the right thing before."""
    return _do("type", text=text)


def key(state: Json, keys: str) -> Moves:
    """Presses and releases a key, or several at once: Return, Escape, ctrl+s."""
    return _do("key", keys=keys)


def key_down(state: Json, keys: str) -> Moves:
    """Presses a key and keeps it down."""
    return _do("key_down", keys=keys)


def key_up(state: Json, keys: str) -> Moves:
    """Lets a key go."""
    return _do("key_up", keys=keys)


def hold_key(state: Json, keys: str, seconds: float = 1.0) -> Moves:
    """Keeps a key down for so long."""
    return _do("hold_key", keys=keys, seconds=seconds)


def wait(state: Json, seconds: float = 1.0) -> Moves:
    """Waits so long, at most 30 seconds, and until the screen is still."""
    return _do("wait", seconds=seconds)


def _do(name: str, **arguments: Any) -> Moves:
    try:
        action = parse_action({name: arguments})
    except InvalidInput as error:
        return failure(str(error))
    state = yield action.raw
    problem = state.get("problem")
    return SUCCESS if problem is None else failure(str(problem))


ATOMS: tuple[Atom, ...] = tuple(
    atom(one) for one in (click, mouse_move, drag, scroll, type_text, key, key_down, key_up, hold_key, wait)
)
