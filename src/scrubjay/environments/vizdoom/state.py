"""The structured part of an observation of VizDoom: what the picture shows, in words and numbers, nothing hidden."""

from __future__ import annotations

import math

from scrubjay.environments.vizdoom.engine import Moment, Thing
from scrubjay.environments.vizdoom.reached import WEAPONS, Reached
from scrubjay.memory.jsonio import Json

__all__ = ["state_of"]

_MOST = 20
_PASSING = ("Self", "Gibs")  # the player itself, blood
_AMMO = {"AMMO2": "bullets", "AMMO3": "shells", "AMMO5": "rockets", "AMMO6": "cells"}


def state_of(moment: Moment, reached: Reached) -> Json:
    """Pose, vitals, inventory and what is in view at a moment.

    `pos` is [x, y, z] in map units, z up; `yaw` degrees, 0 along +x (east), 90 along +y (north); `facing` the same as
    a vector. `nearby` lists the visible things, nearest first, at most 20 (`nearby_left_out` counts the others): name,
    kind, distance over the ground, bearing (degrees to turn until it is straight ahead, left positive) and `pos`.
    `messages` are the lines that the game wrote during the action.
    """
    values = moment.variables
    x, y, z = (round(values[f"POSITION_{axis}"], 2) for axis in "XYZ")
    yaw = values["ANGLE"] % 360
    things = [thing for thing in moment.things if thing.category not in _PASSING]
    seen = sorted((_seen(thing, (x, y), yaw) for thing in things), key=lambda one: (one["distance"], one["name"]))
    return {
        "pos": [x, y, z],
        "yaw": round(yaw, 2),
        "facing": [round(math.cos(math.radians(yaw)), 4), round(math.sin(math.radians(yaw)), 4), 0.0],
        "health": max(0, int(values["HEALTH"])),
        "armor": int(values["ARMOR"]),
        "weapon": WEAPONS.get(int(values["SELECTED_WEAPON"]), "fist"),
        "ammo": int(values["SELECTED_WEAPON_AMMO"]),
        "inventory": _inventory(values, reached.keys),
        "kills": reached.kills,
        "dead": bool(values["DEAD"]),
        "nearby": seen[:_MOST],
        **({"nearby_left_out": len(seen) - _MOST} if len(seen) > _MOST else {}),
        "messages": list(moment.messages),
    }


def _inventory(values: dict[str, float], keys: list[str]) -> Json:
    counts = {
        "chainsaw": int(values["WEAPON1"]) - 1,
        **{name: int(values[f"WEAPON{slot}"]) for slot, name in WEAPONS.items()},
        **{name: int(values[variable]) for variable, name in _AMMO.items()},
        **dict.fromkeys(keys, 1),
    }
    return {name: count for name, count in counts.items() if count > 0}


def _seen(thing: Thing, position: tuple[float, float], yaw: float) -> Json:
    across, ahead = thing.position[0] - position[0], thing.position[1] - position[1]
    bearing = (math.degrees(math.atan2(ahead, across)) - yaw + 180) % 360 - 180
    return {
        "name": thing.name,
        "kind": thing.category.lower() or "thing",
        "distance": round(math.hypot(across, ahead), 1),
        "bearing": round(bearing, 1),
        "pos": [round(value, 1) for value in thing.position],
    }
