"""What looking back led to: retargets, recalls, and how far back a model looked (MFM paper, Figures 6 and 16, A.4).

Everything is counted from the rows of turns and the episodes they name. The coordinates of a turn are those in the
arguments of its plan, also of entries that were dropped; a row that keeps no arguments has those of what was executed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scrubjay.errors import NotFound
from scrubjay.memory import journal
from scrubjay.memory.jsonio import Json
from scrubjay.memory.layout import parse_reference
from scrubjay.memory.records import Row, is_number

if TYPE_CHECKING:
    from scrubjay.public import Memory

__all__ = ["WITHIN", "inspection_counts"]

Spot = tuple[float, float]
WITHIN = 8.0  # blocks on the ground


@dataclass(frozen=True, slots=True)
class _Looking:
    """One turn: whether it looked back, which coordinates its plan names that the plan before did not."""

    looked: tuple[Row, ...]
    new: frozenset[Spot]
    first_step: int
    life: int
    world: str | None
    episodes: tuple[str, ...]


def inspection_counts(memory: Memory) -> Json:
    """Counts over all turns of a memory.

    `table` is [[looked and retargeted, looked only], [retargeted only, neither]]: a turn retargets where its plan names
    a coordinate that the plan before did not. `recalls` of the turns that did both are those with such a coordinate
    within 8 blocks of an episode looked at; `chance` is the mean probability of that, had the same number of episodes
    been drawn from all that were stored of the world by then. `lags` are steps between the end of an episode and the
    turn that looked at it, for those of the same life; `earlier` counts looks at earlier lives.
    """
    table = [[0, 0], [0, 0]]
    recalls, chances, lags, earlier = 0, [], [], 0
    stored: list[Row] = []
    for turn in _turns(memory):
        table[not turn.looked][not turn.new] += 1
        for row in turn.looked:
            if row.life == turn.life:
                lags.append(max(0, turn.first_step - (row.last_step or 0)))
            else:
                earlier += 1
        if turn.looked and turn.new:
            near = [row for row in turn.looked if _is_near(memory, row, turn)]
            recalls += bool(near)
            of_world = [row for row in stored if row.world == turn.world and row.position is not None]
            share = sum(_is_near(memory, row, turn) for row in of_world) / len(of_world) if of_world else 0.0
            chances.append(1 - (1 - share) ** len(turn.looked))
        stored += [memory.episode(ident).row for ident in turn.episodes]
    chance = sum(chances) / len(chances) if chances else None
    return {"table": table, "recalls": recalls, "chance": chance, "lags": sorted(lags), "earlier": earlier}


def _turns(memory: Memory) -> Iterator[_Looking]:
    for life in memory.lives():
        before: frozenset[Spot] = frozenset()
        for row in journal.rows(memory.layout.turns(life.life)):
            if not isinstance(row.get("entries"), list):
                continue  # a consolidation
            episodes = tuple(row.get("episodes") or ())
            ground = [name for place, name in enumerate("xyz") if place in memory.world(life.world).ground]
            spots = frozenset(_planned(memory, row["entries"], episodes, ground))
            looked = tuple(_rows(memory, row.get("inspected") or ()))
            yield _Looking(looked, spots - before, row["first_step"], life.life, life.world, episodes)
            before = spots


def _planned(memory: Memory, entries: list[Any], episodes: Iterable[str], ground: list[str]) -> Iterator[Spot]:
    """The coordinates that a plan names; of the entries carried out where the row keeps no arguments."""
    given = [entry[2] for entry in entries if isinstance(entry, list) and len(entry) > 2]
    if not given:
        given = [memory.episode(ident).record.get("arguments") for ident in episodes]
    for arguments in given:
        if isinstance(arguments, dict):
            one, two = (arguments.get(name) for name in ground)
            if is_number(one) and is_number(two):
                yield (float(one), float(two))


def _rows(memory: Memory, references: Iterable[str]) -> Iterator[Row]:
    for reference in dict.fromkeys(parse_reference(one).episode for one in references):
        try:
            yield memory.episode(reference).row
        except NotFound:
            continue


def _is_near(memory: Memory, row: Row, turn: _Looking) -> bool:
    if row.position is None or row.world != turn.world:
        return False
    one, two = (row.position[axis] for axis in memory.world(row.world).ground)
    return any(math.hypot(one - x, two - z) <= WITHIN for x, z in turn.new)
