"""The ablation without procedures: none is offered and none can be called."""

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

__all__ = ["MfmNoProcedures"]


class MfmNoProcedures:
    """No procedure."""

    traits = Traits(
        name="mfm-no-procedures",
        title="MFM without procedures",
        source="an ablation of the MFM paper",
        store="as mfm, without procedures",
        carries="all of it",
        uses="the same as mfm: it calls no procedure, so its runs are those of mfm, step for step",
        offer=Offer(files=("*", "!procedures/*", "!reflexes/*"), own=False, procedures=False),
    )

    def recall(self, memory: Memory, life: Life) -> Recall:
        """The memory itself: the scripted player calls no procedure."""
        return memory

    def conversation(self, model: ChatModel, memory: Memory, skills: Skills) -> Conversation:
        """A language model that lives with this method."""
        return converse(self.traits, model, memory, skills)
