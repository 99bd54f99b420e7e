"""Gathering what came since the last consolidation: episodes, questions with their answers, calls of procedures.

It reads journals from where the last one stopped, and the documents as they are; it writes nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from scrubjay.agent.consolidations import Done, Marks, usable
from scrubjay.errors import Damaged, InvalidInput, NotFound
from scrubjay.memory import journal
from scrubjay.memory.documents import Documents
from scrubjay.memory.jsonio import Json
from scrubjay.memory.layout import Layout
from scrubjay.memory.procedures import Procedures, Run
from scrubjay.memory.records import Row
from scrubjay.models.consolidating import Evidence
from scrubjay.retrieval.questions import Inspection, Questions

if TYPE_CHECKING:
    from scrubjay.public import Memory

__all__ = ["MOST_ROWS", "gather", "texts"]

MOST_ROWS = 20_000  # at once; what lies behind them is read the next time


def gather(memory: Memory, reason: str, life: int, last: Done | None) -> tuple[Evidence, Marks]:
    """The evidence since `last`, the oldest first, and how far it reaches."""
    layout, since = memory.layout, last.read if last is not None else Marks()
    index = _Reading(layout.index, since.index)
    rows = tuple(itertools.islice(_rows(index), MOST_ROWS))
    asked = _Reading(layout.inspections, since.inspections)
    inspections = _inspections(layout, asked)
    called = _Reading(layout.procedures_journal, since.procedures)
    runs = tuple(_runs(called))
    documents = memory.documents
    procedures = Procedures(layout, documents)
    evidence = Evidence(
        reason=reason,
        life=life,
        task=next((one.task for one in memory.lives() if one.life == life), ""),
        rows=rows,
        inspections=inspections,
        runs=runs,
        documents=texts(documents),
        working=Layout.working(life),
        worlds=memory.worlds(),
        calls={name: procedures.calls.statistics(name) for name in {run.procedure for run in runs}},
        own=procedures.offer(),
        recall=memory,
    )
    return evidence, Marks(index.end, asked.end, called.end)


class _Reading:
    """The rows of a journal from an offset on; `end` is the byte after the last whole line."""

    def __init__(self, path: str, offset: int) -> None:
        self._path = path
        self.end = usable(path, offset)

    def __iter__(self) -> Iterator[Json]:
        for line in journal.read(self._path, self.end):
            if isinstance(line, journal.Broken) and line.tail:
                return
            self.end = line.offset + line.length
            if isinstance(line, journal.Entry):
                yield line.row


def _rows(reading: _Reading) -> Iterator[Row]:
    for row in reading:
        try:
            found = Row.from_json(row)
        except ValueError:
            continue
        if found.kind in ("episode", "initial"):
            yield found


def _runs(reading: _Reading) -> Iterator[Run]:
    for row in reading:
        try:
            yield Run.from_json(row)
        except ValueError:
            continue


def _inspections(layout: Layout, reading: _Reading) -> tuple[Inspection, ...]:
    """The questions that were asked or answered."""
    new = {row.get("id") for row in reading}
    return tuple(one for one in Questions(layout).recall() if one.id in new) if new else ()


def texts(documents: Documents) -> dict[str, str]:
    """The Markdown documents of an agent by their paths, without its procedures."""
    found = {}
    for path in documents.list():
        if path.endswith(".md") and not path.startswith((f"{Layout.PROCEDURES}/", f"{Layout.REFLEXES}/")):
            try:
                found[path] = documents.read(path)
            except (Damaged, InvalidInput, NotFound):  # no text; or a link, or gone, since it was listed
                continue
    return found
