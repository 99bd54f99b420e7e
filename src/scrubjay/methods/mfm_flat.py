"""The ablation without an index: episodes are found by a chronological search over the log as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.agent.conversation import Conversation
from scrubjay.agent.offer import ALL_TOOLS, Offer
from scrubjay.methods.contract import Traits
from scrubjay.methods.conversing import converse
from scrubjay.methods.log_search import LogSearch
from scrubjay.methods.log_tool import log_tool
from scrubjay.methods.recalling import Given
from scrubjay.models.chat import ChatModel
from scrubjay.models.contract import Recall

if TYPE_CHECKING:
    from scrubjay.agent.skills import Skills
    from scrubjay.memory.lives import Life
    from scrubjay.public import Memory

__all__ = ["MfmFlat"]


class MfmFlat:
    """No query tool."""

    traits = Traits(
        name="mfm-flat",
        title="MFM without query tool and index",
        source="an ablation of the MFM paper",
        store="as mfm; found by text search over the log alone",
        carries="all of it",
        uses="documents (map, working memory, notes), and the search over the log instead of queries",
        offer=Offer(tools=("log", *(name for name in ALL_TOOLS if name != "episodes"))),
        notes="Text search answers by words, actions, steps and lives; neither by place nor by what a view showed.",
    )

    def recall(self, memory: Memory, life: Life) -> Recall:
        """The documents and the grid, and a search over the logs."""
        return Given(memory.documents, LogSearch(memory, life.number).find, memory.grid)

    def conversation(self, model: ChatModel, memory: Memory, skills: Skills) -> Conversation:
        """A language model that lives with this method."""
        return converse(self.traits, model, memory, skills, (log_tool(memory),))
