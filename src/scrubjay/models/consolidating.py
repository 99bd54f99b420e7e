"""The contract of consolidation: evidence in, updates of the agent's documents out.

Who proposes changes no document: the harness checks each proposal, applies it and keeps the record.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from scrubjay.errors import ScrubjayError
from scrubjay.memory.procedures import Run, Statistics
from scrubjay.memory.records import Row, World
from scrubjay.models.chat import Usage
from scrubjay.models.contract import Recall
from scrubjay.retrieval.questions import Inspection

__all__ = ["Consolidator", "Evidence", "Item", "Judge", "Procedure", "Proposal", "Update", "Working"]


@dataclass(frozen=True, slots=True)
class Update:
    """One claim of a document: a new one, a better one in the place of `entry`, or one that supersedes `entry`.

    `claim` is what is said, in one line, `cites` the references it rests on, `entry` the present text of the list
    item that it changes, `why` what shows that this item no longer holds.
    """

    document: str
    operation: Literal["add", "revise", "supersede"]
    claim: str
    cites: tuple[str, ...] = ()
    entry: str | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Working:
    """The new text of the working memory."""

    text: str


@dataclass(frozen=True, slots=True)
class Procedure:
    """A procedure to make or to change, or with `disabled`, a reason that cites episodes, to offer no longer."""

    name: str
    description: str = ""
    code: str | None = None
    text: str = ""
    cites: tuple[str, ...] = ()
    disabled: str | None = None


Item = Update | Working | Procedure
Judge = Callable[[Item], str | None]  # why it is refused; None: it stands as proposed


@dataclass(frozen=True, slots=True)
class Evidence:
    """What came since the last consolidation, and what the documents say now.

    `rows`, `inspections` and `runs` are new; older ones are found through `recall`. `documents` maps the path of each
    Markdown document to its text, `working` is the path of the working memory of `life`, `own` are lines on
    its procedures, `calls` what all calls add up to of those that `runs` name. `reason` says why now.
    """

    reason: str
    life: int
    task: str
    rows: tuple[Row, ...]
    inspections: tuple[Inspection, ...]
    runs: tuple[Run, ...]
    documents: Mapping[str, str]
    working: str
    recall: Recall
    worlds: Mapping[str, World] = field(default_factory=dict)
    calls: Mapping[str, Statistics] = field(default_factory=dict)
    own: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.rows) + len(self.inspections) + len(self.runs)


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a consolidator would change, in order, what it used to find out, and what of its was refused and why.

    `broken_off` is the error that ended it before its end, after it had used something: nothing of it is applied.
    """

    items: tuple[Item, ...] = ()
    usage: Usage = field(default_factory=Usage)
    refused: tuple[str, ...] = ()
    broken_off: ScrubjayError | None = None


class Consolidator(Protocol):
    """Turns evidence into what the agent knows."""

    @property
    def name(self) -> str:
        """What rows and reports call it."""
        ...

    def propose(self, evidence: Evidence, judge: Judge) -> Proposal:
        """The updates that the evidence asks for. `judge` tells of each whether it would be taken as it is."""
        ...
