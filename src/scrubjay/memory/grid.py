"""The spatial grid: what lies in which cell, read from `grid.jsonl` as it grows.

It reads and never writes. It knows cells and the size of a cell in each world, not how either is drawn.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence

from scrubjay.errors import InvalidInput
from scrubjay.memory import journal
from scrubjay.memory.folder import worlds
from scrubjay.memory.following import Follower
from scrubjay.memory.jsonio import Json
from scrubjay.memory.layout import Layout, episode_number
from scrubjay.memory.records import CELL_KINDS, GridRow

__all__ = ["Cell", "Grid", "age"]

Cell = tuple[int, int, int]


def age(row: GridRow) -> tuple[int, int]:
    """Place of a row in time: its episode's number, then its step. Later rows compare greater."""
    return (episode_number(row.episode), row.step)


class Grid:
    """The rows of `grid.jsonl`, kept up to date by reading only what was appended since the last call.

    A file that shrank, was replaced or was rewritten below what is known is read again from its beginning.
    Attributes: `world`, the one that methods mean when none is named (None: all of them); `skipped`, how many
    rows of each unknown kind were passed over; `broken`, how many lines were no rows.
    """

    def __init__(self, layout: Layout, world: str | None = None) -> None:
        self.layout = layout
        self.world = world
        self._follower = Follower(layout.grid)
        self._forget()

    def _forget(self) -> None:
        self._rows: list[GridRow] = []
        self._newest: dict[str | None, dict[str, dict[Cell, GridRow]]] = {}
        self.skipped: dict[str, int] = {}
        self.broken = 0

    def refresh(self) -> None:
        """Reads what was appended since. Called by every other method."""
        lines = self._follower.look()
        if self._follower.is_anew:
            self._forget()
        for line in lines:
            if isinstance(line, journal.Entry):
                self._take_row(line.row)
            else:
                self.broken += 1

    def _take_row(self, row: Json) -> None:
        kind = row.get("kind")
        if isinstance(kind, str) and kind not in CELL_KINDS:
            self.skipped[kind] = self.skipped.get(kind, 0) + 1
            return
        try:
            cell = GridRow.from_json(row)
            episode_number(cell.episode)
        except ValueError:
            self.broken += 1
        else:
            self._rows.append(cell)
            known = self._newest.setdefault(cell.world, {}).setdefault(cell.kind, {})
            before = known.get(cell.cell)
            if before is None or age(cell) >= age(before):
                known[cell.cell] = cell

    def rows(self, world: str | None = None) -> list[GridRow]:
        """The rows of a world (None: the grid's own, or all), in the order of the file."""
        self.refresh()
        world = self.world if world is None else world
        return [row for row in self._rows if world is None or row.world == world]

    def newest(self, world: str | None = None) -> GridRow | None:
        """The row of the latest episode and step, or None where there is none."""
        return max(self._each(world), key=age, default=None)

    def cells(self, world: str | None = None) -> dict[Cell, dict[str, GridRow]]:
        """For each cell the newest row of each kind."""
        found: dict[Cell, dict[str, GridRow]] = {}
        for row in self._each(world):
            kinds = found.setdefault(row.cell, {})
            if row.kind not in kinds or age(row) >= age(kinds[row.kind]):
                kinds[row.kind] = row
        return found

    def _each(self, world: str | None, kind: str | None = None) -> Iterator[GridRow]:
        """The newest row of each cell and kind, of one kind or all."""
        self.refresh()
        world = self.world if world is None else world
        for name, kinds in self._newest.items():
            if world in (None, name):
                for known, rows in kinds.items():
                    if kind in (None, known):
                        yield from rows.values()

    def nearest(
        self, world: str | None, position: Sequence[float], kind: str | None = None, n: int = 1
    ) -> list[GridRow]:
        """The `n` rows nearest to `position` (x, y, z in the world's unit), nearest first.

        Distance is to the middle of the cell. Of a cell and kind only the newest row counts; `kind` None takes
        all kinds. Raises InvalidInput for a position that isn't three finite numbers or a kind that doesn't exist.
        """
        if len(position) != 3 or not all(math.isfinite(value) for value in position):
            raise InvalidInput(f"position: three finite coordinates were expected, found {position!r}")
        if kind is not None and kind not in CELL_KINDS:
            raise InvalidInput(f"kind: one of {', '.join(CELL_KINDS)} was expected, found {kind!r}")
        self.refresh()
        known = worlds(self.layout)
        edges = {name: known[name].cell if name in known else 1.0 for name in self._newest}

        def distance(row: GridRow) -> float:
            edge = edges[row.world]
            return math.dist(position, [(axis + 0.5) * edge for axis in row.cell])

        return heapq.nsmallest(n, self._each(world, kind), key=lambda row: (distance(row), age(row)))
