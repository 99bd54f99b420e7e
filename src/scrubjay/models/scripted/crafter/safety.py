"""Enemies, shelter, sleep."""

from __future__ import annotations

from scrubjay.models.scripted.crafter.moves import Move, act_on, walk
from scrubjay.models.scripted.crafter.paths import Route
from scrubjay.models.scripted.crafter.rules import DIRECTIONS, Cell, neighbours, shifted
from scrubjay.models.scripted.crafter.situation import Situation

__all__ = ["fight", "keep_sleeping", "rest", "shelter_to_rest"]

_FULL = 9
_NIGHT = 0.35  # of full daylight
_SLEEP_AT_ONCE = 10


def fight(now: Situation) -> Move | None:
    """Hits an enemy that is at me. One further away is left: walking on, I lose it; waiting for it gains nothing."""
    for enemy in now.enemies(1):
        return act_on(now, Route((), enemy, 1.0), f"fight the {now.things[enemy]}")
    return None


def keep_sleeping(now: Situation) -> Move | None:
    """Asleep, every action is sleep until the energy is back."""
    return Move(("sleep",) * _SLEEP_AT_ONCE, "sleep") if now.sleeping else None


def rest(now: Situation) -> Move | None:
    """Stays where nothing can come in, until energy and health are back or hunger or thirst call."""
    if not now.is_enclosed or _must_leave(now):
        return None
    if now.energy < _FULL - 1 or (now.energy < _FULL and not now.reached("wake_up")):
        return Move(("sleep",) * _SLEEP_AT_ONCE, "sleep in the shelter")
    if now.health < (_FULL if now.daylight < _NIGHT else _FULL - 2):
        return Move(("noop",) * 5, "recover in the shelter")
    return None


def _must_leave(now: Situation) -> bool:
    return min(now.food, now.drink) < 2


def shelter_to_rest(now: Situation) -> Move | None:
    """Digs in when tired, hurt, or for the first sleep."""
    if now.is_enclosed or _must_leave(now):
        return Move(("sleep",) * 3, "sleep hungry") if now.energy < 1 and not now.enemies(9) else None
    first_sleep = not now.reached("wake_up") and now.energy < _FULL
    night = now.daylight < _NIGHT and now.energy < 8
    fed = min(now.food, now.drink) > 3
    if now.energy < 3 or ((now.health < 4 or first_sleep or night) and fed):
        move = _dig_in(now)
        if move is not None:
            return move
    if now.energy < 1 and not now.enemies(9):
        return Move(("sleep",) * 3, "sleep in the open")
    return None


def _dig_in(now: Situation) -> Move | None:
    """Goes to a dead end of two cells, digs it where it is rock, and closes the way in with a stone."""
    if not now.has("wood_pickaxe"):
        return None
    route = now.paths.to(lambda cell: _direction_in(now, cell) is not None, within=40.0)
    if route is None:
        return None
    if route.cells:
        return walk(now, route, "go to where I can dig in")
    direction = _direction_in(now, now.here)
    assert direction is not None
    actions: list[str] = []
    into, back = (f"move_{DIRECTIONS[d]}" for d in (direction, (-direction[0], -direction[1])))
    facing = now.facing
    for depth in (1, 2):
        if not now.is_free(shifted(now.here, direction, depth)):
            actions += ([into] if facing != direction else []) + ["do"]
        actions.append(into)
        facing = direction
    return Move((*actions, back, "place_stone"), "dig in")


def _direction_in(now: Situation, outside: Cell) -> Cell | None:
    """From which side of a cell two more lead into a dead end; None where none does."""
    if not now.is_free(outside) and outside != now.here:
        return None
    for direction in DIRECTIONS:
        first, second = shifted(outside, direction), shifted(outside, direction, 2)
        if _is_room(now, first, {outside, second}) and _is_room(now, second, {first}):
            stones = now.has("stone") + (now.at(first) == "stone") + (now.at(second) == "stone")
            if stones:
                return direction
    return None


def _is_room(now: Situation, cell: Cell, open_sides: set[Cell]) -> bool:
    """A cell that I can stand in, closed on all sides but those."""
    usable = now.is_free(cell) or (now.at(cell) == "stone" and now.can_dig(cell))
    return usable and all(now.is_solid(side) for side in neighbours(cell) if side not in open_sides)
