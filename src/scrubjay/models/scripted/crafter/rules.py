"""The rules of crafter that a player needs, read from the package's own tables."""

from __future__ import annotations

from crafter import constants

__all__ = [
    "COSTS",
    "DIRECTIONS",
    "ENEMIES",
    "MAKE",
    "TOOL_FOR",
    "WALKABLE",
    "Cell",
    "beside",
    "distance",
    "neighbours",
    "shifted",
]

Cell = tuple[int, int]  # x to the right, z down

DIRECTIONS: dict[Cell, str] = {(1, 0): "right", (0, 1): "down", (-1, 0): "left", (0, -1): "up"}
WALKABLE = frozenset(constants.walkable)
ENEMIES = frozenset({"zombie", "skeleton"})

# What can be dug out, and the tool that it needs (None: bare hands). Water stays, and grass is no obstacle.
TOOL_FOR: dict[str, str | None] = {
    material: next(iter(rule["require"]), None)
    for material, rule in constants.collect.items()
    if material not in ("water", "grass")
}
COSTS: dict[str, dict[str, int]] = {name: dict(rule["uses"]) for name, rule in constants.place.items()}
MAKE: dict[str, tuple[dict[str, int], tuple[str, ...]]] = {
    name: (dict(rule["uses"]), tuple(rule["nearby"])) for name, rule in constants.make.items()
}


def shifted(cell: Cell, direction: Cell, times: int = 1) -> Cell:
    """The cell so many tiles further in a direction."""
    return (cell[0] + direction[0] * times, cell[1] + direction[1] * times)


def neighbours(cell: Cell) -> list[Cell]:
    """The four cells that share an edge with this one."""
    return [shifted(cell, direction) for direction in DIRECTIONS]


def beside(a: Cell, b: Cell) -> bool:
    """True where two cells share an edge."""
    return distance(a, b) == 1


def distance(a: Cell, b: Cell) -> int:
    """Steps between two cells where nothing is in the way."""
    return abs(a[0] - b[0]) + abs(a[1] - b[1])
