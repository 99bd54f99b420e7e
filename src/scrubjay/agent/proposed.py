"""What somebody proposed at a consolidation, as JSON, read into items: an update, a working memory, a procedure.

It knows shapes; whether an item is taken is judged by others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scrubjay.errors import InvalidInput
from scrubjay.memory.jsonio import Json
from scrubjay.models.consolidating import Item, Procedure, Update, Working

__all__ = ["KINDS", "item_of", "text_of"]


def item_of(kind: str, arguments: Json) -> Item:
    """The item of this kind. Raises InvalidInput, saying what was expected."""
    if kind not in _MADE:
        raise InvalidInput(f"{kind!r:.80}: one of {', '.join(_MADE)} was expected")
    return _MADE[kind](arguments)


def text_of(arguments: Json, name: str, default: str | None = None) -> str:
    """A text among arguments. Raises InvalidInput where it is missing and has no default, or is no text."""
    value = arguments.get(name)
    if value is None and default is not None:
        return default
    if not isinstance(value, str):
        raise InvalidInput(f"{name}: text was expected, found {value!r:.80}")
    return value


def _texts(arguments: Json, name: str) -> tuple[str, ...]:
    value: Any = arguments.get(name) or []
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise InvalidInput(f"{name}: a list of references was expected, found {value!r:.80}")
    return tuple(value)


def _update(arguments: Json) -> Update:
    operation = arguments.get("operation")
    if operation not in ("add", "revise", "supersede"):
        raise InvalidInput(f"operation: add, revise or supersede was expected, found {operation!r:.80}")
    return Update(
        text_of(arguments, "document"),
        operation,
        text_of(arguments, "claim"),
        _texts(arguments, "cites"),
        text_of(arguments, "entry", "") or None,
        text_of(arguments, "why", ""),
    )


def _working(arguments: Json) -> Working:
    return Working(text_of(arguments, "text"))


def _method(arguments: Json) -> Procedure:
    return Procedure(
        text_of(arguments, "name"),
        text_of(arguments, "description", ""),
        text_of(arguments, "code", "") or None,
        text_of(arguments, "text", ""),
        _texts(arguments, "cites"),
        text_of(arguments, "disabled", "") or None,
    )


_MADE: dict[str, Callable[[Json], Item]] = {"update": _update, "working": _working, "procedure": _method}
KINDS = tuple(_MADE)
