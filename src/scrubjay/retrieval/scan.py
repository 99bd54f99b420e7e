"""The answer to a query by looking at every row: slow, and right by construction.

An index that is derived must give the same. Where there is none, or it lags, this answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from scrubjay.retrieval.cues import SEARCHED_KINDS, Line, Place
from scrubjay.retrieval.judge import Judge

if TYPE_CHECKING:
    from scrubjay.retrieval.text import Texts

__all__ = ["ScanFacts", "all_places", "matching_places", "word_ranks"]


class ScanFacts:
    """What a scope needs to know of the rows, from one pass over them."""

    def __init__(self, lines: Iterable[Line]) -> None:
        newest: dict[int, tuple[int, str | None]] = {}
        for line in lines:
            life = line.row.life
            if life not in newest or newest[life][0] <= line.place.number:
                newest[life] = (line.place.number, line.row.world)
        self.newest = newest

    def newest_life(self) -> int:
        """The highest life of any row; 0 where there is no row."""
        return max(self.newest, default=0)

    def world_of(self, life: int) -> tuple[bool, str | None]:
        """Whether the life has a row, and the world of its newest."""
        return (True, self.newest[life][1]) if life in self.newest else (False, None)


def matching_places(lines: Iterable[Line], judge: Judge) -> dict[int, Place]:
    """Where the matching rows lie, by number. A row replaces the earlier one of its id, matching or not."""
    found: dict[int, Place] = {}
    for line in lines:
        if judge.matches(line):
            found[line.place.number] = line.place
        else:
            found.pop(line.place.number, None)
    return found


def all_places(lines: Iterable[Line]) -> dict[int, Place]:
    """The last row of each id that a search covers."""
    last: dict[int, Place] = {}
    for line in lines:
        if line.row.kind in SEARCHED_KINDS:
            last[line.place.number] = line.place
        else:
            last.pop(line.place.number, None)
    return last


def word_ranks(lines: Iterable[Line], texts: Texts, descriptor: int, expression: str) -> Iterator[tuple[int, float]]:
    """The BM25 rank of every searched text that holds any of the words, over all that the index holds."""
    import sqlite3

    from scrubjay.retrieval import words

    last = all_places(lines)
    connection = sqlite3.connect(":memory:")
    try:
        words.create_table(connection)
        words.add_texts(connection, ((n, words.prepared(texts.parts(last[n], descriptor)[1])) for n in sorted(last)))
        yield from words.ranks(connection, expression)
    finally:
        connection.close()
