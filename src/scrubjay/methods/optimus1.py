"""The memory of Optimus-1: recipes as a graph, and what was tried for the goal nearest by name, good and bad."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.methods.contract import Traits
from scrubjay.methods.conversing import BARE
from scrubjay.methods.prompted import Prompted
from scrubjay.methods.worked import Recipe, goal_of, past_plans, recipes
from scrubjay.models.contract import Turn

if TYPE_CHECKING:
    from scrubjay.public import Memory

__all__ = ["Optimus1"]

FAILURES = 2
_MOST = 8


class Optimus1(Prompted):
    """Recipes, plans and failures."""

    traits = Traits(
        name="optimus1",
        title="Optimus-1: recipes, plans and failures",
        source="Optimus-1 (2024), as Table 1 of the MFM paper lists it",
        store="what reaching each milestone took; plans by goal, those that worked and those that did not",
        carries="all of it",
        uses="nothing: what it recalls is put before a language model",
        offer=BARE,
        notes="The graph holds what the environment showed, not what a wiki says. No frames in the pool.",
        encodes=("text",),
    )

    def recalled(self, memory: Memory, turn: Turn) -> list[str]:
        """Recipes that lead to the goal, the plan that worked nearest to it by name, and the last ones that did not."""
        goal = goal_of(turn)
        name = goal.partition(" ")[0]
        graph = recipes(memory)
        lines = [f"recipe {one.line()}" for one in _towards(name, graph)]
        plans = list(past_plans(memory))
        worked = [plan for plan in plans if plan.milestones]
        text = self.encoders.text
        values = text.likeness(name, [" ".join(plan.milestones) for plan in worked])
        best = max(
            zip(values, worked, strict=True), key=lambda both: (both[0], both[1].life, both[1].turn), default=None
        )
        if best is not None and best[0] > text.related:
            lines.append(f"plan that worked, {best[1].line()}")
        failed = [plan for plan in plans if not plan.milestones]
        near = text.likeness(name, [plan.intention for plan in failed])
        aimed = [plan for plan, value in zip(failed, near, strict=True) if value > text.related]
        return [*lines, *(f"plan that did not work, {plan.line()}" for plan in aimed[-FAILURES:])]


def _towards(goal: str, graph: dict[str, Recipe]) -> list[Recipe]:
    """The recipe of the goal, where it is known, and of what it took, back to what is found lying about."""
    found: dict[str, Recipe] = {}
    waiting = [name for name in graph if name == goal]
    while waiting and len(found) < _MOST:
        name = waiting.pop(0)
        if name not in found:
            found[name] = graph[name]
            waiting += [other for item, _ in graph[name].took for other in graph if other.endswith(f"_{item}")]
    return list(found.values())
