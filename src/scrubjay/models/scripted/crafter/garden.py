"""The sapling: find one, plant it, fence it in, and eat it when ripe."""

from __future__ import annotations

from dataclasses import replace

from scrubjay.models.scripted.crafter.moves import Move, act_on_nearest, put, walk
from scrubjay.models.scripted.crafter.rules import DIRECTIONS, Cell, distance, neighbours, shifted
from scrubjay.models.scripted.crafter.situation import Situation
from scrubjay.models.scripted.crafter.working import Plant

__all__ = ["find_sapling", "harvest", "plant", "protect", "watch"]

_GROWS_WITHIN = 17  # the game moves on only what is nearer than this
_RIPE = 300


def watch(now: Situation) -> None:
    """Keeps the working memory's account of the plant: where, how long it grew, or that it is gone."""
    known = now.working.plant
    if known is None:
        mine = [cell for cell, thing in now.things.items() if thing == "plant" and distance(cell, now.here) == 1]
        if mine:
            now.working.plant = Plant(mine[0], 0, now.step)
        return
    if now.at(known.cell) not in ("plant", None):
        now.working.plant = None
        return
    if now.things.get(known.cell) == "plant" and known.age(now.step) > _RIPE:
        known = now.working.plant = Plant(known.cell, _RIPE - 30, now.step)  # not yet: look again later
    is_near = distance(known.cell, now.here) <= _GROWS_WITHIN
    if is_near and known.since is None:
        now.working.plant = replace(known, since=now.step)
    elif not is_near and known.since is not None:
        now.working.plant = Plant(known.cell, known.age(now.step), None)


def find_sapling(now: Situation) -> Move | None:
    """Searches the grass in front of me: one time in ten it holds a sapling."""
    wanted = not now.reached("collect_sapling") or (not now.reached("eat_plant") and now.working.plant is None)
    if not wanted or now.has("sapling") or now.enemies(6):
        return None
    if now.at(now.front) == "grass" and now.front not in now.things:
        return Move(("do",) * 3, "look for a sapling")
    return None


def plant(now: Situation) -> Move | None:
    """Plants a sapling where I am, or at the next meadow."""
    if not now.has("sapling") or now.working.plant is not None:
        return None
    if now.reached("place_plant") and now.reached("eat_plant"):
        return None
    return put(now, "plant", "plant the sapling") or act_on_nearest(
        now, lambda cell: now.at(cell) == "grass" and cell not in now.things, "plant the sapling", "place_plant", 20.0
    )


def protect(now: Situation) -> Move | None:
    """Closes the sides of the plant with stones, so that no cow and no zombie tramples it."""
    mine = now.working.plant
    if mine is None or now.reached("eat_plant") or not now.has("stone"):
        return None
    gaps = [side for side in neighbours(mine.cell) if not now.is_solid(side)]
    if not gaps or now.has("stone") < len(gaps) or distance(mine.cell, now.here) > 25:
        return None
    if now.front in gaps and now.front not in now.things:
        return Move(("place_stone",), "fence the plant")
    return _face_a_gap(now, gaps)


def _face_a_gap(now: Situation, gaps: list[Cell]) -> Move | None:
    """A free cell is faced only by stepping towards it: so from two cells away, one step."""
    starts: dict[Cell, str] = {}
    for gap in gaps:
        for direction, name in DIRECTIONS.items():
            before, start = shifted(gap, direction, -1), shifted(gap, direction, -2)
            if now.is_free(gap) and (now.is_free(before) or before == now.here):
                starts[start] = f"move_{name}"
    if now.here in starts:
        return Move((starts[now.here],), "fence the plant")
    route = now.paths.to(lambda cell: cell in starts, within=40.0)
    return None if route is None else walk(now, route, "fence the plant")


def harvest(now: Situation) -> Move | None:
    """Eats the plant when it shows ripe; comes back to it when it should be."""
    mine = now.working.plant
    if mine is None or (now.reached("eat_plant") and now.food > 5):
        return None
    if now.things.get(mine.cell) == "ripe_plant":
        return act_on_nearest(now, lambda cell: cell == mine.cell, "eat the plant")
    if mine.age(now.step) > _RIPE and mine.cell not in now.things:
        return act_on_nearest(now, lambda cell: cell == mine.cell, "go back to the plant")
    return None
