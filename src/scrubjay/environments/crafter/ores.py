"""Ores that the state calls by one word, so that only a picture tells them apart, and what touching one means.

In the first room the good kind is told by a milestone when it is touched. In the second the first touch is the choice:
it reaches the other milestone or it does not, and the life ends.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from scrubjay.environments.crafter.engine import Game
from scrubjay.memory.jsonio import Json

__all__ = ["ORE", "ORE_MILESTONES", "Touching", "without_names"]

ORE = "ore"
ORE_MILESTONES = ("find_good_ore", "choose_good_ore")
_NAMES = frozenset({"coal", "iron", "diamond"})


@dataclass(slots=True)
class Touching:
    """What was reached by touching ores in one life."""

    reached: list[str] = field(default_factory=list)

    def touch(self, game: Game) -> bool:
        """Touches what the player faces; True where the life ends with it."""
        if game.layout is None:
            return False
        x, z = (int(a + b) for a, b in zip(game.player.pos, game.player.facing, strict=True))
        ore = game.layout.ores.get((x, z))
        if ore is None:
            return False
        milestone = ORE_MILESTONES[ore.room - 1]
        if ore.is_good and milestone not in self.reached:
            self.reached.append(milestone)
        return ore.room == 2


def without_names(state: Json, game: Game, reached: list[str]) -> Json:
    """A state that calls every ore an ore, and says in which room one is and what was reached by touching."""
    assert game.layout is not None
    here = state["pos"][0]
    first = min(cell[0] for cell, ore in game.layout.ores.items() if ore.room == 2)
    view = [" ".join(ORE if word in _NAMES else word for word in row.split()) for row in state["view"]]
    achievements = {**state["achievements"], **dict.fromkeys(reached, 1)}
    return {**state, "achievements": achievements, "view": view, "room": "first" if here < first - 4 else "second"}
