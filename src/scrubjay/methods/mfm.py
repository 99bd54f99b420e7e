"""The method of the multimodal filesystem memory, whole."""

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

__all__ = ["Mfm"]


class Mfm:
    """Everything."""

    traits = Traits(
        name="mfm",
        title="MFM: multimodal filesystem memory",
        source="the MFM paper",
        store="episodes with frames and states, index, grid; notes, guide, procedures, working memory",
        carries="all of it",
        uses="documents (map, working memory, notes) and queries",
        offer=Offer(),
    )

    def recall(self, memory: Memory, life: Life) -> Recall:
        """The memory itself."""
        return memory

    def conversation(self, model: ChatModel, memory: Memory, skills: Skills) -> Conversation:
        """A language model that lives with this method."""
        return converse(self.traits, model, memory, skills)
