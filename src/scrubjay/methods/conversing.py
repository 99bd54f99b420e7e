"""The conversation of a language model as a method's traits want it: tools, parts of the block, procedures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from scrubjay.agent.conversation import Conversation
from scrubjay.agent.toolbox import OwnTool
from scrubjay.memory.jsonio import Json
from scrubjay.methods.contract import Traits
from scrubjay.models.chat import ChatModel

if TYPE_CHECKING:
    from scrubjay.agent.skills import Skills
    from scrubjay.public import Memory

__all__ = ["converse"]


def converse(
    traits: Traits, model: ChatModel, memory: Memory, skills: Skills, tools: Sequence[OwnTool] = ()
) -> Conversation:
    """A conversation with what the traits offer; `tools` are the method's own."""
    if traits.offer.procedures:
        return Conversation(model, memory, offer=traits.offer, own=skills.own, check=skills.check, tools=tools)
    return Conversation(model, memory, offer=traits.offer, check=_AtomsAlone(skills).check, tools=tools)


class _AtomsAlone:
    """Refuses procedures: those of other methods may lie in the same memory."""

    def __init__(self, skills: Skills) -> None:
        self._skills = skills

    def check(self, name: str, arguments: Json) -> str | None:
        if self._skills.is_procedure(name):
            return f"{name!r} is neither an action nor an atom"
        return self._skills.check(name, arguments)
