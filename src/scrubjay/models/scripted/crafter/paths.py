"""The cheapest ways from where the player stands, found once a turn and only as far as somebody asks."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from scrubjay.models.scripted.crafter.rules import Cell, neighbours

__all__ = ["Paths", "Route"]

_FURTHEST = 150.0


@dataclass(frozen=True, slots=True)
class Route:
    """Cells to walk, one after the other, and the cell to act on from the last (itself for a place to stand)."""

    cells: tuple[Cell, ...]
    target: Cell
    cost: float


class Paths:
    """Dijkstra's search from `start`, grown on demand; `cost` of entering a cell is None where that is impossible."""

    def __init__(self, start: Cell, cost: Callable[[Cell], float | None]) -> None:
        self._cost = cost
        self._entering: dict[Cell, float | None] = {}
        self._best = {start: 0.0}
        self._before: dict[Cell, Cell] = {}
        self._settled: list[Cell] = []
        self._done: set[Cell] = set()
        self._waiting = [(0.0, start)]

    def to(self, goal: Callable[[Cell], bool], within: float = _FURTHEST) -> Route | None:
        """The cheapest way to stand on a cell that `goal` accepts."""
        for cell in self._outwards(within):
            if goal(cell):
                return Route(self._walked(cell), cell, self._best[cell])
        return None

    def next_to(self, goal: Callable[[Cell], bool], within: float = _FURTHEST) -> Route | None:
        """The cheapest way to stand beside a cell that `goal` accepts."""
        for cell in self._outwards(within):
            for target in neighbours(cell):
                if goal(target):
                    return Route(self._walked(cell), target, self._best[cell] + 1)
        return None

    def reachable(self, within: float) -> Iterator[tuple[Cell, float]]:
        """Every cell at a cost of at most `within`, nearest first, with that cost."""
        for cell in self._outwards(within):
            yield cell, self._best[cell]

    def way(self, cell: Cell) -> Route:
        """The way to stand on a cell that `reachable` gave."""
        return Route(self._walked(cell), cell, self._best[cell])

    def _walked(self, cell: Cell) -> tuple[Cell, ...]:
        cells: list[Cell] = []
        while cell in self._before:
            cells.append(cell)
            cell = self._before[cell]
        return tuple(reversed(cells))

    def _outwards(self, within: float) -> Iterator[Cell]:
        number = 0
        while number < len(self._settled) or self._grow():
            cell = self._settled[number]
            if self._best[cell] > within:
                return
            yield cell
            number += 1

    def _grow(self) -> bool:
        """Settles one cell more; False where there is none."""
        while self._waiting:
            cost, cell = heapq.heappop(self._waiting)
            if cell in self._done:
                continue
            self._done.add(cell)
            self._settled.append(cell)
            for beyond in neighbours(cell):
                if beyond not in self._entering:
                    self._entering[beyond] = self._cost(beyond)
                price = self._entering[beyond]
                if price is not None and cost + price < self._best.get(beyond, _FURTHEST):
                    self._best[beyond] = cost + price
                    self._before[beyond] = cell
                    heapq.heappush(self._waiting, (cost + price, beyond))
            return True
        return False
