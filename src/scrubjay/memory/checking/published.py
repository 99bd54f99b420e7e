"""Checking a published run: an index alone (format 0), with or without the pictures that its rows name.

It verifies what such a folder can show, and says once what is not there to be verified.
"""

from __future__ import annotations

import os

from scrubjay.errors import Damaged
from scrubjay.memory import journal
from scrubjay.memory.checking.findings import Report
from scrubjay.memory.checking.lines import made_rows
from scrubjay.memory.inside import inside
from scrubjay.memory.layout import Layout
from scrubjay.memory.records import Row

__all__ = ["check_published"]


def check_published(layout: Layout) -> Report:
    """Checks the rows of a bare `index.jsonl`: their shape, their ids, the order of their steps, their pictures."""
    report = Report()
    rows: dict[str, Row] = {}
    for line in journal.read(layout.index):
        if isinstance(line, journal.Broken):
            kind, what = ("torn-tail", "a torn row at the end") if line.tail else ("index-row", "a broken line")
            report.add(kind, "index.jsonl", f"{what}: {line.length} bytes: {line.reason}", line.offset)
    for entry, row in made_rows(layout, layout.index, "index-row", "a row", Row.from_json, report):
        if row.id in rows:
            report.add("index-twice", "index.jsonl", f"{row.id} has a second row", entry.offset)
        if row.first_step is not None and row.last_step is not None and row.last_step < row.first_step:
            message = f"{row.id} ends at step {row.last_step}, before it begins at {row.first_step}"
            report.add("steps", "index.jsonl", message, entry.offset)
        rows[row.id] = row
    report.counts["indexed episodes"] = len(rows)
    _check_pictures(layout, rows, report)
    absent = "records, steps, lives, grid, documents and digests are not part of it and were not verified"
    report.notes.append(f"a published run, an index alone (format 0): {absent}")
    return report


def _check_pictures(layout: Layout, rows: dict[str, Row], report: Report) -> None:
    lost: list[str] = []
    named = 0
    for row in rows.values():
        if row.image is None:
            continue
        named += 1
        try:
            if not os.path.isfile(inside(layout, row.image)):
                lost.append(row.image)
        except Damaged as error:
            report.add("path", "index.jsonl", f"the picture of {row.id}: {error}")
    report.counts["frames"] = named - len(lost)
    if named and len(lost) == named:
        report.notes.append(f"none of the {named:,} pictures that its rows name are there")
        return
    for image in lost:
        report.add("file-missing", image, "the index names this picture, and it is not there")
