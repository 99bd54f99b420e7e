"""A skill as worthiness and trigger see it: a procedure's code and how its calls went, in order.

It reads procedures, run records and the episodes that these cite; what is made of them it does not know.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scrubjay.errors import Damaged, InvalidInput, NotFound
from scrubjay.memory.evidence import read_record
from scrubjay.memory.procedure_runs import Run
from scrubjay.parametric.categories import Categories, words_of
from scrubjay.parametric.verification import Verifiers, evidence_of

if TYPE_CHECKING:
    from scrubjay.public import Memory

__all__ = ["Execution", "Skill", "calls_of", "skills_of"]


@dataclass(frozen=True, slots=True)
class Execution:
    """A call that ended by itself. `context` tells worlds and arguments apart, `life` is when it was.

    `ok` where it said that it succeeded and, for a category with a verifier, its episodes show it.
    """

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


def calls_of(memory: Memory) -> dict[str, list[Run]]:
    """The calls of each procedure that ended by themselves, oldest first, by its name."""
    found: dict[str, list[Run]] = {}
    for run in memory.procedures.runs():
        if run.kind == "procedure" and run.outcome != "stopped":
            found.setdefault(run.procedure, []).append(run)
    return found


def skills_of(memory: Memory, categories: Categories, verifiers: Verifiers | None = None) -> list[Skill]:
    """Every procedure with a script that is not disabled, in the order of names.

    Its category is the one that it names, else that of its name's and description's words.
    """
    lives, judges = memory.lives(), verifiers or Verifiers()
    worlds = {life.life: life.world or "" for life in lives}
    found = calls_of(memory)
    skills = []
    for one in memory.procedures.list():
        if one.source is None or one.status == "disabled":
            continue
        about = f"{' '.join(words_of(one.name))}. {one.description}"
        category = categories.known(one.category) or categories.of(about)
        executions = tuple(
            Execution(
                run.outcome == "success" and _is_shown(memory, judges, category, about, run),
                f"{worlds.get(run.life or 1, '')} {sorted(run.arguments.items())}",
                run.life or 1,
            )
            for run in found.get(one.name, ())
        )
        skills.append(Skill(one.name, one.source, category, executions, max(1, len(lives))))
    return skills


def _is_shown(memory: Memory, verifiers: Verifiers, category: str | None, about: str, run: Run) -> bool:
    """Whether what a call is for, by its plan, its name, its description or its arguments, is seen in its episodes.

    Where nothing can be seen (no verifier for its category, no episode, one that is gone) its own word counts.
    """
    if category not in verifiers.by_category or not run.episodes:
        return True
    try:
        records = [read_record(memory.layout, ident)[0] for ident in run.episodes]
    except (NotFound, Damaged, InvalidInput):
        return True
    if any(record.get("removed") for record in records):
        return True
    plan = records[0].get("plan")
    told = plan.get("text") if isinstance(plan, dict) else None
    task = ". ".join([about, str(told or ""), *map(str, run.arguments.values())])  # each for itself
    return verifiers.verify(category, task, evidence_of(records)).ok
