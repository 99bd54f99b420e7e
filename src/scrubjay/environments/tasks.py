"""Named tasks: what an agent is told, in which environment, for how long, and which milestone is the goal.

In each of them one thing of a memory must matter, and each has a control in which it need not. They know names of
environments and nothing of how those are made.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from scrubjay.errors import InvalidInput
from scrubjay.memory.jsonio import Json

__all__ = ["TASKS", "NamedTask", "named_task"]


@dataclass(frozen=True, slots=True)
class NamedTask:
    """A task. `goal` is the milestone that counts, `tests` what of a memory it asks for."""

    name: str
    environment: str
    text: str
    goal: str
    steps: int
    tests: str
    lives: int | None = None
    arguments: Json = field(default_factory=dict)


_DIG = "Make an iron pickaxe and collect the diamond that you see at the beginning."
_CROSS = "Collect the diamond that you see at the beginning."
_AGAIN = "Find out where the diamond is. The next life, in the same world, has the pickaxe to collect it."
_ORE = (
    "Touch the three ores of the first room; one kind is good, and a milestone tells. Then touch an ore of that kind "
    "in the second room. The first touch there counts and ends the life. The state calls all of them ore: look."
)


def _crafter(name: str, text: str, goal: str, steps: int, tests: str, lives: int = 1, **more: object) -> NamedTask:
    return NamedTask(name, "crafter", text, goal, steps, tests, lives, {"layout": name, **more})


_ALL = (
    _crafter("far-resource", _DIG, "collect_diamond", 400, "where something was seen once, long before it is needed"),
    _crafter("far-resource-control", _DIG, "collect_diamond", 100, "nothing: all of it stays in view"),
    _crafter("blocked-way", _CROSS, "collect_diamond", 300, "which ways were found to lead nowhere"),
    _crafter("blocked-way-control", _CROSS, "collect_diamond", 100, "nothing: the way is open"),
    _crafter(
        "second-life", _AGAIN, "collect_diamond", 400, "what an earlier life of this world saw", 2, length=[150, 250]
    ),
    _crafter("second-life-control", _AGAIN, "collect_diamond", 120, "nothing: it is in view", 2, length=[20, 100]),
    _crafter("look-alikes", _ORE, "choose_good_ore", 100, "how something looked that words do not tell apart"),
    _crafter("look-alikes-control", _ORE, "choose_good_ore", 100, "nothing: the first one is right"),
)
TASKS = {task.name: task for task in _ALL}


def named_task(name: str) -> NamedTask:
    """The task of this name. Raises InvalidInput, saying what there is."""
    if name not in TASKS:
        raise InvalidInput(f"{name!r} is no task; there are {', '.join(TASKS)}")
    return TASKS[name]
