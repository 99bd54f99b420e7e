"""Where to look when what is needed was not seen yet."""

from __future__ import annotations

from scrubjay.models.scripted.crafter.moves import Move, walk
from scrubjay.models.scripted.crafter.rules import Cell
from scrubjay.models.scripted.crafter.situation import Situation

__all__ = ["MEADOW", "ROCK", "SHORE", "explore"]

# Corners and sides of what the view would show from a cell.
_VIEW = ((4, 0), (-4, 0), (0, 3), (0, -3), (4, 3), (4, -3), (-4, 3), (-4, -3))
ROCK = frozenset({"stone", "path", "coal", "iron", "lava", "diamond"})
MEADOW = frozenset({"grass"})
SHORE = frozenset({"sand", "water"})
_AROUND = ((0, 0), (2, 0), (-2, 0), (0, 2), (0, -2))
_PER_UNSEEN = 1.0
_FOR_KIND = 4.0


def explore(now: Situation, intention: str, kind: frozenset[str] = frozenset()) -> Move:
    """Walks to the edge of what is charted that shows most for its way, the rather the more of `kind` is around."""
    best: tuple[float, Cell] | None = None
    most = _PER_UNSEEN * len(_VIEW) + _FOR_KIND * len(_AROUND)
    for cell, cost in now.paths.reachable(within=150.0):
        if best is not None and cost - most > best[0]:
            break
        unseen = sum(not now.chart.known((cell[0] + x, cell[1] + z)) for x, z in _VIEW)
        if not unseen or now.is_avoided(cell):
            continue
        like = sum(now.at((cell[0] + x, cell[1] + z)) in kind for x, z in _AROUND) if kind else 0
        score = cost - _PER_UNSEEN * unseen - _FOR_KIND * like
        if best is None or (score, cell) < best:
            best = (score, cell)
    if best is None:
        return Move(("noop",), f"{intention}: nothing left to explore")
    return walk(now, now.paths.way(best[1]), f"{intention}: explore")
