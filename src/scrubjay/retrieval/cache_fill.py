"""Filling the derived index from lines of `index.jsonl`, in batches, each a transaction with its watermark.

It writes tables and decides nothing about queries. Rows come in the order of the file.
"""

from __future__ import annotations

import itertools
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from scrubjay.memory.layout import Layout
from scrubjay.memory.records import Row
from scrubjay.retrieval.cache_marks import read_mark, storable, write_mark
from scrubjay.retrieval.cache_words import LONGEST, cut_to_pieces, odd_separators, pairs_of, rare_words
from scrubjay.retrieval.cues import SEARCHED_KINDS, Line, coordinate, recorded_microseconds, whole
from scrubjay.retrieval.recorded import recorded_in
from scrubjay.retrieval.text import Texts, fold, read_record
from scrubjay.retrieval.watermark import watermark_at
from scrubjay.retrieval.words import add_texts, prepared

__all__ = ["BATCH", "Filler", "Replaced"]

BATCH = 4096
_FIRST_BATCH = 256
_MOST_COMMON = 1 << 16
_FAR = 3.0e38
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
            if rows:
                self._add("rows", batch, self._add_batch)
            if evidence:
                self._add("evidence", batch, self._add_records)

    def _add(self, tier: str, batch: list[Line], add: Callable[[list[Line]], None]) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            mark = read_mark(self._connection, tier)
            # Another process may have added them since they were read.
            batch = [line for line in batch if mark is None or line.place.offset >= mark.offset]
            if batch:
                add(batch)
                end = batch[-1].place.offset + batch[-1].place.length
                write_mark(self._connection, tier, watermark_at(self._descriptor, end))
            self._connection.execute("COMMIT")
        except BaseException:
            self._ids, self._common = {}, None
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    # --- rows

    def _add_batch(self, batch: list[Line]) -> None:
        batch = sorted(batch, key=lambda line: line.place)
        self._name_all(batch)
        try:
            self._connection.executemany(
                "INSERT INTO rows VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", map(self._row_values, batch)
            )
        except sqlite3.IntegrityError:
            raise Replaced from None
        searched = [line for line in batch if line.row.kind in SEARCHED_KINDS]
        ids = self._ids
        self._connection.executemany(
            "INSERT OR IGNORE INTO tags VALUES (?, ?)",
            ((ids[tag], line.place.number) for line in searched for tag in line.row.tags),
        )
        self._connection.executemany(
            "INSERT INTO starts VALUES (?,?,?,?,?,?,?,?,?)",
            (box for line in searched if (box := _start_box(line, ids)) is not None),
        )
        self._note_lives(batch)
        self._add_words(searched)

    def _name_all(self, batch: list[Line]) -> None:
        tagged: Counter[str] = Counter()
        acted: Counter[str] = Counter()
        named: set[str] = set()
        for line in batch:
            row = line.row
            if row.kind in SEARCHED_KINDS:
                tagged.update(set(row.tags))
            if row.action_kind is not None:
                acted[row.action_kind] += 1
            named.update(name for name in (row.world, row.place) if name is not None)
        for name in {*tagged, *acted, *named}:
            values = (storable(name), tagged[name], acted[name])
            (ident,) = self._connection.execute(
                "INSERT INTO names(name, tagged, acted) VALUES (?, ?, ?) ON CONFLICT(name) DO UPDATE SET "
                "tagged = tagged + excluded.tagged, acted = acted + excluded.acted RETURNING id",
                values,
            ).fetchone()
            self._ids[name] = ident

    def _row_values(self, line: Line) -> tuple[Any, ...]:
        row, ids = line.row, self._ids
        return (
            *line.place,
            row.kind in SEARCHED_KINDS,
            row.life,
            None if row.world is None else ids[row.world],
            None if row.action_kind is None else ids[row.action_kind],
            None if row.place is None else ids[row.place],
            whole(row.first_step),
            whole(row.last_step),
            coordinate(row.x),
            coordinate(row.y),
            coordinate(row.z),
            recorded_microseconds(row.ended or row.started),
            recorded_microseconds(row.started or row.ended),
        )

    def _note_lives(self, batch: list[Line]) -> None:
        newest: dict[int, Line] = {}
        span: Counter[int] = Counter()
        count = Counter(line.row.life for line in batch)
        for line in batch:
            life, first, last = line.row.life, whole(line.row.first_step), whole(line.row.last_step)
            newest[life] = line
            if first is not None and last is not None:
                span[life] = max(span[life], last - first)
        for life, line in newest.items():
            world = None if line.row.world is None else self._ids[line.row.world]
            self._connection.execute(
                "INSERT INTO lives VALUES (?, ?, ?, ?, ?) ON CONFLICT(life) DO UPDATE SET "
                "count = count + excluded.count, span = max(span, excluded.span),"
                " world = iif(excluded.newest > newest, excluded.world, world), newest = max(newest, excluded.newest)",
                (life, count[life], line.place.number, world, min(span[life], 1 << 62)),
            )

    # --- words

    def _add_words(self, lines: list[Line]) -> None:
        if not lines:
            return
        known = self._known_words()
        bodies: list[tuple[int, str]] = []
        fresh: list[tuple[int, set[bytes]]] = []
        ranked: list[tuple[int, str]] = []
        seen: Counter[bytes] = Counter()
        marked: dict[int, str] = {}
        for line in lines:
            number = line.place.number
            text, record = self._texts.parts(line.place, self._descriptor, self._record(number))
            folded = fold(text)
            new = rare_words(folded, known)
            if new and max(map(len, new)) > LONGEST:
                pieces = cut_to_pieces(new)
                folded = f"{folded} {b' '.join(pieces - new).decode()}"
                new = pieces
            seen.update(new)
            odd = odd_separators(folded)
            if odd:
                marked[number] = odd
            bodies.append((number, folded.encode(errors="replace").decode()))
            fresh.append((number, new))
            ranked.append((number, prepared(record)))
        self._learn([word for word, count in seen.items() if count > 1])
        self._insert("words", bodies)
        rare = [(n, b"\n".join(new - known).decode()) for n, new in fresh]
        self._insert("rare", ((n, f"\n{joined}\n") for n, joined in rare if joined))
        paired = ((n, " ".join([*pairs_of(joined), marked.get(n, "")])) for n, joined in rare)
        self._insert("pairs", ((n, body) for n, body in paired if body))
        add_texts(self._connection, ranked)

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
        walked: list[tuple[float, ...]] = []
        screens: list[tuple[str, int]] = []
        pictures: list[tuple[int, int, bytes]] = []
        for line in batch:
            if line.row.kind in SEARCHED_KINDS:
                number = line.place.number
                recorded = recorded_in(self._record(number))
                if recorded.cells:
                    walked.append((number, *_bounds(recorded.cells)))
                seen = {*recorded.screens, line.row.observation_hash}
                screens += ((storable(screen), number) for screen in seen if screen is not None)
                pictures += ((number, ordinal, picture) for ordinal, picture in enumerate(recorded.places))
        self._connection.executemany("INSERT INTO walked VALUES (?,?,?,?,?,?,?)", walked)
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


def _bounds(cells: Iterable[tuple[int, int, int]]) -> Iterator[float]:
    for axis in zip(*cells, strict=True):
        yield max(-_FAR, min(_FAR, min(axis)))
        yield max(-_FAR, min(_FAR, max(axis)))


def _start_box(line: Line, ids: dict[str, int]) -> tuple[float, ...] | None:
    row: Row = line.row
    known = [coordinate(value) for value in (row.x, row.y, row.z)]
    if known == [None, None, None]:
        return None
    box: list[float] = [line.place.number]
    for value in known:
        # A coordinate that is not known may be anything here: the row is looked at again.
        box += (-_FAR, _FAR) if value is None else [max(-_FAR, min(_FAR, value))] * 2
    world = 0 if row.world is None else ids[row.world]
    return (*box, world, world)


def _batches(lines: Iterable[Line]) -> Iterator[list[Line]]:
    lines = iter(lines)
    # A short first one: what it teaches of common words spares the others much.
    size = _FIRST_BATCH
    while batch := list(itertools.islice(lines, size)):
        size = BATCH
        yield batch
