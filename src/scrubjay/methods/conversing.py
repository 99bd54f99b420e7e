"""The conversation of a language model as a method's traits want it: tools, parts of the block, procedures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from scrubjay.agent.conversation import Conversation
from scrubjay.agent.offer import Offer
from scrubjay.agent.toolbox import OwnTool
from scrubjay.memory.jsonio import Json
from scrubjay.methods.contract import Traits
from scrubjay.models.chat import ChatModel
from scrubjay.models.contract import Turn

if TYPE_CHECKING:
    from scrubjay.agent.skills import Skills
    from scrubjay.public import Memory

__all__ = ["BARE", "converse"]

# What every model has without a memory: the block of the present, and what happened since its last turn.
BARE = Offer(tools=(), map=False, own=False, working=False, frames=False, consolidates=False, procedures=False)


def converse(
    traits: Traits,
    model: ChatModel,
    memory: Memory,
    skills: Skills,
    tools: Sequence[OwnTool] = (),
    recalled: Callable[[Turn], Sequence[str]] = lambda turn: (),
    encoders: Sequence[str] = (),
) -> Conversation:
    """A conversation with what the traits offer.

    `tools` are the method's own; `recalled` gives the lines that it puts before the model in a turn unasked;
    `encoders` names what it compared texts and frames by, for the rows of turns.
    """
    offer = traits.offer
    has_skills = offer.procedures
    return Conversation(
        model,
        memory,
        offer=offer,
        rules=skills.rules,
        own=skills.own if has_skills else tuple,
        check=skills.check if has_skills else _AtomsAlone(skills).check,
        tools=tools,
        recalled=recalled,
        encoders=encoders,
    )


class _AtomsAlone:
    """Refuses procedures: those of other methods may lie in the same memory."""

    def __init__(self, skills: Skills) -> None:
        self._skills = skills

    def check(self, name: str, arguments: Json) -> str | None:
        if self._skills.is_procedure(name):
            return f"{name!r} is neither an action nor an atom"
        return self._skills.check(name, arguments)
