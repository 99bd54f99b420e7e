"""Consolidation (Algorithm 4 of the paper): what happened becomes what is known.

A consolidator proposes, the harness checks and applies, and a row among the turns says what was read and changed.
Evidence is read and never written. A process that dies on the way has applied whole changes or none of a document;
the same evidence is then read again, and what stands already is not written twice.
"""

from __future__ import annotations

import functools
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scrubjay.agent import differences
from scrubjay.agent.applying import Applied, Applying
from scrubjay.agent.consolidations import Consolidations, Done, Marks, Used, now
from scrubjay.agent.drafting import Draft
from scrubjay.agent.new_evidence import MOST_ROWS, gather
from scrubjay.errors import Damaged, NotFound, ReadOnly
from scrubjay.memory.document_changes import Change
from scrubjay.memory.documents import Documents
from scrubjay.memory.evidence import read_record
from scrubjay.memory.layout import Layout, Reference
from scrubjay.memory.procedures import Procedures
from scrubjay.models.consolidating import Consolidator, Evidence, Proposal

if TYPE_CHECKING:
    from scrubjay.public import Memory

__all__ = ["Consolidation", "Outcome", "Preview"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a consolidation did: its row, how much evidence it read, and what was refused with the reasons.

    `is_all` is false where there was more than is read at once: another one goes on.
    """

    done: Done
    read: int
    refused: tuple[str, ...]
    is_all: bool = True


@dataclass(frozen=True, slots=True)
class Preview:
    """What a consolidation would do: a unified difference of the documents, empty where nothing would change."""

    difference: str
    read: int
    refused: tuple[str, ...]


class Consolidation:
    """Consolidates one memory with one consolidator."""

    def __init__(self, memory: Memory, consolidator: Consolidator) -> None:
        self._memory, self._consolidator = memory, consolidator
        self.record = Consolidations(memory.layout)

    def run(self, reason: str, *, life: int | None = None, turn: int | None = None) -> Outcome | None:
        """Consolidates what came since the last time; None, and nothing is written, where nothing came.

        `life` is whose working memory it may rewrite (default: the running one, else the newest), `turn` the number
        of its last turn. Raises ReadOnly, StorageFull, and what a model raises: then nothing was changed, and where it
        used something, a row says what.
        """
        if self._memory.read_only:
            raise ReadOnly(f"{self._memory.root} is open read-only: it can be read, and not consolidated")
        began, last = time.monotonic(), self.record.last()
        found = self._gather(reason, life, last)
        if found is None:
            return None
        evidence, marks = found
        proposal, exists = self._propose(evidence)
        if proposal.broken_off is not None:
            if proposal.usage.requests:
                used = Used(reason, self._consolidator.name, proposal.usage, time.monotonic() - began)
                self.record.write_failed(evidence.life, used, str(proposal.broken_off))
            raise proposal.broken_off
        documents = self._memory.documents
        applied = _applied(documents, Procedures(self._memory.layout, documents), exists, evidence, proposal)
        refused = (*proposal.refused, *applied.refused)
        newest = max((row.id for row in evidence.rows), key=lambda ident: int(ident[3:]), default=None)
        since = last.until if last is not None else None
        done = Done(
            life=evidence.life,
            when=reason,
            turn=self.record.last_turn(evidence.life) if turn is None else turn,
            since=since,
            until=newest or since,
            read=marks,
            changes=applied.changes,
            refused=len(refused),
            model=self._consolidator.name,
            usage=proposal.usage,
            seconds=time.monotonic() - began,
            time=now(),
        )
        self.record.write(done)
        return Outcome(done, len(evidence), refused, len(evidence.rows) < MOST_ROWS)

    def preview(self, reason: str) -> Preview | None:
        """What `run` would change, and nothing is: the documents are copied, and the copy is consolidated."""
        found = self._gather(reason, None, self.record.last())
        if found is None:
            return None
        evidence, _ = found
        proposal, exists = self._propose(evidence)
        if proposal.broken_off is not None:
            raise proposal.broken_off
        with tempfile.TemporaryDirectory(prefix="scrubjay-") as folder:
            layout = _copied(self._memory.layout, folder)
            copy = Documents(layout)
            copy.sync()
            before = differences.contents(copy)
            applied = _applied(copy, Procedures(layout, copy), exists, evidence, proposal)
            difference = differences.between(before, differences.contents(copy))
        return Preview(difference, len(evidence), (*proposal.refused, *applied.refused))

    def undo(self) -> tuple[Done, list[Change]]:
        """Takes back the changes of the last consolidation, all or none; its evidence counts as unread again.

        Those that are taken back already, by a person or by an undo that was killed on the way, are left.
        Raises NotFound where there is none, Conflict where a later change stands in the way.
        """
        last = self.record.last()
        if last is None:
            raise NotFound("there is no consolidation to take back")
        undone = {change.undoes for change in self._memory.documents.history()}
        standing = [number for number in last.changes if number not in undone]
        changes = self._memory.documents.take_back(standing) if standing else []
        self.record.write_undone(last, changes)
        return last, changes

    def _gather(self, reason: str, life: int | None, last: Done | None) -> tuple[Evidence, Marks] | None:
        number = life or self._memory.context()[0] or max((one.life for one in self._memory.lives()), default=None)
        if number is None:
            return None
        evidence, marks = gather(self._memory, reason, number, last)
        return (evidence, marks) if len(evidence) else None

    def _propose(self, evidence: Evidence) -> tuple[Proposal, Callable[[Reference], bool]]:
        exists = functools.cache(functools.partial(_is_there, self._memory.layout))
        return self._consolidator.propose(evidence, Draft(evidence.documents, exists).judge), exists


def _applied(
    documents: Documents,
    procedures: Procedures,
    exists: Callable[[Reference], bool],
    evidence: Evidence,
    proposal: Proposal,
) -> Applied:
    seen = evidence.documents.get(evidence.working)
    return Applying(documents, procedures, exists).apply(proposal.items, evidence.working, seen)


def _is_there(layout: Layout, reference: Reference) -> bool:
    """True where a cited episode is finished, and has the cited step."""
    try:
        record, _ = read_record(layout, reference.episode)
    except (NotFound, Damaged):
        return False
    return reference.step is None or record["first_step"] <= reference.step <= record["last_step"]


def _copied(layout: Layout, folder: str) -> Layout:
    """A folder with a copy of the documents, through which the evidence can be read."""
    copy = Layout(folder)
    if os.path.isdir(layout.mine):
        shutil.copytree(layout.mine, copy.mine, symlinks=True)
    os.symlink(layout.episodes_folder, copy.episodes_folder)
    return copy
