"""The ablation without consolidation: documents change only in the turns in which a model acts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.agent.conversation import Conversation
from scrubjay.agent.offer import Offer
from scrubjay.methods.contract import Traits
from scrubjay.methods.conversing import converse
from scrubjay.models.chat import ChatModel
from scrubjay.models.contract import Recall

if TYPE_CHECKING:
    from scrubjay.agent.skills import Skills
    from scrubjay.memory.lives import Life
    from scrubjay.public import Memory

__all__ = ["MfmNoConsolidation"]


class MfmNoConsolidation:
    """No consolidation."""

    traits = Traits(
        name="mfm-no-consolidation",
        title="MFM without consolidation",
        source="an ablation of the MFM paper",
        store="as mfm",
        carries="all of it, as it was written while acting",
        uses="the same as mfm: it is never asked to consolidate, so its runs are those of mfm, step for step",
        offer=Offer(consolidates=False),
    )

    def recall(self, memory: Memory, life: Life) -> Recall:
        """The memory itself."""
        return memory

    def conversation(self, model: ChatModel, memory: Memory, skills: Skills) -> Conversation:
        """A language model that lives with this method."""
        return converse(self.traits, model, memory, skills)
