"""A method by name, and a model that lives with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from scrubjay.environments.named import check_made, load, make
from scrubjay.methods.contract import Method, Traits
from scrubjay.methods.encoders.contract import Encoders
from scrubjay.methods.encoders.named import FRAMES_DEFAULT, TEXT_DEFAULT, make_encoders
from scrubjay.models.contract import Model

if TYPE_CHECKING:
    from scrubjay.agent.consolidation_turns import ConsolidationTurns
    from scrubjay.agent.skills import Skills
    from scrubjay.agent.workshop import WorkshopTurns
    from scrubjay.models.waiting import Outage
    from scrubjay.public import Memory

__all__ = ["METHODS", "encoders_of", "make_consolidation", "make_method", "make_player", "make_workshop"]

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
    "peam": "scrubjay.methods.peam:Peam",
    "mfm-peam": "scrubjay.methods.mfm_peam:MfmPeam",
}


def make_method(choice: str, text: str = TEXT_DEFAULT, frames: str = FRAMES_DEFAULT) -> Method:
    """A method by its name or dotted path (`my.module:Method`), with encoders of these names where it uses any.

    Raises InvalidInput, saying what there is, and what to install where something is missing.
    """
    traits: Traits | None = getattr(load(choice, METHODS, "method"), "traits", None)
    kinds = () if traits is None else traits.encodes
    if not kinds:
        method: Method = make(choice, METHODS, "method")
        check_made(method, choice, "method", ("traits", "recall", "conversation"), "scrubjay.methods.contract.Method")
        return method
    encoders = make_encoders(text if "text" in kinds else TEXT_DEFAULT, frames if "frames" in kinds else FRAMES_DEFAULT)
    with_encoders: Method = load(choice, METHODS, "method")(encoders)
    return with_encoders


def encoders_of(method: Method) -> tuple[str, ...]:
    """The names of what a method compares texts and frames by; none where it does not."""
    encoders: Encoders | None = getattr(method, "encoders", None)
    return () if encoders is None else encoders.names(method.traits.encodes)


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
    player = make_model(choice, environment)
    before = getattr(method, "before", None)  # a method with a tier of its own before the model
    return player if before is None else before(player, memory, skills)


def make_consolidation(player: Model, method: Method, memory: Memory) -> ConsolidationTurns | None:
    """The consolidations of a run, by the language model or coding agent that lives it.

    None for other players, and where the method has none.
    """
    from scrubjay.agent.consolidating_driver import DriverConsolidator
    from scrubjay.agent.consolidating_model import ModelConsolidator
    from scrubjay.agent.consolidation import Consolidation
    from scrubjay.agent.consolidation_turns import ConsolidationTurns
    from scrubjay.agent.conversation import Conversation
    from scrubjay.agent.driver import Driver

    if not method.traits.offer.consolidates:
        return None
    if isinstance(player, Driver):
        return ConsolidationTurns(memory, Consolidation(memory, DriverConsolidator(player)))
    if not isinstance(player, Conversation):
        return None
    consolidator = ModelConsolidator(player.chat, memory, offer=method.traits.offer)
    turns = ConsolidationTurns(memory, Consolidation(memory, consolidator))
    player.before_reset = turns.before_reset
    return turns


def make_workshop(player: Model, method: Method, memory: Memory) -> WorkshopTurns | None:
    """The workshop turns of a run: what the player has for them, or rules where it is scripted.

    None where the method has none, or the player nothing for them.
    """
    from scrubjay.agent.consolidation import Consolidation
    from scrubjay.agent.workshop import Work, WorkshopTurns, by_rules
    from scrubjay.models.scripted.consolidating import ScriptedConsolidator

    if not (method.traits.offer.consolidates and "documents" in method.traits.offer.tools):
        return None
    work: Work | None = getattr(player, "workshop", None)
    if work is None and player.name == "scripted":
        work = by_rules(Consolidation(memory, ScriptedConsolidator()))
    return None if work is None else WorkshopTurns(memory, work)
