"""A world of one dimension for tests: walk right for milestones, left into what hurts; quick, and without chance."""

from __future__ import annotations

import signal
from typing import Any

import numpy as np

from scrubjay import World
from scrubjay.memory.jsonio import Json
from scrubjay.models.contract import Entry, Plan, Turn


class Corridor:
    """Cells from -3 on. Cell -2 hurts, cell -3 kills; cells 3 and 6 are milestones. A life has at most 50 steps."""

    actions = ("left", "right", "wait")
    milestones = ("three", "six")

    def __init__(self) -> None:
        self.world = World("corridor-0")
        self.resets: list[dict[str, Any]] = []
        self._x = self._steps = 0
        self._health = 3
        self._reached: list[str] = []

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Json]:
        self.world = World(f"corridor-{seed}")
        self.resets.append({"seed": seed, **(options or {})})
        self._x, self._steps, self._health, self._reached = 0, 0, 3, []
        return self.render(), self._info()

    def step(self, action: int) -> tuple[Any, float, bool, bool, Json]:
        self._x += (-1, 1, 0)[action]
        self._steps += 1
        self._health -= 1 if self._x == -2 else 3 if self._x == -3 else 0
        for name, place in (("three", 3), ("six", 6)):
            if self._x == place and name not in self._reached:
                self._reached.append(name)
        return self.render(), 0.5, self._health <= 0, self._steps >= 50, self._info()

    def render(self) -> Any:
        return np.full((4, 6, 3), self._x % 256, np.uint8)

    def close(self) -> None:
        pass

    def _info(self) -> Json:
        state: Json = {"pos": [self._x, 0, 0], "health": self._health, "achievements": dict.fromkeys(self._reached, 1)}
        return {"state": state, "milestones": list(self._reached)}


class Always:
    """A model that hands in the same plan every turn, and notes the turns it was shown."""

    name = "always"

    def __init__(self, *entries: tuple[str, int]) -> None:
        self._plan = Plan(tuple(Entry(action, repeat) for action, repeat in entries), "as always")
        self.turns: list[Turn] = []

    def decide(self, turn: Turn) -> Plan:
        self.turns.append(turn)
        return self._plan


class Walker(Always):
    """Walks to the right."""

    def __init__(self) -> None:
        super().__init__(("right", 1))


class Rules(Walker):
    """Walks to the right, and is called scripted, as a player of rules is."""

    name = "scripted"


class Interrupting(Walker):
    """Walks to the right; after two turns somebody presses Ctrl-C."""

    def decide(self, turn: Turn) -> Plan:
        if turn.turn == 3:
            signal.raise_signal(signal.SIGINT)
        return super().decide(turn)
