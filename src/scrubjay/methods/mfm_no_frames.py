"""The ablation without frames: episodes are found, and no stored frame can be opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.agent.conversation import Conversation
from scrubjay.agent.offer import Offer
from scrubjay.errors import InvalidInput
from scrubjay.methods.contract import Traits
from scrubjay.methods.conversing import converse
from scrubjay.methods.recalling import Given
from scrubjay.models.chat import ChatModel
from scrubjay.models.contract import Found, Recall
from scrubjay.retrieval.query import Query

if TYPE_CHECKING:
    from scrubjay.agent.skills import Skills
    from scrubjay.memory.lives import Life
    from scrubjay.public import Memory

__all__ = ["MfmNoFrames"]


class MfmNoFrames:
    """No stored frame."""

    traits = Traits(
        name="mfm-no-frames",
        title="MFM without stored frames",
        source="an ablation of the MFM paper",
        store="as mfm, without frames",
        carries="all of it",
        uses="the same as mfm: it never opens a stored frame, so its runs are those of mfm, step for step",
        offer=Offer(frames=False),
    )

    def recall(self, memory: Memory, life: Life) -> Recall:
        """The memory without questions about pictures."""
        return Given(memory.documents, _Blind(memory).find, memory.grid)

    def conversation(self, model: ChatModel, memory: Memory, skills: Skills) -> Conversation:
        """A language model that lives with this method."""
        return converse(self.traits, model, memory, skills)


class _Blind:
    """Finds by every cue but those of a picture."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def find(self, query: Query) -> Found:
        if query.like is not None or query.same_screen is not None:
            raise InvalidInput("like, same_screen: this method has no stored frames to compare with")
        return self._memory.find(query)
