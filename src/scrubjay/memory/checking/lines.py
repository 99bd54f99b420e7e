"""The rows of a journal as a check reads them: what is none becomes a problem, and the others go on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from scrubjay.memory import journal
from scrubjay.memory.checking.findings import Report
from scrubjay.memory.jsonio import Json
from scrubjay.memory.layout import Layout

__all__ = ["made_rows"]

T = TypeVar("T")


def made_rows(
    layout: Layout, path: str, kind: str, what: str, make: Callable[[Json], T], report: Report
) -> Iterator[tuple[journal.Entry, T]]:
    """Each whole line with what `make` reads from it; ValueError of that is a problem of this kind: "not a {what}"."""
    for line in journal.read(path):
        if not isinstance(line, journal.Entry):
            continue
        try:
            made = make(line.row)
        except ValueError as error:
            report.add(kind, layout.relative(path), f"not {what}: {error}", line.offset)
            continue
        yield line, made
