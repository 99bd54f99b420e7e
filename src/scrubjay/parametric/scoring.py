"""A memory's procedures judged at once: worthiness, and whether they are due for an update.

It reads procedures, their calls and the cycles that were; it changes nothing.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scrubjay.memory.jsonio import Json
from scrubjay.parametric.categories import load_categories
from scrubjay.parametric.shelf import Shelf
from scrubjay.parametric.skills import Skill, skills_of
from scrubjay.parametric.trigger import STC, Fired, Trigger, is_due
from scrubjay.parametric.worthiness import Scored, Weights, score, top

if TYPE_CHECKING:
    from scrubjay.public import Memory

__all__ = ["Due", "due_skills", "internalised"]


@dataclass(frozen=True, slots=True)
class Due:
    """A procedure with its worthiness; `is_worth_it` where that is in the upper share, `fired` where it is due."""

    scored: Scored
    is_worth_it: bool
    fired: Fired | None

    def to_json(self) -> Json:
        """One line of JSON."""
        skill = self.scored.skill
        return {
            "name": skill.name, "category": skill.category, "value": round(self.scored.value, 4),
            **{key: round(value, 4) for key, value in dataclasses.asdict(self.scored.terms).items()},
            "executions": len(skill.executions), "rate": skill.rate, "is_worth_it": self.is_worth_it,
            "due": None if self.fired is None else self.fired.why,
        }  # fmt: skip

    def __str__(self) -> str:
        terms, skill = self.scored.terms, self.scored.skill
        told = (
            f"{self.scored.value:6.3f}  {skill.name} ({skill.category or 'no category'}): cost {terms.cost:.2f}, "
            f"stable {terms.stability:.2f}, redundant {terms.redundancy:.2f}, forgetting {terms.forgetting:.0f}"
        )
        return told + (f"; due: {self.fired.why}" if self.fired is not None else "")


def internalised(shelf: Shelf, skills: list[Skill]) -> list[Skill]:
    """P: the procedures that a cycle in place, or one before it, learned from."""
    names: set[str] = set()
    for cycle in shelf.lineage():
        names |= set((cycle.read("configuration") or {}).get("skills", {}))
    return [one for one in skills if one.name in names]


def due_skills(
    memory: Memory, trigger: Trigger | None = None, weights: Weights | None = None, q: float = 0.5
) -> list[Due]:
    """Every procedure, the worthiest first: the trigger is the paper's where none is given.

    The trigger is asked after an execution: a procedure that was not called since a cycle looked at it is not due.
    """
    rule = trigger or STC()
    skills = skills_of(memory, load_categories(memory.layout))
    shelf = Shelf(memory.layout)
    scored = score(skills, internalised(shelf, skills), weights)
    worthy = {one.skill.name for one in top(scored, q)}
    updated, seen = _executions(shelf, kept=True), _executions(shelf, kept=False)

    def due(one: Scored) -> Due:
        name, series = one.skill.name, [run.ok for run in one.skill.executions]
        is_asked = len(series) > seen.get(name, 0)
        fired = is_due(rule, series, updated.get(name, 0), name in worthy) if is_asked else None
        return Due(one, name in worthy, fired)

    return [due(one) for one in scored]


def _executions(shelf: Shelf, kept: bool) -> dict[str, int]:
    """How many executions each procedure had when a cycle last learned from it; without `kept`, also in vain."""
    found: dict[str, int] = {}
    for cycle in shelf.lineage() if kept else shelf.cycles():
        if kept or cycle.is_finished:
            for name, count in (cycle.read("configuration") or {}).get("executions", {}).items():
                found[name] = max(count, found.get(name, 0))
    return found
