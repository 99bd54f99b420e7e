"""From an aim to raw actions: walk a way, act on a cell, put something down. At most a few steps, so as to react."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from scrubjay.models.scripted.crafter.paths import Route
from scrubjay.models.scripted.crafter.rules import DIRECTIONS, WALKABLE, Cell, distance, shifted
from scrubjay.models.scripted.crafter.situation import Situation

__all__ = ["Move", "act_on", "act_on_nearest", "put", "walk"]

_CALM = 6  # actions at once where nothing is near
_WATCHED = 7  # tiles within which an enemy makes me look again after every action
_PUT_ON = {"plant": frozenset({"grass"}), "stone": frozenset({*WALKABLE, "water", "lava"})}


@dataclass(frozen=True, slots=True)
class Move:
    """Raw actions in order, and why."""

    actions: tuple[str, ...]
    intention: str


def walk(now: Situation, route: Route, intention: str) -> Move:
    """The first actions along a way: steps, and digging or bridging what is in the way."""
    return Move(tuple(_along(now, route)[: _at_once(now, route)]) or ("noop",), intention)


def _along(now: Situation, route: Route) -> list[str]:
    actions: list[str] = []
    here, facing = now.here, now.facing
    for cell in route.cells:
        direction = (cell[0] - here[0], cell[1] - here[1])
        move = f"move_{DIRECTIONS[direction]}"
        if not now.is_free(cell):
            if facing != direction:
                actions.append(move)
            if now.at(cell) == "water" and cell not in now.things:
                actions.append("place_stone")
            actions.append("do")
            if cell in now.things:
                return actions
        actions.append(move)
        here, facing = cell, direction
    return actions


def _at_once(now: Situation, route: Route) -> int:
    """How many actions may be taken before looking again."""
    if now.enemies(_WATCHED) or "arrow" in now.things.values():
        return 1
    for number, cell in enumerate(route.cells[:_CALM]):
        # A step that a creature blocked would turn the next one elsewhere: never with lava around.
        if any(now.at((cell[0] + i, cell[1] + j)) in ("lava", None) for i in (-1, 0, 1) for j in (-1, 0, 1)):
            return max(1, number)
        if any(thing == "cow" and distance(place, cell) <= 2 for place, thing in now.things.items()):
            return max(1, number)
    return _CALM


def act_on(now: Situation, route: Route, intention: str, action: str = "do") -> Move:
    """Walks up to a route's target and acts on it."""
    if route.cells:
        return walk(now, route, intention)
    direction = (route.target[0] - now.here[0], route.target[1] - now.here[1])
    if now.facing == direction:
        return Move((action,), intention)
    turn = f"move_{DIRECTIONS[direction]}"
    # Turning towards what stands still only turns; a creature may be gone, and then this walks.
    return Move((turn,) if route.target in now.things else (turn, action), intention)


def act_on_nearest(
    now: Situation, goal: Callable[[Cell], bool], intention: str, action: str = "do", within: float = 150.0
) -> Move | None:
    """Acts on the nearest cell that `goal` accepts, or walks there; None where none can be reached."""
    route = now.paths.next_to(lambda cell: goal(cell) and not now.is_avoided(cell), within)
    return None if route is None else act_on(now, route, intention, action)


def put(now: Situation, what: str, intention: str) -> Move | None:
    """Puts something down beside me: on the faced cell, or on one that a step or a dig away can be faced."""
    suits = _PUT_ON.get(what, WALKABLE)
    if now.at(now.front) in suits and now.front not in now.things:
        return Move((f"place_{what}",), intention)
    for direction, name in DIRECTIONS.items():
        beside, beyond = shifted(now.here, direction), shifted(now.here, direction, 2)
        if now.is_free(beside) and now.at(beyond) in suits and beyond not in now.things:
            return Move((f"move_{name}",), intention)
        if what != "plant" and now.can_dig(beside):
            turn = () if now.facing == direction else (f"move_{name}",)
            return Move((*turn, "do"), intention)
    return None
