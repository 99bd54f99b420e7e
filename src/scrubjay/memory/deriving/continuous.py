"""Deriving for worlds without tiles (a robot, a first-person game), where a step is a small part of a cell."""

from __future__ import annotations

from scrubjay.memory.deriving.default import DefaultDeriver

__all__ = ["ContinuousDeriver"]


class ContinuousDeriver(DefaultDeriver):
    """As the default, but one step from standing is no standstill: only what hardly moved at all is stuck."""

    stuck_cells = 0.01
