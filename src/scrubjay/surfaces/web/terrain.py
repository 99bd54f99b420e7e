"""The grid for a map that can be asked: what each cell shows, by height, and everything that happened in it.

It reads `grid.jsonl` once and then only what was appended. It knows cell events; lives and pages it does not.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from scrubjay.memory.folder import worlds
from scrubjay.memory.following import Follower
from scrubjay.memory.journal import Entry
from scrubjay.memory.jsonio import Json
from scrubjay.memory.layout import Layout, episode_number
from scrubjay.memory.records import CELL_KINDS, GridRow, World
from scrubjay.retrieval.maps import name_of

__all__ = ["Event", "Ground", "Land", "Shown", "Terrain"]

Ground = tuple[int, int]
# What a cell shows where several things happened in it: the first of these; walked and blocked take turns.
_RANKS = {"hazard": 0, "placed": 1, "opened": 2, "blocked": 3, "walked": 3}


@dataclass(frozen=True, slots=True)
class Event:
    """What happened in a cell: in which episode and step, and the name of what was there."""

    number: int
    step: int
    kind: str
    name: str
    height: int


@dataclass(frozen=True, slots=True)
class Shown:
    """What a cell of the map shows, and the moment it is from."""

    kind: str
    name: str
    moment: tuple[int, int]

    def over(self, other: Shown | None) -> bool:
        """True where this is shown and not the other."""
        if other is None:
            return True
        mine, its = _RANKS[self.kind], _RANKS[other.kind]
        return self.moment >= other.moment if mine == its else mine < its


@dataclass(slots=True)
class Land:
    """One world. `layers` maps a height, in cells, to what its cells show; None is the view from above."""

    world: World
    layers: dict[int | None, dict[Ground, Shown]] = field(default_factory=lambda: {None: {}})
    events: dict[Ground, list[Event]] = field(default_factory=dict)
    walk: list[tuple[int, int, Ground]] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    newest: tuple[int, int] = (-1, 0)

    def take(self, row: GridRow, number: int) -> None:
        """Adds an event."""
        first, second = self.world.ground
        ground, height = (row.cell[first], row.cell[second]), row.cell["xyz".index(self.world.up)]
        name = "walked" if row.kind == "walked" else name_of(row)
        shown = Shown(row.kind, name, (number, row.step))
        layer = self.layers.get(height)
        if layer is None:
            layer = self.layers[height] = {}
        for cells in (self.layers[None], layer):
            if shown.over(cells.get(ground)):
                cells[ground] = shown
        event = Event(number, row.step, row.kind, name, height)
        known = self.events.get(ground)
        if known is None:
            self.events[ground] = [event]
        else:
            known.append(event)
        self.kinds[row.kind] += 1
        if shown.moment > self.newest:
            self.newest = shown.moment
        if row.kind == "walked":
            self.walk.append((number, row.step, ground))

    def heights(self) -> list[int]:
        """The heights, in cells, at which anything is known, from below."""
        return sorted(height for height in self.layers if height is not None)

    def at(self, corner: Ground, block: int, height: int | None) -> Iterator[Event]:
        """What happened in a square of `block` cells along an edge, at a height or at any."""
        for one in range(corner[0], corner[0] + block):
            for two in range(corner[1], corner[1] + block):
                for event in self.events.get((one, two), ()):
                    if height in (None, event.height):
                        yield event


class Terrain:
    """All worlds of one memory's grid. Hold `mutex` while walking through a Land that may grow."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._follower = Follower(layout.grid)
        self.mutex = threading.RLock()
        self.version = 0
        self._lands: dict[str, Land] = {}

    def refresh(self) -> None:
        """Reads what was appended; `version` is another one where anything was."""
        with self.mutex:
            lines = self._follower.look()
            if self._follower.is_anew:
                self._lands = {}
                self.version += 1
            known: dict[str, World] | None = None
            for line in lines:
                if isinstance(line, Entry):
                    if known is None:
                        known = worlds(self._layout)
                        self.version += 1
                    self._take(line.row, known)

    def _take(self, row: Json, known: dict[str, World]) -> None:
        try:
            cell = GridRow.from_json(row)
            number = episode_number(cell.episode)
        except ValueError:
            return
        if cell.kind not in CELL_KINDS:
            return
        name = cell.world or ""
        land = self._lands.get(name)
        if land is None:
            land = self._lands[name] = Land(known.get(name) or World(name or "world"))
        land.take(cell, number)

    def lands(self) -> dict[str, Land]:
        """Every world with a cell, by name."""
        self.refresh()
        with self.mutex:
            return dict(self._lands)
