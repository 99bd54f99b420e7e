"""Crafter: a world of 64 x 64 tiles with 22 achievements, played for thousands of steps."""

from scrubjay.environments.crafter.environment import Crafter

__all__ = ["Crafter"]
