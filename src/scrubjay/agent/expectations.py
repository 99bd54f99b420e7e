"""What a plan says will be so when it is done, compared with the state in which it ended.

It knows texts and states. A plan's intention may end in `expect: {"health": ">= 5", "inventory.wood": 3}`.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from scrubjay.memory.jsonio import Json
from scrubjay.memory.records import is_number

__all__ = ["Expectation"]

_EXPECT = re.compile(r"\bexpect:\s*(?=\{)", re.IGNORECASE)
_BOUND = re.compile(r"\s*(>=|<=|>|<|!=)\s*(-?[0-9]+(?:\.[0-9]+)?)\s*")
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt, "!=": operator.ne,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Expectation:
    """Values of a state by dotted path: what they equal, or a bound such as `">= 5"`."""

    values: Json

    @classmethod
    def of(cls, intention: str) -> Expectation | None:
        """The prediction in an intention; None where it makes none that can be read."""
        found = _EXPECT.search(intention)
        if found is None:
            return None
        try:
            values, _ = json.JSONDecoder().raw_decode(intention, found.end())
        except (ValueError, RecursionError):
            return None
        return cls(values) if isinstance(values, dict) and values else None

    def contradictions(self, state: Json) -> tuple[str, ...]:
        """What came otherwise, in words: `health: >= 5 was expected, found 3`. A count that is not there is 0."""
        return tuple(
            f"{path}: {wanted} was expected, found {found}"
            for path, wanted in self.values.items()
            if not _holds(wanted, found := _at(state, path))
        )


def _at(state: Json, path: str) -> Any:
    if path in state:
        return state[path]
    value: Any = state
    for part in path.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value


def _holds(wanted: Any, found: Any) -> bool:
    bound = _BOUND.fullmatch(wanted) if isinstance(wanted, str) else None
    if bound is not None:
        number = 0 if found is None else found
        return is_number(number) and _COMPARE[bound[1]](number, float(bound[2]))
    if found is None and is_number(wanted):
        found = 0
    return bool(wanted == found)
