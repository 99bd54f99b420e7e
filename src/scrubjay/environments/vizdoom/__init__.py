"""VizDoom: the maps of Freedoom in the first person, with exact positions in three dimensions."""

from scrubjay.environments.vizdoom.environment import VizDoom

__all__ = ["VizDoom"]
