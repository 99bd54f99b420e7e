"""A model by name: `scrubjay run crafter --model scripted`, or any dotted path."""

from __future__ import annotations

from scrubjay.environments.named import load
from scrubjay.errors import InvalidInput
from scrubjay.models.contract import Model

__all__ = ["SCRIPTED", "make_model"]

# The scripted player of each environment.
SCRIPTED = {"crafter": "scrubjay.models.scripted.crafter:CrafterPlayer"}


def make_model(choice: str, environment: str) -> Model:
    """A new model by its name or dotted path (`my.module:Model`). Raises InvalidInput, saying what there is."""
    if choice == "scripted" and environment not in SCRIPTED:
        raise InvalidInput(f"no scripted player knows {environment!r}: one of {', '.join(SCRIPTED)} has one")
    known = {"scripted": SCRIPTED.get(environment, "")}
    model: Model = load(choice, known, "model")()
    return model
