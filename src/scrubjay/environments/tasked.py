"""An environment with tasks of its own, judged by an evaluator whose view no agent is shown within the task.

It knows the contract alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from scrubjay.memory.jsonio import Json

__all__ = ["Tasked"]


@runtime_checkable
class Tasked(Protocol):
    """What such an environment has beside the contract of every environment.

    `usual_steps` is how many steps a task is given, `lives` how many lives there are until each was given once.
    """

    @property
    def usual_steps(self) -> int:
        """Steps that a task is given by default."""
        ...

    @property
    def lives(self) -> int:
        """Lives until every task chosen was given once."""
        ...

    def choose_task(self, name: str) -> str:
        """Takes up a task, from the next life on, and returns what the agent is told. Raises NotFound."""
        ...

    def end_life(self, ending: str | None) -> None:
        """The life is over, for whatever reason: judges it. A second call does nothing."""
        ...

    def tell_evaluator(self, keep: Callable[[Json], None] | None) -> None:
        """Gives each row that the evaluator notes from now on to `keep`, as it comes; with None to nobody."""
        ...

    def evaluation(self) -> tuple[Json, ...]:
        """What the evaluator noted in this life: `event`, `step`, `time` and more; the row `score` comes last."""
        ...
