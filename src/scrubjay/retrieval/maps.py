"""The grid seen from above: which mark stands in which cell of the ground, and where each life walked.

It knows grid rows, worlds and windows of cells. It does not know how a map is drawn, in text or in pixels.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from scrubjay.errors import InvalidInput
from scrubjay.memory.folder import worlds
from scrubjay.memory.grid import Grid, age
from scrubjay.memory.records import CELL_KINDS, GridRow, World

__all__ = ["RANKS", "Chart", "Ground", "Mark", "chart", "coarser", "name_of"]

Ground = tuple[int, int]

# What is drawn where several things share a place: the rarer and the more important wins.
RANKS = ("newest", "start", "hazard", "placed", "opened", "blocked", "walked")
_AROUND = 40
_MOST_LETTERS = 24


@dataclass(frozen=True, slots=True)
class Mark:
    """What one place on the map shows: a kind of cell, `start` or `newest`, and the letter of a placed item."""

    kind: str
    letter: str = ""


@dataclass(frozen=True, slots=True)
class Chart:
    """A map before it is drawn, in cells of the ground's two axes.

    `origin` is the least cell in the window, `size` how many cells it spans. `block` is how many cells along an edge
    make one place of `marks` (their keys are cells divided by it). `letters` says which item a letter stands for.
    """

    world: World
    origin: Ground
    size: Ground
    marks: Mapping[Ground, Mark]
    letters: Mapping[str, str]
    counts: Mapping[str, int]
    paths: Mapping[int, Sequence[Sequence[Ground]]] = field(default_factory=dict)
    height: int | None = None
    beyond: int = 0
    block: int = 1

    @property
    def axes(self) -> tuple[str, str]:
        """Names of the two axes: the first goes right, the second down (up, where z is the vertical axis)."""
        first, second = self.world.ground
        return "xyz"[first], "xyz"[second]

    @property
    def is_upward(self) -> bool:
        """True where the second axis grows towards the top: the custom of maps whose vertical axis is z."""
        return self.world.up == "z"

    @property
    def places(self) -> Ground:
        """How many places the map has along each axis."""
        low, high = self._corners()
        return (high[0] - low[0] + 1, high[1] - low[1] + 1)

    def _corners(self) -> tuple[Ground, Ground]:
        low = (self.origin[0] // self.block, self.origin[1] // self.block)
        last = (self.origin[0] + self.size[0] - 1, self.origin[1] + self.size[1] - 1)
        return low, (last[0] // self.block, last[1] // self.block)

    def shows(self, row: GridRow) -> bool:
        """True where the row's cell lies in the window and in the layer of this map."""
        if self.height is not None and row.cell["xyz".index(self.world.up)] != self.height:
            return False
        return _within(_ground(row, self.world), self.origin, self.size)

    def columns(self) -> range:
        """Places along the first axis, from left to right."""
        low, high = self._corners()
        return range(low[0], high[0] + 1)

    def lines(self) -> range:
        """Places along the second axis, from top to bottom."""
        low, high = self._corners()
        return range(high[1], low[1] - 1, -1) if self.is_upward else range(low[1], high[1] + 1)

    def coordinate(self, place: int) -> float:
        """Where a place begins, in the world's unit."""
        return place * self.block * self.world.cell


def name_of(row: GridRow) -> str:
    """What was placed, opened or dangerous in a cell: `furnace`; its kind where nothing more is known."""
    for key in ("item", "what", "block"):
        if isinstance(row.extra.get(key), str):
            return str(row.extra[key])
    return row.kind


def chart(
    grid: Grid,
    world: str | None = None,
    *,
    height: float | None = None,
    around: tuple[float, float] | None = None,
    size: int | None = None,
    lives: Mapping[str, int] | None = None,
) -> Chart | None:
    """The map of a world (None: that of the newest row), or None where nothing is known of it.

    `height` takes one layer of cells, in the world's unit. `around` (in the same unit) and `size` (cells along an
    edge) take a window; `size` alone one around the newest position. `lives` gives the life of an episode, for the
    paths. Raises InvalidInput.
    """
    if size is not None and size < 1:
        raise InvalidInput(f"size: a count of cells above 0 was expected, found {size}")
    if height is not None and not math.isfinite(height):
        raise InvalidInput(f"height: a finite number was expected, found {height}")
    newest = grid.newest(world)
    if newest is None:
        return None
    axes = worlds(grid.layout).get(newest.world or "") or World(newest.world or "")
    up = "xyz".index(axes.up)
    level = None if height is None else math.floor(height / axes.cell)
    rows = [row for row in grid.rows(newest.world) if newest.world == row.world]
    rows = sorted((row for row in rows if level is None or row.cell[up] == level), key=age)
    if not rows:
        return None
    seen = _seen(rows, axes)
    walked = [row for row in rows if row.kind == "walked"]
    here = _ground(walked[-1] if walked else rows[-1], axes)
    origin, span = _window(seen, here, axes, around, size)
    inside = {place: row for place, row in seen.items() if _within(place, origin, span)}
    letters = _letters(row for row in inside.values() if row.kind == "placed")
    marks = {place: Mark(row.kind, letters.get(name_of(row), "")) for place, row in inside.items()}
    if walked:
        marks[_ground(walked[0], axes)] = Mark("start")
        marks[here] = Mark("newest")
    return Chart(
        world=replace(axes, world=newest.world or ""),
        origin=origin,
        size=span,
        marks={place: mark for place, mark in marks.items() if _within(place, origin, span)},
        letters={letter: name for name, letter in letters.items()},
        counts=_counts(rows),
        paths=_paths(walked, axes, lives or {}),
        height=level,
        beyond=len(seen) - len(inside),
    )


