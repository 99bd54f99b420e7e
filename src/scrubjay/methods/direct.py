"""The method without a memory: what a model sees now is all it knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.agent.conversation import Conversation
from scrubjay.agent.offer import Offer
from scrubjay.methods.contract import Traits
from scrubjay.methods.conversing import converse
from scrubjay.methods.recalling import Given, OfTurn
from scrubjay.models.chat import ChatModel
from scrubjay.models.contract import Recall

if TYPE_CHECKING:
    from scrubjay.agent.skills import Skills
    from scrubjay.memory.lives import Life
    from scrubjay.public import Memory

__all__ = ["Direct"]


class Direct:
    """Nothing is kept."""

    traits = Traits(
        name="direct",
        title="Direct: no memory",
        source="the baseline of the MFM paper (Table 6)",
        store="nothing",
        carries="nothing",
        uses="what it sees this turn; documents that it writes are gone at the next, so it has no map and no plan",
        offer=Offer(
            tools=(),
            recent=False,
            map=False,
            own=False,
            working=False,
            frames=False,
            consolidates=False,
            procedures=False,
        ),
        notes="A language model still has its context until that is full; the scripted player has no context at all.",
    )

    def recall(self, memory: Memory, life: Life) -> Recall:
        """Documents that last for one turn, no episode and no cell."""
        return Given(OfTurn())

    def conversation(self, model: ChatModel, memory: Memory, skills: Skills) -> Conversation:
        """A language model that lives with this method."""
        return converse(self.traits, model, memory, skills)
