"""Atoms of crafter: walk, face, collect, place, make; from the 9 x 7 tiles in view, and what the caller passes in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from crafter import constants

from scrubjay.environments.atoms import SUCCESS, Atom, Moves, atom, failure
from scrubjay.environments.crafter.local_map import DIRECTIONS, Cell, LocalMap, Pose
from scrubjay.memory.jsonio import Json

__all__ = ["ATOMS"]

_MOST = 200  # steps of one atom
# What may be asked for, by its name or that of its source: words of the view, achievement that counts it.
_SOURCES: dict[str, tuple[frozenset[str], str]] = {
    name: (frozenset(words), achievement)
    for names, words, achievement in (
        (("wood", "tree"), ("tree",), "collect_wood"),
        (("stone",), ("stone",), "collect_stone"),
        (("coal",), ("coal",), "collect_coal"),
        (("iron",), ("iron",), "collect_iron"),
        (("diamond",), ("diamond",), "collect_diamond"),
        (("water", "drink"), ("water",), "collect_drink"),
        (("sapling", "grass"), ("grass",), "collect_sapling"),
        (("cow",), ("cow",), "eat_cow"),
        (("zombie",), ("zombie",), "defeat_zombie"),
        (("skeleton",), ("skeleton",), "defeat_skeleton"),
        (("plant", "ripe_plant"), ("ripe_plant",), "eat_plant"),
    )
    for name in names
}


def go_to(state: Json, x: int, z: int) -> Moves:
    """Walks onto the tile (x, z), or next to it and faces it where nobody can stand (a tree, water, a table)."""
    target, known = (x, z), LocalMap(state)
    way: list[str] | None = []
    for _ in range(_MOST):
        arrives = _arrives(known, target)
        if arrives(known.pose):
            return SUCCESS
        if not way or not known.leads(way, arrives):
            way = known.way(arrives, aim=target, unseen=True)
        if not way:
            return failure(f"no way to ({x}, {z}) from {known.here}: {_around(known)}")
        known.observe((yield way.pop(0)))
    return failure(f"at {known.here} after {_MOST} steps, not at ({x}, {z})")


def face(state: Json, direction: Literal["left", "right", "up", "down"]) -> Moves:
    """Faces a direction: up is z less, down z more. Where the tile there is free, that takes one step onto it."""
    if LocalMap(state).facing != DIRECTIONS[direction]:
        state = yield f"move_{direction}"
    return SUCCESS if LocalMap(state).facing == DIRECTIONS[direction] else failure("did not turn; asleep?")


def collect(state: Json, what: str) -> Moves:
    """Takes the nearest in view: wood, stone, coal, iron, diamond, water, sapling, cow, zombie, skeleton, ripe plant.

    Gathers, drinks, eats or defeats one. A sapling is in one of ten tries on grass.
    """
    if what not in _SOURCES:
        return failure(f"{what} is nothing to collect; {', '.join(_SOURCES)} are")
    words, achievement = _SOURCES[what]
    missing = _missing(state, constants.collect.get(next(iter(words)), {}).get("require", {}))
    if missing:
        return failure(f"{what} needs {missing}")
    before, known = _count(state, achievement), LocalMap(state)
    for _ in range(_MOST):
        moves = known.way(_faces(known, words))
        if moves is None:
            return failure(f"no {what} in reach of the view from {known.here}: {_around(known)}")
        state = yield moves[0] if moves else "do"
        known.observe(state)
        if _count(state, achievement) > before:
            return SUCCESS
    return failure(f"no {what} after {_MOST} steps")


def place(state: Json, what: Literal["stone", "table", "furnace", "plant"]) -> Moves:
    """Puts something from the inventory on the nearest tile that takes it: a table costs 2 wood, a furnace 4 stone."""
    rules, achievement = constants.place[what], f"place_{what}"
    missing = _missing(state, rules["uses"])
    if missing:
        return failure(f"a {what} needs {missing}")
    before, known = _count(state, achievement), LocalMap(state)
    for _ in range(_MOST):
        moves = known.way(_faces(known, frozenset(rules["where"])))
        if moves is None:
            return failure(f"nothing in view takes a {what}; it goes on {', '.join(rules['where'])}")
        state = yield moves[0] if moves else f"place_{what}"
        known.observe(state)
        if _count(state, achievement) > before:
            return SUCCESS
    return failure(f"no {what} placed after {_MOST} steps")


def make(
    state: Json,
    what: Literal["wood_pickaxe", "stone_pickaxe", "iron_pickaxe", "wood_sword", "stone_sword", "iron_sword"],
) -> Moves:
    """Makes a tool at a table in view: of 1 wood; stone: and 1 stone; iron: and 1 coal, 1 iron, at a furnace too."""
    rules, achievement = constants.make[what], f"make_{what}"
    missing = _missing(state, rules["uses"])
    if missing:
        return failure(f"a {what} needs {missing}")
    before, known = _count(state, achievement), LocalMap(state)
    for _ in range(_MOST):
        moves = known.way(_stands_at(known, rules["nearby"]))
        if moves is None:
            return failure(f"no place in view that is next to {' and '.join(rules['nearby'])}: {_around(known)}")
        state = yield moves[0] if moves else f"make_{what}"
        known.observe(state)
        if _count(state, achievement) > before:
            return SUCCESS
    return failure(f"no {what} made after {_MOST} steps")


# --- goals


def _faced(pose: Pose) -> Cell:
    (x, z), (across, down) = pose
    return (x + across, z + down)


def _arrives(known: LocalMap, target: Cell) -> Callable[[Pose], bool]:
    if known.can_stand(target):
        return lambda pose: pose[0] == target
    return lambda pose: _faced(pose) == target


def _faces(known: LocalMap, words: frozenset[str]) -> Callable[[Pose], bool]:
    return lambda pose: known.word(_faced(pose)) in words


def _stands_at(known: LocalMap, stations: list[str]) -> Callable[[Pose], bool]:
    def is_there(pose: Pose) -> bool:
        x, z = pose[0]
        around = {known.tiles.get((x + across, z + down)) for across in (-1, 0, 1) for down in (-1, 0, 1)}
        return all(station in around for station in stations)

    return is_there


# --- what the state says


def _count(state: Json, achievement: str) -> int:
    return int(state["achievements"].get(achievement, 0))


def _missing(state: Json, needs: dict[str, int]) -> str:
    lacking = {item: count for item, count in needs.items() if state["inventory"].get(item, 0) < count}
    return " and ".join(f"{count} {item}, has {state['inventory'].get(item, 0)}" for item, count in lacking.items())


def _around(known: LocalMap) -> str:
    words = sorted({*known.tiles.values(), *known.things.values()})
    return f"seen {', '.join(words)}"


ATOMS: tuple[Atom, ...] = tuple(atom(function) for function in (go_to, face, collect, place, make))