def _ground(row: GridRow, world: World) -> Ground:
    first, second = world.ground
    return (row.cell[first], row.cell[second])


def _within(place: Ground, origin: Ground, span: Ground) -> bool:
    return all(low <= value < low + length for value, low, length in zip(place, origin, span, strict=True))


def _seen(rows: Sequence[GridRow], world: World) -> dict[Ground, GridRow]:
    """The row that each cell of the ground shows; `rows` come oldest first."""
    found: dict[Ground, GridRow] = {}
    for row in rows:
        place = _ground(row, world)
        before = found.get(place)
        # Walked and blocked take turns (a wall is dug away, a door shuts): there the newer one counts.
        ranks = [min(RANKS.index(r.kind), RANKS.index("blocked")) for r in (row, before or row)]
        if before is None or ranks[0] <= ranks[1]:
            found[place] = row
    return found


def _window(
    seen: Mapping[Ground, GridRow],
    here: Ground,
    world: World,
    around: tuple[float, float] | None,
    size: int | None,
) -> tuple[Ground, Ground]:
    if around is None and size is None:
        low = (min(place[0] for place in seen), min(place[1] for place in seen))
        high = (max(place[0] for place in seen), max(place[1] for place in seen))
        return low, (high[0] - low[0] + 1, high[1] - low[1] + 1)
    if around is not None:
        if not all(math.isfinite(value) for value in around):
            raise InvalidInput(f"around: two finite coordinates were expected, found {around}")
        here = (math.floor(around[0] / world.cell), math.floor(around[1] / world.cell))
    edge = _AROUND if size is None else size
    return (here[0] - edge // 2, here[1] - edge // 2), (edge, edge)


def _letters(placed: Iterator[GridRow]) -> dict[str, str]:
    """A letter for each name, its first that is free; the rarest names share `?` when the letters are used up."""
    counts: dict[str, int] = {}
    for row in placed:
        counts[name_of(row)] = counts.get(name_of(row), 0) + 1
    letters: dict[str, str] = {}
    for name in sorted(counts, key=lambda name: (-counts[name], name)):
        free = (c for c in f"{name.lower()}abcdefghijklmnopqrstuvwxyz" if c.isascii() and c.isalpha())
        used = set(letters.values())
        letters[name] = next((c for c in free if c not in used), "?") if len(used) < _MOST_LETTERS else "?"
    return letters


def _counts(rows: Sequence[GridRow]) -> dict[str, int]:
    cells = {(row.kind, row.cell) for row in rows}
    return {kind: sum(1 for known, _ in cells if known == kind) for kind in CELL_KINDS}


def _paths(walked: Sequence[GridRow], world: World, lives: Mapping[str, int]) -> dict[int, list[list[Ground]]]:
    """Per life the cells it walked, in order, cut where it jumped between two episodes."""
    paths: dict[int, list[list[Ground]]] = {}
    before: dict[int, GridRow] = {}
    for row in walked:
        life, place = lives.get(row.episode, 1), _ground(row, world)
        last = before.get(life)
        near = last is not None and max(abs(a - b) for a, b in zip(row.cell, last.cell, strict=True)) <= 1
        if last is not None and (near or last.episode == row.episode):
            paths[life][-1].append(place)
        else:
            paths.setdefault(life, []).append([place])
        before[life] = row
    return paths


def coarser(whole: Chart, most: Ground) -> Chart:
    """The map with at most so many places along each axis, each of as few cells as that allows.

    A place shows the most important of its cells.
    """
    block = max(1, *(-(-length // room) for length, room in zip(whole.size, most, strict=True)))
    while any(count > room for count, room in zip(replace(whole, block=block).places, most, strict=True)):
        # Blocks begin at multiples of their size, so that one more may be cut by the window's edges. In steps of
        # their size: between two far positions lie so many cells that by ones it would take days.
        block += 1 + block // 256
    if block == 1:
        return whole
    marks: dict[Ground, Mark] = {}
    for (first, second), mark in whole.marks.items():
        place = (first // block, second // block)
        if place not in marks or RANKS.index(mark.kind) < RANKS.index(marks[place].kind):
            marks[place] = mark
    return replace(whole, marks=marks, block=block)
