"""What a method is: its traits, what a model gets of the memory, and a language model's conversation with it.

Methods differ in this and in nothing else: model, actions, budgets, brief, recording and context are shared. The
harness records every run in full, whatever the method; a method decides what of it can be recalled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from scrubjay.agent.conversation import Conversation
from scrubjay.agent.offer import Offer
from scrubjay.models.chat import ChatModel
from scrubjay.models.contract import Recall

if TYPE_CHECKING:
    from scrubjay.agent.skills import Skills
    from scrubjay.memory.lives import Life
    from scrubjay.public import Memory

__all__ = ["Method", "Traits"]


@dataclass(frozen=True, slots=True)
class Traits:
    """How a method differs from the others; the table of methods is made from it.

    `source` is where it comes from, `store` what it keeps outside the context, `carries` what of that goes on to the
    next life, `uses` what the scripted player gets of it, `notes` what else one must know to read its results,
    `encodes` what it compares by an encoder, of `text` and `frames`: such a method is made with `Encoders`.
    """

    name: str
    title: str
    source: str
    store: str
    carries: str
    uses: str
    offer: Offer
    notes: str = ""
    encodes: tuple[str, ...] = ()


class Method(Protocol):
    """A way to remember."""

    @property
    def traits(self) -> Traits:
        """How it differs from the others."""
        ...

    def recall(self, memory: Memory, life: Life) -> Recall:
        """What a model gets of the memory in one turn of a life; asked anew each turn."""
        ...

    def conversation(self, model: ChatModel, memory: Memory, skills: Skills) -> Conversation:
        """A language model that lives with this method."""
        ...
