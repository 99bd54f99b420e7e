"""A skill as worthiness and trigger see it: a procedure's code and how its calls went, in order.

It reads procedures and run records of a memory; what is made of them it does not know.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scrubjay.parametric.categories import Categories, words_of

if TYPE_CHECKING:
    from scrubjay.public import Memory

__all__ = ["Execution", "Skill", "skills_of"]


@dataclass(frozen=True, slots=True)
class Execution:
    """A call that ended by itself. `context` tells worlds and arguments apart, `life` is when it was."""

    ok: bool
    context: str = ""
    life: int = 1


@dataclass(frozen=True, slots=True)
class Skill:
    """A procedure with its executions, oldest first. `lives` is how many lives the memory has."""

    name: str
    code: str
    category: str | None
    executions: Sequence[Execution]
    lives: int = 1

    @property
    def rate(self) -> float | None:
        """SR(s): the share of executions that succeeded; None where there were none."""
        return sum(one.ok for one in self.executions) / len(self.executions) if self.executions else None


def skills_of(memory: Memory, categories: Categories) -> list[Skill]:
    """Every procedure with a script that is not disabled, in the order of names.

    Its category is the one that it names, else that of its name's and description's words.
    """
    lives = memory.lives()
    worlds = {life.life: life.world or "" for life in lives}
    found: dict[str, list[Execution]] = {}
    for run in memory.procedures.runs():
        if run.kind == "procedure" and run.outcome != "stopped":
            life = run.life or 1
            context = f"{worlds.get(life, '')} {sorted(run.arguments.items())}"
            found.setdefault(run.procedure, []).append(Execution(run.outcome == "success", context, life))
    return [
        Skill(
            one.name,
            one.source,
            categories.known(one.category) or categories.of(f"{' '.join(words_of(one.name))} {one.description}"),
            tuple(found.get(one.name, ())),
            max(1, len(lives)),
        )
        for one in memory.procedures.list()
        if one.source is not None and one.status != "disabled"
    ]
