"""Plans of earlier turns and how they went: what memories of plans, lessons and recipes are made from.

It reads the rows of turns and the episodes they name, of every life, and judges nothing that the environment did not
verify: a plan that worked is one in which a milestone was reached.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scrubjay.memory import journal
from scrubjay.memory.records import Row
from scrubjay.models.contract import Turn
from scrubjay.retrieval.query import ALL_LIVES, Query

if TYPE_CHECKING:
    from scrubjay.public import Memory

__all__ = ["PastPlan", "Recipe", "goal_of", "past_plans", "recipes"]

_CHANGED = re.compile(r"\binv (\{[^}]*\})")


@dataclass(frozen=True, slots=True)
class PastPlan:
    """One plan: its entries as text, the intention, its episodes, the milestones reached, whether the life ended."""

    life: int
    turn: int
    intention: str
    actions: str
    episodes: tuple[str, ...]
    milestones: tuple[str, ...]

    def line(self) -> str:
        """`reached place_table: collect wood: do x3, place_table [ep_000012]`"""
        what = f"reached {', '.join(self.milestones)}" if self.milestones else "reached nothing"
        cited = f" [{self.episodes[-1]}]" if self.episodes else ""
        return f"{what}: {self.intention or 'no intention'}: {self.actions}{cited}"


@dataclass(frozen=True, slots=True)
class Recipe:
    """What reaching a milestone took of the things carried, as the environment showed it, and where."""

    milestone: str
    took: tuple[tuple[str, float], ...]
    episode: str

    def line(self) -> str:
        """`make_stone_pickaxe took wood 1, stone 1 [ep_000040]`"""
        took = ", ".join(f"{item} {count:g}" for item, count in self.took) or "nothing carried"
        return f"{self.milestone} took {took} [{self.episode}]"


def goal_of(turn: Turn) -> str:
    """What is to be reached next: the task, and the first milestone not yet reached in this life."""
    unmet = next((name for name in turn.known_milestones if name not in turn.milestones), "")
    return f"{unmet} {turn.task}".strip()


def past_plans(memory: Memory) -> Iterator[PastPlan]:
    """Every plan of every life, oldest first."""
    for life in memory.lives():
        for row in journal.rows(memory.layout.turns(life.life)):
            if isinstance(row.get("entries"), list):
                yield PastPlan(
                    life.life,
                    int(row.get("turn") or 0),
                    str(row.get("intention") or ""),
                    ", ".join(map(_entry, row["entries"])),
                    tuple(row.get("episodes") or ()),
                    tuple(row.get("milestones") or ()),
                )


def _entry(entry: Any) -> str:
    """`do x3` for `["do", 3]`, `go_to(x=3, z=4)` for `["go_to", 1, {"x": 3, "z": 4}]`."""
    if not isinstance(entry, list) or not entry:
        return str(entry)
    if len(entry) > 2 and isinstance(entry[2], dict):
        return f"{entry[0]}({', '.join(f'{name}={value}' for name, value in entry[2].items())})"
    repeat = f" x{entry[1]}" if len(entry) > 1 and entry[1] not in (None, 1) else ""
    return f"{entry[0]}{repeat}"


def recipes(memory: Memory, world: str | None = None) -> dict[str, Recipe]:
    """The first recipe seen of each milestone: what the episode that reached it took."""
    found: dict[str, Recipe] = {}
    for row in memory.iterate(Query(tag="milestone", life=ALL_LIVES, world=world)):
        for event in row.events:
            name = event.removeprefix("milestone ")
            if name != event and name not in found:
                found[name] = Recipe(name, _took(row), row.id)
    return found


def _took(row: Row) -> tuple[tuple[str, float], ...]:
    shown = _CHANGED.search(row.summary)
    try:
        changes = ast.literal_eval(shown[1]) if shown else {}
    except (ValueError, SyntaxError):
        return ()
    return tuple((str(item), -change) for item, change in changes.items() if change < 0)
