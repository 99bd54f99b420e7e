"""The evaluator's view of a life, kept beside its episodes and never among them.

An episode's events are searched by the agent that lives; these rows are written when its life has ended, into a file
that no tool of a model reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from scrubjay.environments.contract import Environment
from scrubjay.environments.tasked import Tasked
from scrubjay.memory import journal
from scrubjay.memory.jsonio import Json

if TYPE_CHECKING:
    from scrubjay.memory.lives import Life
    from scrubjay.public import Memory

__all__ = ["evaluated", "evaluations"]


@contextmanager
def evaluated(environment: Environment, life: Life) -> Iterator[None]:
    """Judges the life when it is left, however that happens, and keeps what the evaluator noted."""
    try:
        yield
    finally:
        if isinstance(environment, Tasked):
            environment.end_life(None)
            path = life.layout.evaluation(life.number)
            journal.append(path, life.layout.lock_of(path), environment.evaluation())


def evaluations(memory: Memory) -> dict[int, list[Json]]:
    """The rows of every life that has any, by its number."""
    rows = {life.life: list(journal.rows(memory.layout.evaluation(life.life))) for life in memory.lives()}
    return {life: found for life, found in rows.items() if found}
