"""PEAM: what was learned lies in the weights of adapters; a procedure is written, not looked up."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from scrubjay.agent.conversation import Conversation
from scrubjay.methods.contract import Traits
from scrubjay.methods.conversing import BARE, converse
from scrubjay.methods.fast_tier import put_before, two_tiers
from scrubjay.methods.recalling import Given, OfTurn
from scrubjay.models.chat import ChatModel
from scrubjay.models.contract import Model, Recall

if TYPE_CHECKING:
    from scrubjay.agent.skills import Skills
    from scrubjay.memory.lives import Life
    from scrubjay.public import Memory

__all__ = ["Peam"]


class Peam:
    """Adapters."""

    traits = Traits(
        name="peam",
        title="PEAM: parametric memory",
        source="the PEAM paper",
        store="a LoRA adapter for each skill category, trained from episodes",
        carries="the adapters, and the procedures that the fast policy wrote",
        uses="nothing: it is a slow model behind the fast tier",
        offer=replace(BARE, procedures=True),
        notes="Adapters are trained between lives, by `scrubjay adapters cycle`.",
    )

    def recall(self, memory: Memory, life: Life) -> Recall:
        """Documents that last for one turn, no episode and no cell: what is known lies in the adapters."""
        return Given(OfTurn())

    def conversation(self, model: ChatModel, memory: Memory, skills: Skills) -> Conversation:
        """A language model as the slow tier."""
        return put_before(converse(self.traits, model, memory, skills), memory, skills)

    def before(self, slow: Model, memory: Memory, skills: Skills) -> Model:
        """A player of rules as the slow tier."""
        return two_tiers(slow, memory, skills)
