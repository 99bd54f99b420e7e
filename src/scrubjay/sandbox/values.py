"""What crosses the border of a sandbox: plain JSON of bounded size, whatever was handed over.

It knows values; who hands them over it does not know.
"""

from __future__ import annotations

import math
from typing import Any

__all__ = ["NotPlain", "plain", "shown"]

_MAX_DEPTH = 32
_MAX_ITEMS = 50_000
_MAX_TEXT = 1 << 20
_MAX_INTEGER = 1 << 63


class NotPlain(ValueError):
    """A value that is no JSON, or too much of it."""


def plain(value: Any) -> Any:
    """A copy of `value` made of JSON's types alone; tuples become lists. Raises NotPlain, saying what is in the way.

    Numbers that are not finite pass, since arithmetic makes them; whoever stores the value decides about them.
    """
    return _plain(value, 0, [_MAX_ITEMS, _MAX_TEXT])


def _plain(value: Any, depth: int, left: list[int]) -> Any:
    left[0] -= 1
    if left[0] < 0:
        raise NotPlain(f"more than {_MAX_ITEMS} values in it")
    if depth > _MAX_DEPTH:
        raise NotPlain(f"nested more than {_MAX_DEPTH} deep")
    kind = type(value)
    if value is None or kind is bool or kind is float:
        return value
    if kind is int:
        if not -_MAX_INTEGER <= value < _MAX_INTEGER:
            raise NotPlain("a whole number of more than 64 bits")
        return value
    if kind is str:
        left[1] -= len(value)
        if left[1] < 0:
            raise NotPlain(f"more than {_MAX_TEXT} characters of text")
        return value
    if kind in (list, tuple):
        return [_plain(item, depth + 1, left) for item in value]
    if kind is dict:
        return {_key(key, left): _plain(item, depth + 1, left) for key, item in value.items()}
    raise NotPlain(f"a value of type {kind.__name__}")


def _key(key: Any, left: list[int]) -> str:
    if type(key) is not str:
        raise NotPlain(f"a key of type {type(key).__name__}, text was expected")
    left[1] -= len(key)
    if left[1] < 0:
        raise NotPlain(f"more than {_MAX_TEXT} characters of text")
    return key


def shown(value: Any) -> Any:
    """`value` as JSON where it is, else a text in angle brackets that says why it is not there."""
    try:
        found = plain(value)
    except NotPlain as problem:
        return f"<not shown: {problem}>"
    return _finite(found)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list):
        return [_finite(item) for item in value]
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return value
