"""The whole multimodal filesystem memory with the fast tier of PEAM before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.agent.conversation import Conversation
from scrubjay.agent.offer import Offer
from scrubjay.methods.contract import Traits
from scrubjay.methods.conversing import converse
from scrubjay.methods.fast_tier import put_before, two_tiers
from scrubjay.models.chat import ChatModel
from scrubjay.models.contract import Model, Recall

if TYPE_CHECKING:
    from scrubjay.agent.skills import Skills
    from scrubjay.memory.lives import Life
    from scrubjay.public import Memory

__all__ = ["MfmPeam"]


class MfmPeam:
    """Everything, and adapters."""

    traits = Traits(
        name="mfm-peam",
        title="MFM with PEAM: all of the memory, and adapters",
        source="the MFM and PEAM papers together",
        store="as mfm, and a LoRA adapter for each skill category, trained from its episodes",
        carries="all of it",
        uses="documents (map, working memory, notes) and queries, behind the fast tier",
        offer=Offer(),
        notes="A procedure that was internalised keeps its file and its citations.",
    )

    def recall(self, memory: Memory, life: Life) -> Recall:
        """The memory itself."""
        return memory

    def conversation(self, model: ChatModel, memory: Memory, skills: Skills) -> Conversation:
        """A language model as the slow tier."""
        return put_before(converse(self.traits, model, memory, skills), memory, skills)

    def before(self, slow: Model, memory: Memory, skills: Skills) -> Model:
        """A player of rules as the slow tier."""
        return two_tiers(slow, memory, skills)
