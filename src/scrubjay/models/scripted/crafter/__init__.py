"""A player of crafter that follows rules."""

from scrubjay.models.scripted.crafter.player import CrafterPlayer

__all__ = ["CrafterPlayer"]
