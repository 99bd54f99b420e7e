"""The method of a log: all that happened as text, in the order it happened, and a search over it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.agent.conversation import Conversation
from scrubjay.agent.offer import Offer
from scrubjay.methods.contract import Traits
from scrubjay.methods.conversing import converse
from scrubjay.methods.log_search import LogSearch
from scrubjay.methods.log_tool import log_tool
from scrubjay.methods.recalling import Given, OfTurn
from scrubjay.models.chat import ChatModel
from scrubjay.models.contract import Recall

if TYPE_CHECKING:
    from scrubjay.agent.skills import Skills
    from scrubjay.memory.lives import Life
    from scrubjay.public import Memory

__all__ = ["Prolong"]


class Prolong:
    """Text alone."""

    traits = Traits(
        name="prolong",
        title="PRO-LONG: the log and a search over it",
        source="PRO-LONG, as the MFM paper compares it (Table 6)",
        store="the text log of every life",
        carries="the logs of earlier lives",
        uses="the search over the log: episodes without an effect, deaths. The log tells no view, so it has no map",
        offer=Offer(
            tools=("log",), map=False, own=False, working=False, frames=False, consolidates=False, procedures=False
        ),
        notes="What a model would write for itself is not part of this method here: it keeps no documents.",
    )

    def recall(self, memory: Memory, life: Life) -> Recall:
        """Search over the logs; documents that last for one turn."""
        return Given(OfTurn(), LogSearch(memory, life.number).find)

    def conversation(self, model: ChatModel, memory: Memory, skills: Skills) -> Conversation:
        """A language model that lives with this method."""
        return converse(self.traits, model, memory, skills, (log_tool(memory),))
