"""Who decides, by name: a scripted player, a language model in conversation, or any dotted path."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from scrubjay.agent.conversation import Conversation
from scrubjay.models.contract import Model
from scrubjay.models.named import is_chat_model, make_chat_model, make_model

if TYPE_CHECKING:
    from scrubjay.agent.skills import Skills
    from scrubjay.models.waiting import Outage
    from scrubjay.public import Memory

__all__ = ["make_agent"]


def make_agent(
    choice: str,
    environment: str,
    memory: Memory,
    skills: Skills,
    watch: Callable[[Outage | None], None] | None = None,
) -> Model:
    """The model that `choice` names, ready to decide in this environment with this memory.

    `watch` is told while a provider is out of reach. Raises InvalidInput, saying what there is.
    """
    if is_chat_model(choice):
        return Conversation(make_chat_model(choice, watch=watch), memory, own=skills.own, check=skills.check)
    return make_model(choice, environment)
