"""The raw actions of a desktop: what there is, what of it is allowed, and how each is stored.

Coordinates run from 0 to 1000 over the width and the height of the screen, whatever its size. It presses nothing.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scrubjay.errors import InvalidInput
from scrubjay.memory.jsonio import Json

__all__ = ["BUTTONS", "DIRECTIONS", "LONGEST_WAIT", "Action", "parse_action", "parse_step"]

BUTTONS = {"left": 1, "middle": 2, "right": 3}
DIRECTIONS = {"up": 4, "down": 5, "left": 6, "right": 7}
LONGEST_WAIT = 30.0
_MOST_TEXT = 2000
_MOST_SCROLL = 50
_KEY = r"(?:\d|[^\W\d]\w*)"  # more digits would be a keycode, which is another key on each display
_KEYS = re.compile(rf"{_KEY}(\+{_KEY}){{0,4}}")


@dataclass(frozen=True, slots=True)
class Action:
    """A checked action: its name and its arguments."""

    name: str
    arguments: Json

    @property
    def raw(self) -> Json:
        """As a step takes and stores it: `{"click": {"x": 500, "y": 320, "button": "left", "clicks": 1}}`."""
        return {self.name: self.arguments}


def parse_action(raw: Mapping[str, Any]) -> Action:
    """The action that `{name: arguments}` says, with what is left out filled in. Raises InvalidInput."""
    if not isinstance(raw, Mapping) or len(raw) != 1:
        raise InvalidInput(f'an action is an object with one name, such as {{"key": {{…}}}}, found {raw!r:.80}')
    name, given = next(iter(raw.items()))
    known = _ACTIONS.get(str(name))
    if known is None:
        raise InvalidInput(f"{name!r:.40} is no action; there are {', '.join(_ACTIONS)}")
    if not isinstance(given, Mapping):
        raise InvalidInput(f"{name}: an object of arguments was expected, found {given!r:.80}")
    unknown = sorted(set(map(str, given)) - set(known))
    if unknown:
        raise InvalidInput(f"{name}: {unknown[0]!r:.40} is not known; it takes {', '.join(known) or 'nothing'}")
    arguments = {}
    for word, (check, default) in known.items():
        value = given.get(word, default)
        if value is None:
            raise InvalidInput(f"{name}: {word} is missing")
        arguments[word] = check(f"{name}: {word}", value)
    return Action(str(name), arguments)


def parse_step(action: Any, names: Sequence[str]) -> Action:
    """The action that a step is given: an object, or an index into `names` of what takes no arguments.

    Raises InvalidInput.
    """
    if isinstance(action, Mapping):
        return parse_action(action)
    try:
        number = operator.index(action)
    except TypeError:
        raise InvalidInput(f"an action is an object with one name or an index, found {action!r:.80}") from None
    if not 0 <= number < len(names):
        raise InvalidInput(f"an index of an action is 0 to {len(names) - 1}, found {number!r:.40}")
    return parse_action({names[number]: {}})


def _coordinate(where: str, value: Any) -> float:
    return _number(where, value, 0, 1000)


def _number(where: str, value: Any, least: float, most: float) -> float:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or (isinstance(value, float) and not math.isfinite(value)):
        raise InvalidInput(f"{where}: a number was expected, found {value!r:.40}")
    if not least <= value <= most:
        raise InvalidInput(f"{where}: {least:g} to {most:g} was expected, found {value!r:.40}")
    number: float = value
    return number


def _count(most: int) -> Any:
    def check(where: str, value: Any) -> int:
        if type(value) is not int:
            raise InvalidInput(f"{where}: a whole number was expected, found {value!r:.40}")
        return int(_number(where, value, 1, most))

    return check


def _one_of(names: Mapping[str, int]) -> Any:
    def check(where: str, value: Any) -> str:
        if not isinstance(value, str) or value not in names:
            raise InvalidInput(f"{where}: one of {', '.join(names)} was expected, found {value!r:.40}")
        return value

    return check


def _keys(where: str, value: Any) -> str:
    if not isinstance(value, str) or not _KEYS.fullmatch(value):
        raise InvalidInput(f"{where}: names of keys joined by + were expected, such as ctrl+s, found {value!r:.40}")
    return value


def _text(where: str, value: Any) -> str:
    if not isinstance(value, str) or not value or len(value) > _MOST_TEXT:
        raise InvalidInput(f"{where}: 1 to {_MOST_TEXT} characters were expected, found {value!r:.40}")
    if any(not one.isprintable() and one not in "\n\t" for one in value):
        raise InvalidInput(f"{where}: it holds a character that no key types: {value!r:.40}")
    return value


def _seconds(where: str, value: Any) -> float:
    return _number(where, value, 0, LONGEST_WAIT)


_BUTTON = (_one_of(BUTTONS), "left")
_X_Y = {"x": (_coordinate, None), "y": (_coordinate, None)}
_ACTIONS: dict[str, dict[str, tuple[Any, Any]]] = {
    "click": {**_X_Y, "button": _BUTTON, "clicks": (_count(3), 1)},
    "mouse_move": {**_X_Y},
    "drag": {
        "from_x": (_coordinate, None),
        "from_y": (_coordinate, None),
        "to_x": (_coordinate, None),
        "to_y": (_coordinate, None),
        "button": _BUTTON,
    },
    "scroll": {**_X_Y, "direction": (_one_of(DIRECTIONS), None), "amount": (_count(_MOST_SCROLL), 3)},
    "type": {"text": (_text, None)},
    "key": {"keys": (_keys, None)},
    "key_down": {"keys": (_keys, None)},
    "key_up": {"keys": (_keys, None)},
    "hold_key": {"keys": (_keys, None), "seconds": (_seconds, 1.0)},
    "wait": {"seconds": (_seconds, 1.0)},
    "screenshot": {},
    "done": {},
}
