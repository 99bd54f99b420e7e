"""A memory's procedures judged at once: worthiness, and whether they are due; and a cycle from what was staged.

It joins the parts of this package over one memory.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput
from scrubjay.memory.jsonio import Json
from scrubjay.parametric.categories import load_categories
from scrubjay.parametric.cycle import Check, Material, Outcome, Settings, agrees, hold_out, run_cycle
from scrubjay.parametric.shelf import Shelf
from scrubjay.parametric.skills import Skill, skills_of
from scrubjay.parametric.staging import examples_of, stage
from scrubjay.parametric.trigger import STC, Fired, Trigger, is_due
from scrubjay.parametric.worthiness import Scored, Weights, score, top

if TYPE_CHECKING:
    from scrubjay.public import Memory

__all__ = ["Due", "cycle_of", "due_skills", "internalised", "material_of"]


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
    for cycle in shelf.cycles():
        if (cycle.read("result") or {}).get("kept"):
            names |= set((cycle.read("configuration") or {}).get("skills", {}))
    return [one for one in skills if one.name in names]


def due_skills(
    memory: Memory, trigger: Trigger | None = None, weights: Weights | None = None, q: float = 0.5
) -> list[Due]:
    """Every procedure, the worthiest first: the trigger is the paper's where none is given."""
    rule = trigger or STC()
    skills = skills_of(memory, load_categories(memory.layout))
    shelf = Shelf(memory.layout)
    scored = score(skills, internalised(shelf, skills), weights)
    worthy = {one.skill.name for one in top(scored, q)}
    updated = _updated(shelf)
    return [
        Due(one, one.skill.name in worthy, _fired(rule, one.skill, updated, one.skill.name in worthy)) for one in scored
    ]


def _updated(shelf: Shelf) -> dict[str, int]:
    """How many executions each procedure had when a cycle last learned from it."""
    found: dict[str, int] = {}
    for cycle in shelf.cycles():
        if (cycle.read("result") or {}).get("kept"):
            found |= (cycle.read("configuration") or {}).get("executions", {})
    return found


def _fired(rule: Trigger, skill: Skill, updated: dict[str, int], is_worth_it: bool) -> Fired | None:
    return is_due(rule, [one.ok for one in skill.executions], updated.get(skill.name, 0), is_worth_it)


def material_of(memory: Memory, category: str, with_frames: bool) -> Material:
    """What a cycle of a category learns from: all that was staged of it, a part held out."""
    categories = load_categories(memory.layout)
    if category not in categories.names:
        raise InvalidInput(f"{category!r} is no category; there are {', '.join(categories.names)}")
    part = stage(memory, categories).of(category)
    successes, pairs, held = hold_out(*examples_of(memory, part, with_frames))
    digests = {one.name: one.digest for one in memory.procedures.list()}
    names = sorted({str(one.procedure) for one in part.successes if one.procedure in digests})
    counts = {one.name: len(one.executions) for one in skills_of(memory, categories)}
    return Material(
        successes, pairs, held, {one: digests[one] for one in names}, {one: counts.get(one, 0) for one in names}
    )


def cycle_of(memory: Memory, category: str, settings: Settings | None = None, check: Check = agrees) -> Outcome:
    """One cycle of a category on the base that the memory's settings name.

    Raises InvalidInput where no base was chosen or it is a server's, and what `run_cycle` raises.
    """
    shelf = Shelf(memory.layout)
    base = shelf.base
    if base is None:
        raise InvalidInput("no base model was chosen: `scrubjay adapters base DIR BASE` chooses one")
    if base.startswith(("http://", "https://")):
        raise InvalidInput(f"{base} serves adapters; a cycle needs the base's own weights: a folder, or smollm2-135m")
    from scrubjay.parametric.adapters import Adapters
    from scrubjay.parametric.bases import load_base

    material = material_of(memory, category, with_frames=True)
    return run_cycle(shelf, Adapters(load_base(base)), category, material, settings, check)
