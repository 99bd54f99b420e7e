"""Two states side by side: every value by its path, what changed first.

It knows JSON values. What they mean it does not know.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scrubjay.memory.jsonio import dumps
from scrubjay.memory.records import is_number

__all__ = ["Change", "Compared", "compare_states", "values_of"]

_MOST = 300
_LONGEST = 2000
_INLINE = 120
_MISSING = object()


@dataclass(frozen=True, slots=True)
class Change:
    """One value before and after; None where it is not there. `delta` is the difference of two numbers."""

    path: str
    before: str | None
    after: str | None
    delta: str | None = None

    @property
    def is_tall(self) -> bool:
        """True where a value needs lines of its own."""
        return any(text is not None and ("\n" in text or len(text) > _INLINE) for text in (self.before, self.after))


@dataclass(frozen=True, slots=True)
class Compared:
    """What changed and what stayed; `left_out` values had no room."""

    changed: Sequence[Change]
    same: Sequence[Change]
    left_out: int = 0


def compare_states(before: Mapping[str, Any], after: Mapping[str, Any]) -> Compared:
    """The values of both states."""
    one, two = dict(_flat(before)), dict(_flat(after))
    changed, same = list[Change](), list[Change]()
    for path in dict.fromkeys((*two, *one)):
        a, b = one.get(path, _MISSING), two.get(path, _MISSING)
        change = Change(path, _text(a), _text(b), _delta(a, b))
        (same if a == b and type(a) is type(b) else changed).append(change)
    rest = max(0, len(changed) - _MOST) + max(0, len(same) - _MOST)
    return Compared(changed[:_MOST], same[:_MOST], rest)


def values_of(value: Any) -> list[tuple[str, str]]:
    """The values of one object by their paths, for showing arguments or an action."""
    if not isinstance(value, Mapping):
        return [] if value is None else [("", _text(value) or "")]
    return [(path, _text(one) or "") for path, one in _flat(value)][:_MOST]


def _flat(value: Mapping[str, Any], prefix: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    for key, one in value.items():
        path = f"{prefix}{key}"
        if isinstance(one, Mapping) and one and depth < 4:
            yield from _flat(one, f"{path}.", depth + 1)
        else:
            yield path, one


def _text(value: Any) -> str | None:
    if value is _MISSING:
        return None
    if isinstance(value, str):
        text = value
    elif isinstance(value, list) and value and all(isinstance(one, str) for one in value):
        text = "\n".join(value)  # the lines of a local view, of a window
    else:
        text = dumps(value).decode(errors="replace")
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text):,} characters)"


def _delta(before: Any, after: Any) -> str | None:
    numbers = [0 if one is _MISSING else one for one in (before, after)]
    if not all(map(is_number, numbers)) or (before is _MISSING and after is _MISSING):
        return None
    difference = numbers[1] - numbers[0]
    return f"{difference:+g}".replace("-", "−") if difference and abs(difference) < 1e15 else None
