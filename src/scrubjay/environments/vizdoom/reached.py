"""Milestones of a life in a map: verified by what the game counts, carries or announces.

It knows moments of the game in their order; the player's state in words it does not know.
"""

from __future__ import annotations

import math
import re

from scrubjay.environments.vizdoom.engine import Moment
from scrubjay.environments.vizdoom.things import Contents

__all__ = ["CELL", "WEAPONS", "Reached", "milestones"]

CELL = 64.0  # map units; Doom's floors are drawn on a grid of this size
_EXPLORED = (25, 100, 250)
_MANY = 10
# Slots of weapons. The first holds fists, and the chainsaw as a second.
WEAPONS = {2: "pistol", 3: "shotgun", 4: "chaingun", 5: "rocket_launcher", 6: "plasma_gun", 7: "bfg"}
_KEY = re.compile(r"(blue|red|yellow) (?:passcard|skeleton key) secured", re.IGNORECASE)
_AMMO = ("AMMO2", "AMMO3", "AMMO5", "AMMO6")


def milestones(holds: Contents) -> tuple[str, ...]:
    """What can be reached in a map that holds this."""
    return (
        "pick_up",
        *(["armor"] if holds.has_armor else []),
        *holds.weapons,
        "kill",
        f"kill_{_MANY}",
        *holds.keys,
        *(["secret"] if holds.has_secrets else []),
        *(f"explore_{count}" for count in _EXPLORED),
        "exit",
    )


class Reached:
    """What was reached in a life so far.

    `keys` are those carried, of which the game keeps no variable. `kills` are the player's own: the game counts
    monsters that kill each other as well, so those count that fell in a step in which the player did damage.
    """

    def __init__(self) -> None:
        self.keys: list[str] = []
        self.kills = 0
        self._names: set[str] = set()
        self._cells: set[tuple[int, int]] = set()
        self._before: dict[str, float] | None = None

    def observe(self, moment: Moment, has_ended: bool = False) -> None:
        """The next moment of the life; `has_ended` by death or by the exit."""
        now, before = moment.variables, self._before or moment.variables
        self._before = now
        self._cells.add((math.floor(now["POSITION_X"] / CELL), math.floor(now["POSITION_Y"] / CELL)))
        for message in moment.messages:
            self.keys += [f"{found[1].lower()}_key" for found in _KEY.finditer(message)]
        self.keys = list(dict.fromkeys(self.keys))
        if now["DAMAGECOUNT"] > before["DAMAGECOUNT"]:
            self.kills += int(now["KILLCOUNT"] - before["KILLCOUNT"])
        gains = ("HEALTH", "ARMOR", "ITEMCOUNT", *_AMMO, *(f"WEAPON{slot}" for slot in range(1, 8)))
        tests = {
            "pick_up": bool(self.keys) or any(now[name] > before[name] for name in gains),
            "armor": now["ARMOR"] > 0,
            "chainsaw": now["WEAPON1"] > 1,
            **{name: now[f"WEAPON{slot}"] > 0 for slot, name in WEAPONS.items()},
            "kill": self.kills > 0,
            f"kill_{_MANY}": self.kills >= _MANY,
            **dict.fromkeys(self.keys, True),
            "secret": now["SECRETCOUNT"] > 0,
            **{f"explore_{count}": len(self._cells) >= count for count in _EXPLORED},
            "exit": has_ended and not now["DEAD"],
        }
        self._names |= {name for name, holds in tests.items() if holds}

    def among(self, known: tuple[str, ...]) -> list[str]:
        """Those of `known` that were reached, in its order."""
        return [name for name in known if name in self._names]
