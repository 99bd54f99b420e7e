"""The shape of a recorded memory: which counts of the counting environment each episode's stored frames show."""

from __future__ import annotations

from scrubjay import Memory, Row
from scrubjay.memory import journal
from scrubjay.testing.counting import count_in

__all__ = ["rows_of", "shape_of"]


def rows_of(memory: Memory) -> list[Row]:
    """Every row of the index, of all lives, in the order of the file."""
    return [Row.from_json(row) for row in journal.rows(memory.layout.index)]


def shape_of(memory: Memory) -> list[tuple[int, str | None, list[int]]]:
    """(life, action kind, counts that its stored frames show) of every episode, in the order of ids."""
    episodes = [memory.episode(row) for row in sorted(rows_of(memory), key=lambda row: row.number)]
    return [
        (e.row.life, e.row.action_kind, [count_in(e.frame(step.step).array())[0] for step in e.steps()])
        for e in episodes
    ]
