"""The structured part of an observation of crafter: what the picture shows, in words, and nothing beyond it."""

from __future__ import annotations

from typing import Any

from crafter import constants

from scrubjay.environments.crafter.engine import Game
from scrubjay.memory.jsonio import Json

__all__ = ["EDGE", "PLAYER", "VITALS", "milestones_of", "state_of"]

VITALS = ("health", "food", "drink", "energy")
EDGE = "edge"
PLAYER = "player"
_YAW = {(1, 0): 0.0, (0, 1): 90.0, (-1, 0): 180.0, (0, -1): 270.0}


def state_of(game: Game) -> Json:
    """Position, vitals, inventory, achievements and the local view of this moment.

    `pos` is [x, 0, z]: the game's column, no height, the game's row. `facing` is the offset of the faced tile, `yaw`
    the same in degrees: 0 to the right (+x), 90 down (+z).
    `inventory` and `achievements` hold what is there at least once. `view` has 7 lines of 9 words: the creature on a
    tile, else its material, or `edge` beyond the world; the middle one is `player`.
    """
    player = game.player
    x, z = (int(value) for value in player.pos)
    facing = (int(player.facing[0]), int(player.facing[1]))
    return {
        "pos": [x, 0, z],
        "facing": [facing[0], 0, facing[1]],
        "yaw": _YAW[facing],
        **{name: int(player.inventory[name]) for name in VITALS},
        "inventory": {n: int(c) for n, c in player.inventory.items() if c and n not in VITALS},
        "daylight": round(game.daylight, 3),
        "sleeping": bool(player.sleeping),
        "achievements": {name: int(count) for name, count in player.achievements.items() if count},
        "view": _view(game, x, z),
    }


def milestones_of(game: Game) -> list[str]:
    """The achievements reached in this life, in the package's order."""
    return [name for name in constants.achievements if game.player.achievements[name]]


def _view(game: Game, x: int, z: int) -> list[str]:
    width, height = game.view_size
    columns = range(x - width // 2, x + width // 2 + 1)
    rows = range(z - height // 2, z + height // 2 + 1)
    return [" ".join(_word(*game.at(column, row)) for column in columns) for row in rows]


def _word(material: str | None, thing: Any) -> str:
    if thing is None:
        return material or EDGE
    kind = type(thing).__name__.lower()
    return "ripe_plant" if kind == "plant" and thing.ripe else kind
