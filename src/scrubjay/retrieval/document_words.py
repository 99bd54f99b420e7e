"""Searching what the agent wrote by words: which lines of its documents say something about them.

The words are those of the ranked search over episodes, stems and scripts alike. It reads `mine/` and writes nothing.
"""

from __future__ import annotations

from typing import NamedTuple

from scrubjay.errors import Damaged, InvalidInput, NotFound
from scrubjay.memory.layout import Layout
from scrubjay.retrieval.words import add_texts, create_table, prepared, ranks, search_expression

__all__ = ["DocumentLine", "search_documents"]

_MOST = 20
_LONGEST = 4000


class DocumentLine(NamedTuple):
    """A line of a document that holds words looked for; `line` counts from 1, less `rank` is better."""

    path: str
    line: int
    text: str
    rank: float


def search_documents(layout: Layout, words: str) -> tuple[DocumentLine, ...]:
    """The lines of `mine/` with any of the words, best first, at most twenty.

    A document that is no text, or is gone since it was listed, says nothing.
    """
    import sqlite3

    expression = search_expression(words)
    places = [] if expression is None else _lines(layout)
    if expression is None or not places:
        return ()
    connection = sqlite3.connect(":memory:")
    try:
        create_table(connection)
        add_texts(connection, ((number, prepared(text)) for number, (_, _, text) in enumerate(places)))
        found = [DocumentLine(*places[number], rank) for number, rank in ranks(connection, expression)]
    finally:
        connection.close()
    return tuple(sorted(found, key=lambda one: (one.rank, one.path, one.line))[:_MOST])


def _lines(layout: Layout) -> list[tuple[str, int, str]]:
    from scrubjay.memory.documents import Documents

    documents = Documents(layout, read_only=True)
    found: list[tuple[str, int, str]] = []
    for path in documents.list():
        try:
            text = documents.read(path)
        except (Damaged, InvalidInput, NotFound):
            continue
        found += [(path, at, line[:_LONGEST]) for at, line in enumerate(text.splitlines(), 1) if line.strip()]
    return found
