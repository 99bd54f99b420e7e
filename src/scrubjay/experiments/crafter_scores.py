"""What crafter's stored states say of a run's memory: whether what was seen before was found again.

Everything is computed from the recorded observations, for every method alike: what a player wrote or knew does not
count. Terrain is that of the world, so what was seen in an earlier life counts as seen; what a player built or dug
belongs to its life.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from scrubjay.memory.jsonio import Json
from scrubjay.retrieval.query import Query

if TYPE_CHECKING:
    from scrubjay.public import Memory

__all__ = ["AHEAD", "FAR", "Seen", "crafter_scores"]

Cell = tuple[int, int]
AHEAD = 10  # steps within which one who knows the way has come nearer
FAR = 10  # tiles: nearer than this it is no way to speak of
_THIRSTY = 3
_CREATURES = frozenset({"player", "cow", "zombie", "skeleton", "arrow", "plant", "ripe_plant", "edge"})
_TARGETS = ("coal", "iron", "diamond", "water")


@dataclass(frozen=True, slots=True)
class Seen:
    """One observation of a run: its life, and where its run stands."""

    life: int
    step: int
    state: Json

    @property
    def here(self) -> Cell:
        """The tile of the player."""
        return (int(self.state["pos"][0]), int(self.state["pos"][2]))


def crafter_scores(memory: Memory) -> Json:
    """`lost`, `out_of_view` (steps), `tables_again` (count) and `returns`: see `needs`."""
    observations = list(_observations(memory))
    return {**needs(observations), "tables_again": _tables_again(observations)}


def _observations(memory: Memory) -> Iterator[Seen]:
    """Every observation of every life once, steps counted through the run."""
    before = 0
    for life in memory.lives():
        last, known = 0, -1
        for row in memory.iterate(Query(life=life.life)):
            for step in memory.episode(row).steps():
                if step.step > known:  # an episode begins with the observation that ended the one before
                    known = last = step.step
                    yield Seen(life.life, before + step.step, step.state)
        before += last


@dataclass(slots=True)
class _Terrain:
    """What was seen where: `first` of the world, `now` where this life shows it otherwise."""

    first: dict[Cell, str] = field(default_factory=dict)
    now: dict[Cell, str] = field(default_factory=dict)
    cells: dict[str, set[Cell]] = field(default_factory=lambda: {name: set() for name in _TARGETS})

    def begin_life(self) -> None:
        """The world is as it was in the beginning."""
        self.now = {}
        for name in _TARGETS:
            self.cells[name] = {cell for cell, material in self.first.items() if material == name}

    def see(self, cell: Cell, material: str) -> None:
        """Takes over what a view shows."""
        before = self.now.get(cell) or self.first.get(cell)
        if material == before:
            return
        if before is None:
            self.first[cell] = material
        else:
            self.now[cell] = material
        if before in self.cells:
            self.cells[before].discard(cell)
        if material in self.cells:
            self.cells[material].add(cell)


def needs(observations: list[Seen]) -> Json:
    """In how many steps something needed had been seen before and was lost, and how returns to it went.

    Needed is coal or iron while none is carried, the tool for it is, and an iron tool is not yet made in the run; a
    diamond while none was collected and an iron pickaxe is carried; water at a level of 3 or less. `out_of_view`
    counts the steps, awake, in which something needed was seen before, in this life or an earlier one of this world,
    and is not in view. It is `lost` in those of them in which the next 10 steps of the life bring the player no nearer
    to any known place of it. `returns` holds, per target other than water, the first step of the run at which it was
    needed and known 10 tiles away or further, and the step at which it was next collected (None: never).
    """
    terrain, lost, out_of_view = _Terrain(), 0, 0
    returns: dict[str, dict[str, int | None]] = {}
    made: set[str] = set()
    carried: dict[str, int] = {}
    for place, seen in enumerate(observations):
        if place == 0 or observations[place - 1].life != seen.life:
            terrain.begin_life()
            carried = {}
        in_view = _look(terrain, seen)
        inventory: dict[str, int] = seen.state["inventory"]
        for name, step in returns.items():
            if step["to"] is None and inventory.get(name, 0) > carried.get(name, 0):
                step["to"] = seen.step
        carried = inventory
        made.update(seen.state["achievements"])
        known = [name for name in _needed(seen.state, made) if terrain.cells[name] and name not in in_view]
        for name in known:
            if name != "water" and name not in returns and _nearest(terrain.cells[name], seen.here) >= FAR:
                returns[name] = {"from": seen.step, "to": None}
        if known and not seen.state["sleeping"]:
            out_of_view += 1
            lost += all(_is_lost(observations, place, terrain.cells[name]) for name in known)
    return {"steps": len(observations), "lost": lost, "out_of_view": out_of_view, "returns": returns}


def _look(terrain: _Terrain, seen: Seen) -> set[str]:
    words = [row.split() for row in seen.state["view"]]
    left, top = seen.here[0] - len(words[0]) // 2, seen.here[1] - len(words) // 2
    in_view: set[str] = set()
    for z, row in enumerate(words, top):
        for x, word in enumerate(row, left):
            if word not in _CREATURES:
                in_view.add(word)
                terrain.see((x, z), word)
    return in_view


def _needed(state: dict[str, Any], made: set[str]) -> list[str]:
    inventory = state["inventory"]
    found = []
    if not {"make_iron_pickaxe", "make_iron_sword"} <= made:
        tools = (("coal", "wood_pickaxe"), ("iron", "stone_pickaxe"))
        found += [name for name, tool in tools if inventory.get(tool) and not inventory.get(name)]
    if "collect_diamond" not in made and inventory.get("iron_pickaxe"):
        found.append("diamond")
    if state["drink"] <= _THIRSTY:
        found.append("water")
    return found


def _nearest(cells: set[Cell], here: Cell) -> int:
    return min(abs(x - here[0]) + abs(z - here[1]) for x, z in cells)


def _is_lost(observations: list[Seen], place: int, cells: set[Cell]) -> bool:
    now = observations[place]
    distance = _nearest(cells, now.here)
    following = observations[place + 1 : place + 1 + AHEAD]
    return not any(one.life == now.life and _nearest(cells, one.here) < distance for one in following)


def _tables_again(observations: list[Seen]) -> int:
    """Tables placed in a life that had one already."""
    most: dict[int, int] = {}
    for seen in observations:
        placed = int(seen.state["achievements"].get("place_table", 0))
        most[seen.life] = max(most.get(seen.life, 0), placed)
    return sum(max(0, count - 1) for count in most.values())
