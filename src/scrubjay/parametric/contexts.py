"""The context x of an attempt: the task, its category, and the state that it began in; and when two are comparable.

What goes into a prompt comes from here, so what an adapter learns from and what it is asked are of one form.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from scrubjay.memory.jsonio import Json
from scrubjay.parametric.categories import words_of
from scrubjay.parametric.examples import Prompt

__all__ = ["Context", "comparable", "facts_of", "normal", "overlap", "prompt_of"]

_ALIKE = 0.5
_NUMBER = re.compile(r"(\d+)")
_MOST = 24
_MOST_OF_TASK = 1000
_MOST_OF_PLACE = 160


@dataclass(frozen=True, slots=True)
class Context:
    """A task in a category, and what the state said when the attempt began."""

    task: str
    category: str | None
    state: Json

    @property
    def key(self) -> tuple[str, str | None]:
        """What must be the same in a matched context."""
        return normal(self.task), self.category


def normal(task: str) -> str:
    """The words and numbers of a task, in order: spelling and punctuation make no other task."""
    return " ".join(word for part in _NUMBER.split(task) for word in ([part] if part.isdecimal() else words_of(part)))


def facts_of(state: Json) -> frozenset[str]:
    """The place, what is carried and what is in view, by name."""
    inventory, view, place = state.get("inventory"), state.get("view"), _place(state)
    carried = {str(name) for name, count in inventory.items() if count} if isinstance(inventory, dict) else set()
    seen = {word for line in view for word in str(line).split()} if isinstance(view, list) else set()
    at = {f"at {place}"} if place else set()
    return frozenset(at | {f"has {one}" for one in carried} | {f"sees {one}" for one in seen})


def comparable(one: Json, other: Json) -> bool:
    """True where at least half of what two states show is in both: the place, things carried and things in view."""
    return overlap(facts_of(one), facts_of(other))


def overlap(one: frozenset[str], other: frozenset[str]) -> bool:
    """`comparable` of the facts of two states."""
    return not (one or other) or len(one & other) >= _ALIKE * len(one | other)


def prompt_of(task: str, state: Json, image: bytes | None = None) -> Prompt:
    """What a policy is asked: the task, the place, what is carried (with counts), what is in view.

    Each on one line, and bounded: these are words of an environment.
    """
    lines = [f"Task: {_one_line(task, _MOST_OF_TASK)}"]
    inventory, view, place = state.get("inventory"), state.get("view"), _place(state)
    if place:
        lines.append(f"At: {place}")
    if isinstance(inventory, dict) and inventory:
        carried = (f"{_one_line(name)} {_one_line(count)}" for name, count in sorted(inventory.items())[:_MOST])
        lines.append("Carried: " + ", ".join(carried))
    if isinstance(view, list) and view:
        seen = sorted({word for line in view for word in str(line).split()})
        lines.append("In view: " + ", ".join(map(_one_line, seen[:_MOST])))
    return Prompt("\n".join(lines), image)


def _place(state: Json) -> str:
    place = state.get("place")
    return _one_line(place, _MOST_OF_PLACE) if isinstance(place, str) else ""


def _one_line(value: object, most: int = 60) -> str:
    return " ".join(str(value).split())[:most]
