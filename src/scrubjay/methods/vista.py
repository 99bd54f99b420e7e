"""The method of frames and notes: any earlier frame can be opened by its id, what it means is in the notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.agent.conversation import Conversation
from scrubjay.agent.offer import Offer
from scrubjay.agent.scope import OF_THIS_LIFE
from scrubjay.methods.contract import Traits
from scrubjay.methods.conversing import converse
from scrubjay.methods.recalling import Given, OfLife
from scrubjay.models.chat import ChatModel
from scrubjay.models.contract import Recall

if TYPE_CHECKING:
    from scrubjay.agent.skills import Skills
    from scrubjay.memory.lives import Life
    from scrubjay.public import Memory

__all__ = ["Vista"]


class Vista:
    """Frames by id, working notes and a guide."""

    traits = Traits(
        name="vista",
        title="VISTA: frames by id, working notes and guide",
        source="VISTA, as the MFM paper compares it (Table 6)",
        store="every frame by turn and frame id; working notes; GUIDE.md",
        carries="GUIDE.md and the frames; working notes are of one life",
        uses="its documents as working notes of one life, the map among them; it opens no frame and writes no guide",
        offer=Offer(
            tools=("look", "compare", "documents"),
            files=("GUIDE.md", OF_THIS_LIFE),
            map=False,
            own=False,
            consolidates=False,
            procedures=False,
        ),
        notes="look shows one frame, compare up to 16. Nothing can be searched: an id must be known or stand in notes.",
    )

    def recall(self, memory: Memory, life: Life) -> Recall:
        """Documents of this life and the guide; nothing can be searched for."""
        return Given(OfLife(memory.documents, life.number, _LASTING))

    def conversation(self, model: ChatModel, memory: Memory, skills: Skills) -> Conversation:
        """A language model that lives with this method."""
        return converse(self.traits, model, memory, skills)


_LASTING = frozenset({"GUIDE.md"})
