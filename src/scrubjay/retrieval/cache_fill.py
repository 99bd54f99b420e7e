"""Filling the derived index from lines of `index.jsonl`, in batches, each a transaction with its watermark.

It writes tables and decides nothing about queries. Rows come in the order of the file.
"""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Callable, Iterable, Iterator

from scrubjay.memory.layout import Layout
from scrubjay.retrieval.cache_boxes import MOST_STARTS, MOST_WALKS, Box, bounds, together
from scrubjay.retrieval.cache_marks import read_mark, screen_key, storable, write_mark
from scrubjay.retrieval.cache_values import Values, is_searched
from scrubjay.retrieval.cache_words import LONGEST, cut_to_pieces, odd_separators, pairs_of, rare_words
from scrubjay.retrieval.cues import Line
from scrubjay.retrieval.recorded import recorded_in
from scrubjay.retrieval.text import Texts, as_text, fold, read_record
from scrubjay.retrieval.watermark import watermark_at
from scrubjay.retrieval.words import add_texts, prepared

__all__ = ["BATCH", "Filler", "Replaced"]

BATCH = 4096
_FIRST_BATCH = 256
_MOST_COMMON = 1 << 16
_KEPT_RECORD = 16384


class Replaced(Exception):
    """A row replaces one whose words are in the index already: only a new build can take them out."""


