"""Checking what the agent wrote: histories that fit their files, claims that cite evidence that exists."""

from __future__ import annotations

from collections.abc import Callable

from scrubjay.errors import Damaged, NotFound
from scrubjay.memory.checking.findings import Report
from scrubjay.memory.citations import unsupported
from scrubjay.memory.document_changes import digest_of
from scrubjay.memory.document_history import History
from scrubjay.memory.documents import Documents
from scrubjay.memory.layout import Layout, Reference
from scrubjay.memory.procedures import Procedures

__all__ = ["check_documents"]


def check_documents(layout: Layout, report: Report, exists: Callable[[Reference], bool]) -> None:
    """Checks everything under `mine/`; `exists` says whether a cited episode or step is in this memory."""
    documents = Documents(layout, read_only=True)
    history = History(layout.documents_journal)
    history.refresh()
    for path in documents.list():
        report.counts["documents"] += 1
        if path not in history.heads:
            report.notes.append(f"mine/{path}: written by another program, not yet in the history")
    for path, mark in history.heads.items():
        try:
            rebuilt = digest_of(history.content(path, mark.number) or b"")
        except (Damaged, NotFound) as error:
            # A whole file outlives a broken row before it; only the way it came about is lost.
            report.notes.append(f"documents.jsonl: the history of mine/{path} can't be followed: {error}")
            continue
        if mark.after is not None and rebuilt != mark.after:
            message = f"change {mark.number} of mine/{path} does not give the content it says"
            report.add("history", "documents.jsonl", message, mark.offset)
    for flaw in Procedures(layout, documents, read_only=True).flaws():
        report.add("procedure", f"mine/{flaw.path}", flaw.message)
    for problem in unsupported(documents, exists):
        cited = problem.reference
        what = f"cites {cited}, which is not in this memory" if cited else "claims without evidence or (hypothesis)"
        report.add("claim", f"mine/{problem.path}", f"line {problem.line} {what}: {problem.text[:80]!r}")
