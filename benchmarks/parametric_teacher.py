"""A scripted slow model that teaches in Crafter: it writes procedures, fails at times, and corrects itself.

It is no language model. Where its goal is in reach of the view it calls a procedure of atoms for it, which it wrote;
else the scripted player of Crafter explores. It forgets the table in two of five times, so there are failures with
corrections.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from scrubjay.errors import Conflict
from scrubjay.memory.jsonio import Json
from scrubjay.models.contract import Entry, Plan, Turn
from scrubjay.models.scripted.crafter import CrafterPlayer

if TYPE_CHECKING:
    from scrubjay.public import Memory

_TOOLS = {
    "wood pickaxe": {"wood": 1}, "wood sword": {"wood": 1},
    "stone pickaxe": {"wood": 1, "stone": 1}, "stone sword": {"wood": 1, "stone": 1},
}  # fmt: skip
_TABLE = 2  # wood that a table costs


def goal_of(turn: Turn) -> str | None:
    """What the state calls for, and the view has room for; None: explore."""
    state = turn.state
    carried, seen = state["inventory"], {word for line in state["view"] for word in line.split()}
    if state["sleeping"]:
        return None
    for name, word, vital in (("collect drink", "water", "drink"), ("eat cow", "cow", "food")):
        if word in seen and state[vital] <= 6:
            return name
    if "zombie" in seen and state["health"] >= 5:
        return "defeat zombie"
    for tool, needs in _TOOLS.items():
        short = any(carried.get(item, 0) < count for item, count in needs.items())
        has_table = "table" in seen or carried.get("wood", 0) >= needs["wood"] + _TABLE
        if tool.replace(" ", "_") not in carried and has_table and not short:
            return f"make {tool}"
    for item, word, tool, most in (
        ("iron", "iron", "stone_pickaxe", 2), ("coal", "coal", "wood_pickaxe", 2),
        ("stone", "stone", "wood_pickaxe", 5), ("wood", "tree", "", 5),
    ):  # fmt: skip
        if word in seen and carried.get(item, 0) < most and (not tool or tool in carried):
            return f"collect {item}"
    if carried.get("stone", 0) >= 2 and "place_stone" not in turn.milestones:
        return "place stone"
    return None


def code_of(goal: str, state: Json, is_careful: bool) -> tuple[str, str]:
    """Name and code of a procedure for a goal; a careless one forgets that there must be a table."""
    verb, _, what = goal.partition(" ")
    item = what.replace(" ", "_")
    if verb == "make" and is_careful and not any("table" in line.split() for line in state["view"]):
        name = f"set_table_and_make_{item}"
        return name, f'def {name}():\n    place("table")\n    make("{item}")\n'
    name = goal.replace(" ", "_")
    atom = {"make": "make", "place": "place"}.get(verb, "collect")
    return name, f'def {name}():\n    {atom}("{item if item != "drink" else "water"}")\n'


class Teacher:
    """The slow model. After a failure it is careful; for what the atoms can't do it leaves the turn to the player."""

    name = "scripted teacher"

    def __init__(self, memory: Memory, seed: int = 0) -> None:
        self._memory, self._player, self._rng = memory, CrafterPlayer(), random.Random(seed)
        self._tried: tuple[str, int] | None = None
        self._failures: dict[str, int] = {}

    def decide(self, turn: Turn) -> Plan:
        """A procedure for the goal, or the player's plan."""
        self._judge(turn)
        goal = goal_of(turn)
        if goal is None or self._failures.get(goal, 0) >= 2:
            self._failures.clear()
            return self._player.decide(turn)
        is_careful = bool(self._failures.get(goal)) or self._rng.random() < 0.6
        name, code = code_of(goal, turn.state, is_careful)
        category = {"make": "craft", "place": "craft", "defeat": "combat"}.get(goal.split()[0], "gather")
        try:
            self._memory.procedures.create(name.replace("_", "-"), goal, code=code, category=category)
        except Conflict:
            pass
        self._tried = (goal, turn.step)
        return Plan((Entry(name, arguments={}),), goal)

    def _judge(self, turn: Turn) -> None:
        tried, self._tried = self._tried, None
        if tried is not None and turn.recent:
            row = turn.recent[-1]
            is_done = "inventory_changed" in row.tags or "milestone" in row.tags or turn.step > tried[1] + 1
            self._failures[tried[0]] = 0 if is_done else self._failures.get(tried[0], 0) + 1
