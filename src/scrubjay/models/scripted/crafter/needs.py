"""Water and food."""

from __future__ import annotations

from functools import partial

from scrubjay.models.scripted.crafter.exploring import MEADOW, SHORE, explore
from scrubjay.models.scripted.crafter.moves import Move, act_on, act_on_nearest, walk
from scrubjay.models.scripted.crafter.rules import Cell, distance
from scrubjay.models.scripted.crafter.situation import Situation
from scrubjay.retrieval.query import Query

__all__ = ["drink", "eat", "search_for_both"]

_FULL = 9
_VIEW = 4  # tiles: what was seen from nearer than this I would see now
_SIGHTINGS = 12
_GONE_FOR = 150  # steps


def drink(now: Situation) -> Move | None:
    """Goes to water when thirsty, and fills up where it is at hand."""
    within = 150.0 if now.drink < 4 else 3.0 if now.drink < 7 else 1.0
    if now.drink >= _FULL - 1 and now.reached("collect_drink"):
        return None
    route = now.paths.next_to(lambda cell: now.at(cell) == "water", within)
    if route is None:
        return None
    move = act_on(now, route, "drink")
    if route.cells:
        return move
    return Move((*move.actions, *["do"] * (_FULL - now.drink - 1)), move.intention)


def eat(now: Situation) -> Move | None:
    """Goes to a cow when hungry, and takes one on the way before that."""
    within = 150.0 if now.food < 5 else 10.0 if now.food < 7 or not now.reached("eat_cow") else 0.0
    return act_on_nearest(now, lambda cell: now.things.get(cell) == "cow", "eat", within=within)


def _to_where_cows_were(now: Situation) -> Move | None:
    """Asks the memory which episodes of this life had a cow in view, and goes to the newest that lies elsewhere."""
    query = Query(grep=" cow", life=now.turn.life, last=_SIGHTINGS)
    for row in reversed(now.turn.recall.find(query).rows):
        if row.end is None:
            continue
        place = (int(row.end[0]), int(row.end[2]))
        if distance(place, now.here) <= _VIEW:
            now.working.avoid[place] = now.step + _GONE_FOR
        if any(distance(place, avoided) <= _VIEW for avoided in now.working.avoid):
            continue
        route = now.paths.to(partial(_is_beside, place))
        if route is not None:
            return walk(now, route, f"look for a cow where {row.id} saw one")
    return None


def _is_beside(place: Cell, cell: Cell) -> bool:
    return distance(place, cell) <= 1


def search_for_both(now: Situation) -> Move | None:
    """Looks for water or cows when none is known and it is time."""
    if now.drink < 3:
        return explore(now, "find water", SHORE)
    if now.food < 3:
        return _to_where_cows_were(now) or explore(now, "find a cow", MEADOW)
    return None
