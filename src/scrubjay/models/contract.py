"""The contract of a model: it is shown a turn and hands in a plan.

A model keeps nothing between turns that it could not find in the memory again: whatever it wants to know later it
writes into the agent's documents through `turn.recall`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from scrubjay.memory.jsonio import Json
from scrubjay.memory.records import GridRow, Row, World
from scrubjay.models.chat import Usage
from scrubjay.retrieval.query import Query

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Account", "Documents", "Entry", "Model", "Plan", "Recall", "Turn"]


@dataclass(frozen=True, slots=True)
class Entry:
    """A raw action and how often it is repeated, or an atom or procedure with its arguments. It becomes one episode."""

    action: str
    repeat: int = 1
    arguments: Json | None = None


@dataclass(frozen=True, slots=True)
class Account:
    """What a turn used before its plan was there: the tables and figures of cost come from it.

    `resets` counts contexts that were begun afresh, `refusals` plans that were handed back; `events` are what else
    must be known of the turn (evidence that had to be restored); `encoders` are the names of what the method compared
    texts and frames by.
    """

    usage: Usage = field(default_factory=Usage)
    tool_calls: int = 0
    inspected: tuple[str, ...] = ()
    resets: int = 0
    refusals: int = 0
    seconds: float = 0.0
    events: tuple[str, ...] = ()
    encoders: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """The actions of one turn, in order, the intention behind them in a few words, and what the turn used."""

    entries: tuple[Entry, ...]
    intention: str = ""
    account: Account = field(default_factory=Account)


class Documents(Protocol):
    """The agent's own documents. Raises NotFound, Conflict and InvalidInput of `scrubjay.errors`."""

    def read(self, path: str) -> str:
        """The text of a document."""
        ...

    def write(self, path: str, text: str, *, expected: str | None = None) -> Any:
        """Gives a document new text, and makes it where it is not there.

        Raises Conflict where `expected` is not the sha256 of its present bytes: another wrote meanwhile.
        """
        ...

    def append(self, path: str, text: str) -> Any:
        """Adds text at the end of a document, and makes it where it is not there."""
        ...


class Found(Protocol):
    """One page of what a query matched."""

    @property
    def rows(self) -> Sequence[Row]:
        """The matching rows, in order of time unless the query ranks them."""
        ...


class Cells(Protocol):
    """The grid of one world."""

    def rows(self) -> Sequence[GridRow]:
        """The cell events, oldest first."""
        ...


class Recall(Protocol):
    """What the memory tells a model; a `scrubjay.Memory` is one."""

    @property
    def documents(self) -> Documents:
        """The agent's own documents."""
        ...

    def find(self, query: Query) -> Found:
        """The episodes that meet the query."""
        ...

    def grid(self, world: str | None = None) -> Cells:
        """The cell events of a world."""
        ...


@dataclass(frozen=True, slots=True)
class Turn:
    """What a model sees: the task, where it stands, the current observation, the memory.

    `step` counts the steps of this life, `steps_left` those of the run; `recent` are the rows of the episodes since
    the last turn, oldest first; `milestones` those reached in this life, `known_milestones` all there are. `actions`
    are the raw actions, `calls` the signatures of atoms and procedures with a line on each. `unchanged` counts the
    turns since anything verifiably changed.
    """

    task: str
    life: int
    turn: int
    step: int
    steps_left: int
    world: World
    frame: NDArray[np.uint8]
    state: Json
    milestones: tuple[str, ...]
    recent: tuple[Row, ...]
    recall: Recall
    actions: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    known_milestones: tuple[str, ...] = ()
    unchanged: int = 0


class Model(Protocol):
    """Decides what to do next.

    It may have `workshop(turn) -> Account`: held before the first turn of a later life, over the evidence of earlier
    ones. It may edit documents and takes no step.
    """

    @property
    def name(self) -> str:
        """What lives and reports call it."""
        ...

    def decide(self, turn: Turn) -> Plan:
        """The plan for this turn; documents are edited through `turn.recall`."""
        ...
