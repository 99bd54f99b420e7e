"""A model by name: `scrubjay run crafter --model scripted`, a provider's, a recording, or any dotted path."""

from __future__ import annotations

from collections.abc import Callable

from scrubjay.environments.named import check_made, make
from scrubjay.errors import InvalidInput
from scrubjay.models.chat import ChatModel
from scrubjay.models.contract import Model
from scrubjay.models.providers import PROVIDERS, is_provider, make_provider_model
from scrubjay.models.replaying import Replay
from scrubjay.models.shrinking import Shrinking
from scrubjay.models.waiting import Outage, Patience, Waiting

__all__ = ["SCRIPTED", "is_chat_model", "make_chat_model", "make_model"]

# The scripted player of each environment.
SCRIPTED = {
    "crafter": "scrubjay.models.scripted.crafter:CrafterPlayer",
    "vizdoom": "scrubjay.models.scripted.vizdoom:DoomPlayer",
    "kicad": "scrubjay.models.scripted.kicad.solver:KiCadSolver",
}


def make_model(choice: str, environment: str) -> Model:
    """A new model by its name or dotted path (`my.module:Model`). Raises InvalidInput, saying what there is."""
    if choice == "scripted" and environment not in SCRIPTED:
        raise InvalidInput(
            f"no scripted player knows {environment!r}: one of {', '.join(SCRIPTED)} has one; elsewhere choose a "
            "model, such as my.module:Model or anthropic:NAME"
        )
    model: Model = make(choice, {"scripted": SCRIPTED.get(environment, "")}, "model")
    if choice != "scripted":
        check_made(model, choice, "model", ("name", "decide"), "scrubjay.models.contract.Model")
    return model


def is_chat_model(choice: str) -> bool:
    """Whether `choice` names a language model: `provider:NAME`, or `replay:PATH`."""
    return is_provider(choice) or choice.startswith("replay:")


def make_chat_model(
    choice: str, *, patience: Patience | None = None, watch: Callable[[Outage | None], None] | None = None
) -> ChatModel:
    """The language model that `choice` names: `provider:NAME`, `provider:NAME@URL`, or `replay:PATH`.

    A provider's outlasts outages as `patience` says, telling `watch`, and is shown less where a request is too large.
    Raises InvalidInput where `choice` names none or something it needs is missing, NotFound where there is no
    recording.
    """
    if choice.startswith("replay:"):
        return Replay(choice.removeprefix("replay:"))
    if not is_provider(choice):
        known = ", ".join(f"{name}:NAME" for name in PROVIDERS)
        raise InvalidInput(f"{choice!r} is no language model: one of {known}, or replay:PATH")
    return Shrinking(Waiting(make_provider_model(choice), patience, watch))
