"""Small worlds in which memory must matter, each with one like it in which it need not.

A layout says which tiles there are, where a life begins and with what; it knows names of materials, not the game.
Everything else is water, which nobody can cross without stones, and there are none. Nothing lives there, it is always
day, and nobody gets hungry, thirsty or tired: what is left is the way. All is drawn from the seed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

__all__ = ["LAYOUTS", "Cell", "Layout", "Ore"]

Cell = tuple[int, int]  # x to the right, z down
_CENTRE: Cell = (32, 32)
_DIRECTIONS: tuple[Cell, ...] = ((1, 0), (0, 1), (-1, 0), (0, -1))
_STONE_TOOLS = {"wood_pickaxe": 1, "wood_sword": 1, "stone_pickaxe": 1, "stone_sword": 1}
_ALL_TOOLS = {**_STONE_TOOLS, "iron_pickaxe": 1, "iron_sword": 1}
_ORES = ("coal", "iron", "diamond")
_FROM_ORE_TO_ORE = 8  # two views: standing at one, no other is to be seen


@dataclass(frozen=True, slots=True)
class Ore:
    """An ore that the state does not tell from others: its room (1 or 2), and whether it is of the good kind."""

    room: int
    is_good: bool


@dataclass(frozen=True, slots=True)
class Layout:
    """Tiles other than water, where a life begins, and what it begins with. `ores` are those to be told apart."""

    tiles: dict[Cell, str]
    start: Cell
    inventory: dict[str, int]
    ores: dict[Cell, Ore] = field(default_factory=dict)


def _along(start: Cell, direction: Cell, count: int) -> list[Cell]:
    return [(start[0] + direction[0] * n, start[1] + direction[1] * n) for n in range(count)]


def _arms(lengths: dict[Cell, int]) -> dict[Cell, str]:
    return {cell: "sand" for arm, length in lengths.items() for cell in _along(_CENTRE, arm, length + 1)}


def _at(arm: Cell, steps: int) -> Cell:
    return _along(_CENTRE, arm, steps + 1)[-1]


def _shuffled(seed: int) -> list[Cell]:
    order = np.random.default_rng((seed, 1)).permutation(len(_DIRECTIONS))
    return [_DIRECTIONS[number] for number in order]


def _workshop(tiles: dict[Cell, str], arm: Cell, steps: int) -> None:
    """A table and a furnace at the end of an arm, both within reach of one tile."""
    side = (arm[1], arm[0])
    end = _at(arm, steps)
    tiles[_at(arm, steps + 1)] = "table"
    tiles[(end[0] + side[0], end[1] + side[1])] = "furnace"


def far_resource(seed: int, life: int, length: int = 20) -> Layout:
    """Begins beside a diamond, with all but the tool for it; the workshop is at the end of another of four arms."""
    near, far, *others = _shuffled(seed)
    tiles = _arms({near: length, far: length, **dict.fromkeys(others, length)})
    tiles[_at(near, length + 1)] = "diamond"
    _workshop(tiles, far, length)
    return Layout(tiles, _at(near, length), {**_STONE_TOOLS, "wood": 1, "coal": 1, "iron": 1})


def near_resource(seed: int, life: int) -> Layout:
    """The same, and everything is in view from where it begins."""
    near, far, *_ = _shuffled(seed)
    tiles = _arms({near: 1, far: 1})
    tiles[_at(near, 2)] = "diamond"
    _workshop(tiles, far, 1)
    return Layout(tiles, _at(near, 1), {**_STONE_TOOLS, "wood": 1, "coal": 1, "iron": 1})


def blocked_way(seed: int, life: int, is_open: bool = False) -> Layout:
    """A ring with a gap: a diamond is in view across water, and the way there leads round, past dead ends."""
    side, gap = 16, 3
    left, top = _CENTRE[0] - side // 2, _CENTRE[1] - side // 2
    ring = [(left + n, top) for n in range(side)] + [(left + side, top + n) for n in range(side)]
    ring += [(left + side - n, top + side) for n in range(side)] + [(left, top + side - n) for n in range(side)]
    along = 2 * side * (seed % 2)  # above or below: the view is wider than high
    first = along + int(np.random.default_rng((seed, 2)).integers(2, side - gap - 2))
    tiles = {cell: "sand" for place, cell in enumerate(ring) if is_open or not 0 <= place - first < gap}
    for x, z, away in ((left, top, (-1, -1)), (left + side, top + side, (1, 1))):
        tiles |= {(x + away[0] * n, z): "sand" for n in range(1, 7)}
        tiles |= {(x, z + away[1] * n): "sand" for n in range(1, 7)}
    tiles[ring[first - 1]] = "diamond"
    return Layout(tiles, ring[(first + gap) % len(ring)], _ALL_TOOLS)


def open_way(seed: int, life: int) -> Layout:
    """The same ring without the gap."""
    return blocked_way(seed, life, is_open=True)


def second_life(seed: int, life: int, length: int = 16) -> Layout:
    """Four arms, a diamond at the end of one; the first life has no tool for it, the others have."""
    arms = _shuffled(seed)
    tiles = _arms(dict.fromkeys(arms, length))
    tiles[_at(arms[0], length + 1)] = "diamond"
    return Layout(tiles, _CENTRE, _STONE_TOOLS if life == 1 else _ALL_TOOLS)


def second_life_near(seed: int, life: int) -> Layout:
    """The same with arms so short that the diamond is in view from where a life begins."""
    return second_life(seed, life, length=1)


def look_alikes(seed: int, life: int, is_first_good: bool = False) -> Layout:
    """Two rooms along one way, three ores in each, which the state calls by one word: the pictures differ."""
    random = np.random.default_rng((seed, 3))
    good = _ORES[int(random.integers(3))]
    kinds = [_ORES[n] for n in (*random.permutation(3), *random.permutation(3))]
    if is_first_good:
        kinds[3:] = [good, *(kind for kind in kinds[3:] if kind != good)]
    z, apart = _CENTRE[1], _FROM_ORE_TO_ORE
    tiles = {(x, z): "sand" for x in range(apart - 4, apart * 6 + 5)}
    ores: dict[Cell, Ore] = {}
    for place, kind in enumerate(kinds):
        cell = (apart * (place + 1), z - 1)
        tiles[cell], ores[cell] = kind, Ore(1 + place // 3, kind == good)
    return Layout(tiles, (apart - 3, z), {}, ores)


def look_alikes_first(seed: int, life: int) -> Layout:
    """The same, and the first ore of the second room is the good one."""
    return look_alikes(seed, life, is_first_good=True)


LAYOUTS: dict[str, Callable[[int, int], Layout]] = {
    "far-resource": far_resource,
    "far-resource-control": near_resource,
    "blocked-way": blocked_way,
    "blocked-way-control": open_way,
    "second-life": second_life,
    "second-life-control": second_life_near,
    "look-alikes": look_alikes,
    "look-alikes-control": look_alikes_first,
}
