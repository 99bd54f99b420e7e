"""What memories have in common that are put before a language model each turn, and can't be asked.

It knows how they are joined to a conversation; what is recalled each says itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from scrubjay.methods.contract import Traits
from scrubjay.methods.conversing import converse
from scrubjay.methods.encoders.contract import Encoders
from scrubjay.methods.encoders.named import make_encoders
from scrubjay.methods.recalling import Given, OfTurn
from scrubjay.models.contract import Recall, Turn

if TYPE_CHECKING:
    from scrubjay.agent.conversation import Conversation
    from scrubjay.agent.skills import Skills
    from scrubjay.memory.lives import Life
    from scrubjay.models.chat import ChatModel
    from scrubjay.public import Memory

__all__ = ["Prompted"]


class Prompted(ABC):
    """A method whose memory is lines of text before each turn; `encoders` compare texts and frames for it."""

    traits: Traits

    def __init__(self, encoders: Encoders | None = None) -> None:
        self.encoders = encoders or make_encoders()

    def recall(self, memory: Memory, life: Life) -> Recall:
        """Documents that last for one turn, no episode and no cell: this memory is put before a model, not asked."""
        return Given(OfTurn())

    def conversation(self, model: ChatModel, memory: Memory, skills: Skills) -> Conversation:
        """A language model that lives with this method."""
        return converse(
            self.traits,
            model,
            memory,
            skills,
            recalled=lambda turn: self.recalled(memory, turn),
            encoders=self.encoders.names(self.traits.encodes),
        )

    @abstractmethod
    def recalled(self, memory: Memory, turn: Turn) -> list[str]:
        """What is put before the model in this turn."""
