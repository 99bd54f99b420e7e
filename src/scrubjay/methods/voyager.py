"""The memory of Voyager: a library of skills that worked, those nearest to the goal put before each turn."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from scrubjay.methods.contract import Traits
from scrubjay.methods.conversing import BARE
from scrubjay.methods.prompted import Prompted
from scrubjay.methods.worked import goal_of
from scrubjay.models.contract import Turn

if TYPE_CHECKING:
    from scrubjay.public import Memory

__all__ = ["Voyager"]

SHOWN = 5


class Voyager(Prompted):
    """Skills that worked."""

    traits = Traits(
        name="voyager",
        title="Voyager: a library of skills",
        source="Voyager (2023), as Table 1 of the MFM paper lists it",
        store="procedures with descriptions; in the library once a call of one succeeded",
        carries="the library",
        uses="nothing: what it recalls is put before a language model",
        offer=replace(BARE, tools=("documents",), files=("procedures/*",), procedures=True),
        notes="The environment's verdict on a call stands for the paper's critic.",
        encodes=("text",),
    )

    def recalled(self, memory: Memory, turn: Turn) -> list[str]:
        """The five skills of the library whose descriptions are most like the goal."""
        library = [
            one
            for one in memory.procedures.list()
            if one.status != "disabled" and memory.procedures.statistics(one.name).succeeded
        ]
        values = self.encoders.text.likeness(goal_of(turn), [f"{one.name} {one.description}" for one in library])
        best = sorted(zip(values, library, strict=True), key=lambda both: (-both[0], both[1].name))[:SHOWN]
        return [f"skill {one.signature}: {one.description}" for _, one in best]
