"""Practice for tests of the parametric tier: a memory in which procedures were written, failed, and were corrected."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conftest import numbered
from scrubjay import Memory
from scrubjay.errors import Conflict
from scrubjay.memory import journal
from scrubjay.memory.lives import Life
from scrubjay.memory.procedure_runs import Run

NOTHING: dict[str, int] = {}
FAILS = "def make_pickaxe():\n    make('pickaxe')\n"
WORKS = "def make_pickaxe():\n    place('table')\n    make('pickaxe')\n"


def state(
    carried: Mapping[str, int], view: str = "grass tree", achieved: Mapping[str, int] = NOTHING
) -> dict[str, Any]:
    """What an observation says."""
    return {"pos": [0, 0, 0], "inventory": dict(carried), "view": [view], "achievements": dict(achieved)}


class Practice:
    """One life in which things are tried."""

    def __init__(self, memory: Memory, life: Life) -> None:
        self.memory, self.life = memory, life

    def write(self, name: str, code: str, category: str | None = None) -> None:
        """Writes a procedure, or changes it."""
        try:
            self.memory.procedures.create(name, f"{name.replace('-', ' ')}.", code=code, category=category)
        except Conflict:
            self.memory.procedures.update(name, code=code)

    def call(
        self,
        name: str,
        task: str,
        before: Mapping[str, Any],
        after: Mapping[str, Any],
        outcome: str = "success",
        arguments: dict[str, Any] | None = None,
        ran: str | None = None,
    ) -> str:
        """Calls a procedure, which leads from one state to another; `outcome` is how the call went."""
        arguments = arguments or {}
        plan = {"text": task, "step": 1, "of": 1}
        with self.life.episode(name, arguments, plan=plan, frame=numbered(self.life.step), state=before) as episode:
            episode.step("act", frame=numbered(self.life.step + 1), state=after)
            episode.finish(ran or outcome)
        procedure = self.memory.procedures.get(name)
        self.memory.procedures.record(
            Run(
                name,
                outcome,
                arguments=arguments,
                episodes=(episode.id,),
                life=self.life.number,
                steps=1,
                digest=procedure.digest,
                category=procedure.category,
            ),
        )
        return str(episode.id)

    def plan(
        self, task: str, calls: list[tuple[str, dict[str, Any] | None]], states: list[dict[str, Any]]
    ) -> list[str]:
        """A turn of atoms and raw actions, as the loop writes it."""
        ids = []
        for nth, (name, arguments) in enumerate(calls):
            plan = {"text": task, "step": nth + 1, "of": len(calls)}
            with self.life.episode(name, arguments, plan=plan, frame=numbered(nth), state=states[nth]) as episode:
                episode.step("act", frame=numbered(nth + 1), state=states[nth + 1])
                episode.finish("success" if arguments is not None else None)
            ids.append(str(episode.id))
        path = self.life.layout.turns(self.life.number)
        row = {"turn": 1, "episodes": ids, "entries": [[name, 1] for name, _ in calls], "intention": task}
        journal.append(path, self.life.layout.lock_of(path), [row])
        return ids