class Filler:
    """Adds rows, their words and what their records hold to one open database."""

    def __init__(self, connection: sqlite3.Connection, layout: Layout, descriptor: int, *, bare: bool) -> None:
        self._connection = connection
        self._layout = layout
        self._descriptor = descriptor
        self._texts = Texts(layout, bare=bare)
        self._ids: dict[str, int] = {}
        self._common: set[bytes] | None = None
        self._records: dict[int, bytes] = {}

    def add(self, lines: Iterable[Line], *, rows: bool = True, evidence: bool = True) -> None:
        """Adds rows with their words, and what their records hold: walked cells, screens and descriptors.

        Lines before the watermark are passed over. Raises Replaced for an id that is there already, sqlite3.Error.
        """
        for batch in _batches(lines):
            self._records = {}
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                if rows:
                    self._add("rows", batch, self._add_batch)
                if evidence:
                    self._add("evidence", batch, self._add_records)
                self._connection.execute("COMMIT")
            except BaseException:
                self._ids, self._common = {}, None
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def _add(self, tier: str, batch: list[Line], add: Callable[[list[Line]], None]) -> None:
        mark = read_mark(self._connection, tier)
        # Another process may have added them since they were read.
        batch = [line for line in batch if mark is None or line.place.offset >= mark.offset]
        if batch:
            add(batch)
            end = batch[-1].place.offset + batch[-1].place.length
            write_mark(self._connection, tier, watermark_at(self._descriptor, end))

    # --- rows

    def _add_batch(self, batch: list[Line]) -> None:
        values = Values(self._name_of)
        searched = [line for line in sorted(batch, key=_number_of) if values.add(line)]
        execute, executemany = self._connection.execute, self._connection.executemany
        try:
            executemany("INSERT INTO rows VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", values.rows)
        except sqlite3.IntegrityError:
            raise Replaced from None
        executemany("INSERT INTO tags VALUES (?, ?)", values.tags)
        executemany(
            "INSERT INTO starts VALUES (?,?,?,?,?,?,?,?,?,?,?)",
            (
                (first, *box, world, world, last, life)
                for (life, world), boxes in values.starts.items()
                for first, last, box in together(boxes, MOST_STARTS)
            ),
        )
        for column, counts in (("tagged", values.tagged), ("acted", values.acted)):
            executemany(f"UPDATE names SET {column} = {column} + ? WHERE id = ?", ((n, i) for i, n in counts.items()))
        for life in values.lives.values():
            execute(
                "INSERT INTO lives VALUES (?, ?, ?, ?, ?) ON CONFLICT(life) DO UPDATE SET "
                "count = count + excluded.count, span = max(span, excluded.span),"
                " world = iif(excluded.newest > newest, excluded.world, world), newest = max(newest, excluded.newest)",
                life,
            )
        self._add_words(searched)

    def _name_of(self, name: str) -> int:
        """The number that a name goes by, given to it where it has none."""
        ident = self._ids.get(name)
        if ident is None:
            (ident,) = self._connection.execute(
                "INSERT INTO names(name, tagged, acted) VALUES (?, 0, 0) ON CONFLICT(name) DO UPDATE SET "
                "tagged = tagged RETURNING id",
                (storable(name),),
            ).fetchone()
            self._ids[name] = ident
        return ident

    # --- words

    def _add_words(self, lines: list[Line]) -> None:
        if not lines:
            return
        known = self._known_words()
        bodies: list[tuple[int, str]] = []
        fresh: list[tuple[int, set[bytes]]] = []
        ranked: list[tuple[int, str]] = []
        once: set[bytes] = set()
        again: set[bytes] = set()
        marked: dict[int, str] = {}
        for line in lines:
            number = line.place.number
            text, beyond, weighed = self._folded(line)
            new = rare_words(text, known)
            if new and max(map(len, new)) > LONGEST:
                pieces = cut_to_pieces(new)
                beyond = b"%b %b" % (text, b" ".join(pieces - new))
                new = pieces - known
            again |= once & new
            once |= new
            if odd := odd_separators(text):
                marked[number] = odd
            bodies.append((number, beyond.decode()))
            fresh.append((number, new))
            ranked.append((number, weighed))
        self._learn(list(again))
        self._insert("words", bodies)
        rare = [(n, b"\n".join(new - known).decode()) for n, new in fresh]
        self._insert("rare", ((n, f"\n{joined}\n") for n, joined in rare if joined))
        paired = ((n, " ".join([*pairs_of(joined), marked.get(n, "")])) for n, joined in rare if joined or n in marked)
        self._insert("pairs", ((n, body) for n, body in paired if body))
        add_texts(self._connection, ranked)

    def _folded(self, row: Line) -> tuple[bytes, bytes, str]:
        """The searched text, what of it `words` must hold, and what ranking weighs of it.

        Where all is ASCII, `ranked` finds every word of the record, so that `words` need hold the line alone; it is
        not folded then.
        """
        line, files = self._texts.stored(row.place.number, row.raw, self._record(row.place.number))
        data = b"%b\n%b" % (line, files)
        if data.isascii() and b"\\" not in data:
            return data, line, (files or line).decode()
        text, weighed = as_text(line, files)
        folded = fold(text).encode(errors="replace")
        return folded, folded, prepared(weighed)

    def _insert(self, table: str, numbered: Iterable[tuple[int, str]]) -> None:
        self._connection.executemany(f"INSERT INTO {table}(rowid, body) VALUES (?, ?)", numbered)

    def _known_words(self) -> set[bytes]:
        # What another process has learnt meanwhile is not needed: a common word may be kept as a rare one.
        if self._common is None:
            chunks = [chunk for (chunk,) in self._connection.execute("SELECT words FROM common")]
            self._common = set("\n".join(chunks).encode().split(b"\n"))
        return self._common

    def _learn(self, words: list[bytes]) -> None:
        known = self._known_words()
        words = words[: max(0, _MOST_COMMON - len(known))]
        if words:
            known.update(words)
            self._connection.execute("INSERT INTO common(words) VALUES (?)", (b"\n".join(words).decode(),))

    # --- evidence

    def _add_records(self, batch: list[Line]) -> None:
        walked: dict[int, list[tuple[int, Box]]] = {}
        screens: list[tuple[int, int]] = []
        pictures: list[tuple[int, int, bytes]] = []
        for line in sorted(batch, key=_number_of):
            if is_searched(line.value):
                number = line.place.number
                recorded = recorded_in(self._record(number))
                if recorded.cells:
                    walked.setdefault(line.value.get("life") or 1, []).append((number, bounds(recorded.cells)))
                seen = {*recorded.screens, line.value.get("observation_hash") or ""}
                screens += {(screen_key(screen), number) for screen in seen if screen}
                if recorded.places:
                    pictures += [(number, ordinal, picture) for ordinal, picture in enumerate(recorded.places)]
        self._connection.executemany(
            "INSERT INTO walked VALUES (?,?,?,?,?,?,?,?,?)",
            (
                (first, *box, last, life)
                for life, boxes in walked.items()
                for first, last, box in together(boxes, MOST_WALKS)
            ),
        )
        self._connection.executemany("INSERT INTO screens VALUES (?, ?)", screens)
        self._connection.executemany("INSERT INTO pictures VALUES (?, ?, ?)", pictures)

    def _record(self, number: int) -> bytes:
        """The record of an episode; kept while its batch is added, since both tiers read it."""
        record = self._records.get(number)
        if record is None:
            record = read_record(self._layout, number)
            if len(record) <= _KEPT_RECORD:
                self._records[number] = record
        return record


def _number_of(line: Line) -> int:
    return line.place.number


def _batches(lines: Iterable[Line]) -> Iterator[list[Line]]:
    lines = iter(lines)
    # A short first one: what it teaches of common words spares the others much.
    size = _FIRST_BATCH
    while batch := list(itertools.islice(lines, size)):
        size = BATCH
        yield batch
