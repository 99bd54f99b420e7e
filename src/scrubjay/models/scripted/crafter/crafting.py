"""Tools and what they are made of."""

from __future__ import annotations

from functools import partial

from scrubjay.models.scripted.crafter.exploring import MEADOW, ROCK, explore
from scrubjay.models.scripted.crafter.moves import Move, act_on_nearest, put, walk
from scrubjay.models.scripted.crafter.rules import COSTS, MAKE, Cell
from scrubjay.models.scripted.crafter.situation import Situation

__all__ = ["craft", "first_stone", "gather", "hunt", "search"]

_TOOLS = ("wood_pickaxe", "wood_sword", "stone_pickaxe", "stone_sword", "iron_pickaxe", "iron_sword")
_FAR = 25.0  # a station further away is built anew where I can pay for it
_MOST = 9


def _missing(now: Situation) -> list[str]:
    """Tools still to be made: those to dig with, and those that are still a milestone."""
    done = set()
    if now.reached("make_iron_sword"):
        done.add("iron_sword")
    if now.reached("make_iron_pickaxe") and now.reached("collect_diamond"):
        done.add("iron_pickaxe")
    return [tool for tool in _TOOLS if not now.has(tool) and tool not in done]


def craft(now: Situation) -> Move | None:
    """Makes the first tool that I can pay for, at stations that I find or build."""
    for tool in _missing(now):
        costs, stations = MAKE[tool]
        if now.can_pay(costs):
            move = _at_stations(now, tool, stations)
            if move is not None:
                return move
    return None


def _at_stations(now: Situation, tool: str, stations: tuple[str, ...]) -> Move | None:
    away = [station for station in stations if not now.near(station)]
    if not away:
        return Move((f"make_{tool}",), f"make a {tool}")
    station = away[0]
    spare = {name: MAKE[tool][0].get(name, 0) for name in ("wood", "stone")}
    payable = all(now.has(item) - spare.get(item, 0) >= count for item, count in COSTS[station].items())
    route = now.paths.to(lambda cell: _is_next_to(now, cell, station))
    if route is not None and (route.cost <= _FAR or not payable) and (len(away) == len(stations) or not payable):
        return walk(now, route, f"go to the {station}")
    return put(now, station, f"place a {station}") if payable else None


def _is_next_to(now: Situation, cell: Cell, station: str) -> bool:
    return any(now.at((cell[0] + x, cell[1] + z)) == station for x in (-1, 0, 1) for z in (-1, 0, 1))


def first_stone(now: Situation) -> Move | None:
    """Puts one stone down, for the milestone."""
    if now.reached("place_stone") or not now.has("stone"):
        return None
    return put(now, "stone", "place a stone")


def gather(now: Situation) -> Move | None:
    """Collects what the missing tools need, the nearest kind of it first where the way is short."""
    for material, item, count in _wanted(now):
        if now.has(item) < count:
            move = act_on_nearest(now, partial(_is_loose, now, material), f"collect {item}")
            if move is not None:
                return move
    return None


def _is_loose(now: Situation, material: str, cell: Cell) -> bool:
    is_it = now.at(cell) == material and cell not in now.things
    return is_it and now.can_dig(cell) and not now.is_fence(cell)


def _wanted(now: Situation) -> list[tuple[str, str, int]]:
    """Material, item, and how many to have, most urgent first."""
    missing = _missing(now)
    totals = {"wood": 0, "stone": 0, "coal": 0, "iron": 0}
    for tool in missing:
        for item, count in MAKE[tool][0].items():
            totals[item] += count
    early = "wood_pickaxe" in missing or "stone_pickaxe" in missing
    wood = totals["wood"] + (COSTS["table"]["wood"] if missing else 0)
    stone = COSTS["furnace"]["stone"] + totals["stone"] + 1
    wanted = []
    if early:
        here = 0 if now.near("table") else COSTS["table"]["wood"]
        wanted.append(("tree", "wood", min(_MOST, sum(1 for t in missing if "iron" not in t) + here)))
    if not now.reached("collect_diamond"):
        wanted.append(("diamond", "diamond", 1))
    wanted += [
        ("stone", "stone", min(_MOST, stone)),
        ("iron", "iron", totals["iron"]),
        ("coal", "coal", max(totals["coal"], 0 if now.reached("collect_coal") else 1)),
        ("tree", "wood", min(_MOST, wood)),
    ]
    return wanted


def hunt(now: Situation) -> Move | None:
    """Seeks the enemies whose defeat is still a milestone, when I am strong."""
    if now.health < 6:
        return None
    prey = [enemy for enemy in ("zombie", "skeleton") if not now.reached(f"defeat_{enemy}")]
    if not now.has("stone_sword"):
        prey = [enemy for enemy in prey if enemy == "zombie" and now.has("wood_sword")]
    return act_on_nearest(now, lambda cell: now.things.get(cell) in prey, "hunt", within=20.0)


def search(now: Situation) -> Move:
    """Explores: mountains once I can dig."""
    return explore(now, "search", ROCK if now.has("wood_pickaxe") else MEADOW)
