"""What the player knows at one turn: what it sees, what its documents say, and what follows from both."""

from __future__ import annotations

from functools import cached_property

from scrubjay.models.contract import Turn
from scrubjay.models.scripted.crafter.chart import Chart
from scrubjay.models.scripted.crafter.notes import Notes
from scrubjay.models.scripted.crafter.paths import Paths
from scrubjay.models.scripted.crafter.rules import (
    ENEMIES,
    TOOL_FOR,
    WALKABLE,
    Cell,
    distance,
    neighbours,
    shifted,
)  # fmt: skip
from scrubjay.models.scripted.crafter.working import Working

__all__ = ["Situation"]

_CREATURES = frozenset({"cow", "zombie", "skeleton", "arrow", "plant", "ripe_plant"})
_DANGEROUS_DEATHS = 3  # tiles around a place of death that are walked only where it pays
_STONES_TO_BRIDGE = 3


class Situation:
    """One turn, as the rules of the player ask for it."""

    def __init__(self, turn: Turn, chart: Chart, working: Working, notes: Notes) -> None:
        state = turn.state
        self.turn = turn
        self.step = turn.step
        self.chart = chart
        self.working = working
        self.notes = notes
        self.here: Cell = (int(state["pos"][0]), int(state["pos"][2]))
        self.facing: Cell = (int(state["facing"][0]), int(state["facing"][2]))
        self.health, self.food = int(state["health"]), int(state["food"])
        self.drink, self.energy = int(state["drink"]), int(state["energy"])
        self.sleeping = bool(state["sleeping"])
        self.daylight = float(state["daylight"])
        self.things: dict[Cell, str] = {}
        self._look(state["view"])

    def _look(self, view: list[str]) -> None:
        """Puts the view on the chart: materials there, creatures in `things`."""
        words = [row.split() for row in view]
        left, top = self.here[0] - len(words[0]) // 2, self.here[1] - len(words) // 2
        seen: list[tuple[Cell, str | None]] = []
        for z, row in enumerate(words, top):
            for x, word in enumerate(row, left):
                if word in _CREATURES:
                    self.things[(x, z)] = word
                is_plant = word in ("plant", "ripe_plant")
                hidden = word in _CREATURES or word == "player"
                seen.append(((x, z), "plant" if is_plant else None if hidden else word))
        self.chart.see(seen)

    # --- what I have

    def has(self, item: str) -> int:
        """How many of an item I carry."""
        return int(self.turn.state["inventory"].get(item, 0))

    def can_pay(self, costs: dict[str, int]) -> bool:
        """True where I carry all of this."""
        return all(self.has(item) >= count for item, count in costs.items())

    def reached(self, milestone: str) -> bool:
        """True where it was reached, in this life or an earlier one that the notes tell of."""
        return milestone in self.turn.milestones or milestone in self.notes.reached

    # --- what is where

    @property
    def front(self) -> Cell:
        """The faced cell."""
        return shifted(self.here, self.facing)

    def at(self, cell: Cell) -> str | None:
        """The material of a cell, as seen or charted."""
        return self.chart.at(cell)

    def is_free(self, cell: Cell) -> bool:
        """True where I could walk in at once."""
        return self.at(cell) in WALKABLE and cell not in self.things

    def is_solid(self, cell: Cell) -> bool:
        """True where no creature can walk."""
        material = self.at(cell)
        return material is not None and material not in WALKABLE

    def can_dig(self, cell: Cell) -> bool:
        """True where `do` takes the material away."""
        material = self.at(cell)
        if material not in TOOL_FOR:
            return False
        tool = TOOL_FOR[material]
        return tool is None or self.has(tool) > 0

    def is_fence(self, cell: Cell) -> bool:
        """True for the sides of my plant."""
        return self.working.plant is not None and distance(cell, self.working.plant.cell) == 1

    def near(self, material: str) -> bool:
        """True where it lies within the 3 x 3 tiles around me: what crafting asks for."""
        x, z = self.here
        return any(self.at((x + i, z + j)) == material for i in (-1, 0, 1) for j in (-1, 0, 1))

    def enemies(self, within: int) -> list[Cell]:
        """Cells of zombies and skeletons in view, nearest first."""
        found = [
            cell for cell, thing in self.things.items() if thing in ENEMIES and distance(cell, self.here) <= within
        ]
        return sorted(found, key=lambda cell: (distance(cell, self.here), cell))

    def is_avoided(self, cell: Cell) -> bool:
        """True for a target that led nowhere lately."""
        return self.working.avoid.get(cell, -1) > self.step

    @cached_property
    def is_enclosed(self) -> bool:
        """True where nothing can walk to me: at most four cells hang together around me."""
        waiting, inside = [self.here], {self.here}
        while waiting:
            for cell in neighbours(waiting.pop()):
                if cell not in inside and not self.is_solid(cell):
                    inside.add(cell)
                    waiting.append(cell)
            if len(inside) > 4:
                return False
        return not any(cell in self.things for cell in inside)

    # --- ways

    @cached_property
    def paths(self) -> Paths:
        """The ways from here."""
        return Paths(self.here, self.cost)

    def cost(self, cell: Cell) -> float | None:
        """What entering a cell costs in steps and danger; None where I can't."""
        thing = self.things.get(cell)
        if thing is not None:
            return {"cow": 6.0, "arrow": 3.0, "zombie": 9.0, "skeleton": 9.0}.get(thing)
        material = self.at(cell)
        if material in WALKABLE:
            at_night = 1.5 * (1.0 - self.daylight) if material == "grass" else 0.0  # where zombies come from
            return 1.0 + at_night + self._danger(cell)
        if self.can_dig(cell):
            return 2.5 + self._danger(cell) + (20.0 if self.is_fence(cell) else 0.0)
        if material == "water" and self.has("stone") > _STONES_TO_BRIDGE and self.has("wood_pickaxe"):
            return 8.0
        return None

    def _danger(self, cell: Cell) -> float:
        danger = 2.0 * sum(distance(place, cell) <= 3 for place, thing in self.things.items() if thing == "skeleton")
        danger += sum(2.0 for place in self.notes.deaths if distance(place, cell) <= _DANGEROUS_DEATHS)
        if any(self.at(beyond) == "lava" for beyond in neighbours(cell)):
            danger += 4.0
        return danger
