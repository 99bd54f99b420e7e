"""A method by name, and a model that lives with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from scrubjay.environments.named import load
from scrubjay.methods.contract import Method
from scrubjay.models.contract import Model

if TYPE_CHECKING:
    from scrubjay.agent.consolidation_turns import ConsolidationTurns
    from scrubjay.agent.skills import Skills
    from scrubjay.models.waiting import Outage
    from scrubjay.public import Memory

__all__ = ["METHODS", "make_consolidation", "make_method", "make_player"]

METHODS = {
    "direct": "scrubjay.methods.direct:Direct",
    "prolong": "scrubjay.methods.prolong:Prolong",
    "vista": "scrubjay.methods.vista:Vista",
    "mfm": "scrubjay.methods.mfm:Mfm",
    "mfm-no-frames": "scrubjay.methods.mfm_no_frames:MfmNoFrames",
    "mfm-flat": "scrubjay.methods.mfm_flat:MfmFlat",
    "mfm-no-procedures": "scrubjay.methods.mfm_no_procedures:MfmNoProcedures",
    "mfm-no-consolidation": "scrubjay.methods.mfm_no_consolidation:MfmNoConsolidation",
    "reflexion": "scrubjay.methods.reflexion:Reflexion",
    "voyager": "scrubjay.methods.voyager:Voyager",
    "jarvis1": "scrubjay.methods.jarvis1:Jarvis1",
    "mrsteve": "scrubjay.methods.mrsteve:MrSteve",
    "optimus1": "scrubjay.methods.optimus1:Optimus1",
}


def make_method(choice: str) -> Method:
    """A method by its name or dotted path (`my.module:Method`). Raises InvalidInput, saying what there is."""
    method: Method = load(choice, METHODS, "method")()
    return method


def make_player(
    choice: str,
    environment: str,
    method: Method,
    memory: Memory,
    skills: Skills,
    watch: Callable[[Outage | None], None] | None = None,
) -> Model:
    """The model that `choice` names, ready to live in an environment with a method.

    `watch` is told while a provider is out of reach. Raises InvalidInput, saying what there is.
    """
    from scrubjay.models.named import is_chat_model, make_chat_model, make_model

    if is_chat_model(choice):
        return method.conversation(make_chat_model(choice, watch=watch), memory, skills)
    return make_model(choice, environment)


def make_consolidation(player: Model, method: Method, memory: Memory) -> ConsolidationTurns | None:
    """The consolidations of a run by the language model that lives it; None for other players, and by the method."""
    from scrubjay.agent.consolidating_model import ModelConsolidator
    from scrubjay.agent.consolidation import Consolidation
    from scrubjay.agent.consolidation_turns import ConsolidationTurns
    from scrubjay.agent.conversation import Conversation

    if not (isinstance(player, Conversation) and method.traits.offer.consolidates):
        return None
    consolidator = ModelConsolidator(player.chat, memory, offer=method.traits.offer)
    turns = ConsolidationTurns(memory, Consolidation(memory, consolidator))
    player.before_reset = turns.before_reset
    return turns
