"""The derived index: answers what a scan would, for the rows before its watermark, from SQLite.

It is opened only where it fits the index it was made from, and waits for nobody. Whatever SQLite refuses is raised
as DerivedFailed; the caller then scans.
"""

from __future__ import annotations

import contextlib
import heapq
import math
import os
import sqlite3
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from scrubjay.memory.layout import Layout
from scrubjay.retrieval.cache_files import current_files, remove_file
from scrubjay.retrieval.cache_marks import read_mark
from scrubjay.retrieval.cache_rows import Source, Where, best_source, where_of
from scrubjay.retrieval.cache_schema import open_database
from scrubjay.retrieval.cues import Line, Place, line_at
from scrubjay.retrieval.judge import Judge
from scrubjay.retrieval.predicates import radius_of
from scrubjay.retrieval.query import Query
from scrubjay.retrieval.scope import Scope
from scrubjay.retrieval.search import DerivedFailed
from scrubjay.retrieval.watermark import Watermark, still_holds

if TYPE_CHECKING:
    from scrubjay.retrieval.cache_words import Plan

__all__ = ["Cache", "Outdated", "open_cache"]

_FEW_TEXTS = 100
_NOTHING = Watermark(0, 0, 0, 0, 0, 0, 0)


class Outdated(DerivedFailed):
    """The index replaces a row whose words lie here: only a new build can take them out."""


def open_cache(layout: Layout, descriptor: int, *, bare: bool) -> Cache | None:
    """The derived index of this open index file; None where there is none that fits."""
    for path in current_files(layout, bare=bare):
        with contextlib.suppress(sqlite3.Error, DerivedFailed, OSError, ValueError):
            return Cache(path, layout, descriptor, bare=bare)
    return None


class Cache:
    """One open derived index. Raises DerivedFailed from any method, also while an iterator runs."""

    def __init__(self, path: str, layout: Layout, descriptor: int, *, bare: bool) -> None:
        self.path = path
        self._layout = layout
        self._descriptor = descriptor
        self._bare = bare
        self._connection = open_database(path)
        try:
            status = os.stat(path)
            self._file = (status.st_dev, status.st_ino)
            self.rows_mark = self.evidence_mark = _NOTHING
            self._common: tuple[int, str] = (-1, "")
            if not self.refresh():
                raise DerivedFailed(f"{path} was made from another index")
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Closes the connection."""
        self._connection.close()

    def remove(self) -> None:
        """Closes and deletes it: it is foreign, or it holds what was taken out of the index."""
        self.close()
        remove_file(self.path)

    def refresh(self) -> bool:
        """Reads the watermarks; false where they don't fit the index any more, or another build took its place."""
        try:
            status = os.stat(self.path)
            rows = read_mark(self._connection, "rows")
            evidence = read_mark(self._connection, "evidence")
        except (OSError, sqlite3.Error, ValueError):
            return False
        if (status.st_dev, status.st_ino) != self._file or rows is None:
            return False
        if rows != self.rows_mark and not still_holds(rows, self._descriptor):
            return False
        fits = evidence is not None and (evidence == self.evidence_mark or still_holds(evidence, self._descriptor))
        self.rows_mark = rows
        self.evidence_mark = evidence if evidence is not None and fits else _NOTHING
        return True

    def still_fits(self) -> bool:
        """True where the index file below the watermark is what it was. For when the file has changed."""
        return still_holds(self.rows_mark, self._descriptor, sampled=False)

    def catch_up(self, lines: Iterable[Line], *, rows: bool = True, evidence: bool = True, wait: float = 0.0) -> None:
        """Adds these lines, which follow the watermark. Raises DerivedFailed where another process keeps adding.

        Where another has added some of them meanwhile, adds nothing. Raises Outdated where a row is replaced.
        """
        from scrubjay.retrieval.cache_fill import Filler, Replaced

        try:
            self._connection.execute(f"PRAGMA busy_timeout = {int(wait * 1000)}")
            filler = Filler(self._connection, self._layout, self._descriptor, bare=self._bare)
            filler.add(lines, rows=rows, evidence=evidence)
        except Replaced as error:
            raise Outdated("a row was replaced") from error
        except sqlite3.Error as error:
            raise DerivedFailed(str(error)) from error
        self.refresh()

    # --- facts

    def newest_life(self) -> int:
        """The highest life; 0 where there is no row."""
        (life,) = self._one("SELECT max(life) FROM lives", ())
        return int(life or 0)

    def newest_of(self, life: int) -> tuple[int, str | None] | None:
        """Number and world of the newest row of a life."""
        found = self._one("SELECT newest, (SELECT name FROM names WHERE id = world) FROM lives WHERE life = ?", (life,))
        return None if found is None else (int(found[0]), found[1])

    def _one(self, select: str, values: tuple[Any, ...]) -> Any:
        try:
            return self._connection.execute(select, values).fetchone()
        except (sqlite3.Error, OverflowError) as error:
            raise DerivedFailed(str(error)) from error

    # --- rows

    def places(self, query: Query, scope: Scope, judge: Judge, *, after: int, newest_first: bool) -> Iterator[Place]:
        """Where the matching rows with a number above `after` lie, in the order of numbers."""
        try:
            where = where_of(query, scope, self._connection)
            if where is None:
                return
            if after >= 0:
                where.add("r.number > ?", after)
            candidates = self._candidates(query, scope, judge, where, newest_first)
            yield from (place for place in candidates if self._is_match(place, query, judge))
        except (sqlite3.Error, ValueError, OverflowError) as error:
            raise DerivedFailed(str(error)) from error

    def _is_match(self, place: Place, query: Query, judge: Judge) -> bool:
        if not judge.by_text(place):
            return False
        if query.through is None and query.same_screen is None:
            return True
        return judge.by_record(line_at(self._descriptor, place, bare=self._bare))

    def _candidates(
        self, query: Query, scope: Scope, judge: Judge, where: Where, newest_first: bool
    ) -> Iterator[Place]:
        source = best_source(query, scope, self._connection)
        if source.rows > _FEW_TEXTS and (query.grep is not None or query.regex is not None):
            from scrubjay.retrieval.cache_words import plans_for

            plans = plans_for(_needles(query), self._common_words())
            if plans:
                return self._by_plan(self._shortest(plans), query, scope, where, newest_first)
        return self._select(source, query, scope, where, newest_first)

    def _shortest(self, plans: list[Plan]) -> Plan:
        """The plan with the fewest candidates, counted no further than tells them apart."""
        counts = [0] * len(plans)
        for most in (_FEW_TEXTS, 16 * _FEW_TEXTS):
            if len(plans) == 1:
                break
            for at, plan in enumerate(plans):
                counts[at] = sum(
                    self._one(
                        f"SELECT count(*) FROM (SELECT 1 FROM {table} WHERE {table} MATCH ? LIMIT ?)",
                        (expression, most),
                    )[0]
                    for table, expression in _asked(plan)
                )
            if min(counts) < most:
                break
        return plans[counts.index(min(counts))]

    def _by_plan(self, plan: Plan, query: Query, scope: Scope, where: Where, newest_first: bool) -> Iterator[Place]:
        streams = []
        for table, expression in _asked(plan):
            tables = f"{table} f CROSS JOIN rows r ON r.number = f.rowid"
            matching = Where([f"f.{table} MATCH ?"], [expression])
            source = Source(0, tables, matching, "f.rowid", True)
            streams.append(self._select(source, query, scope, where, newest_first))
        return _distinct(heapq.merge(*streams, reverse=newest_first))

    def _select(self, source: Source, query: Query, scope: Scope, where: Where, newest_first: bool) -> Iterator[Place]:
        conditions = " AND ".join([*source.where.conditions, str(where)])
        values = [*source.where.values, *where.values]
        one, two = ("xyz"[axis] for axis in scope.ground)
        select = f"SELECT r.number, r.offset, r.length, r.{one}, r.{two} FROM {source.tables} WHERE {conditions}"
        if source.ordered:
            found: Iterable[Any] = self._connection.execute(
                f"{select} ORDER BY {source.order} {'DESC' if newest_first else 'ASC'}", values
            )
        else:
            # Boxes may overlap where rows did not come by ascending number, and then give a row twice.
            found = sorted(set(self._connection.execute(select, values)), reverse=newest_first)
        if query.near is None:
            return (Place(number, offset, length) for number, offset, length, _a, _b in found)
        (here, there), radius = query.near, radius_of(query)
        return (
            Place(number, offset, length)
            for number, offset, length, a, b in found
            if math.hypot(a - here, b - there) <= radius
        )

    # --- ranks

    def ranked_places(self, query: Query, scope: Scope, judge: Judge, expression: str) -> Iterator[tuple[float, Place]]:
        """The matching rows that hold any of the words, with their BM25 rank."""
        from scrubjay.retrieval.words import rounded

        source = Where(["f.ranked MATCH ?"], [expression])
        tables = "ranked f CROSS JOIN rows r ON r.number = f.rowid"
        found = self._ranked(query, scope, judge, "bm25(f.ranked)", tables, source)
        return ((rounded(rank), place) for rank, place in found)

    def described_places(self, query: Query, scope: Scope, judge: Judge) -> Iterator[tuple[bytes, Place]]:
        """The matching rows, once for each descriptor of their first and last frame."""
        tables = "pictures p CROSS JOIN rows r ON r.number = p.number"
        return self._ranked(query, scope, judge, "p.data", tables, Where([]))

    def _ranked(
        self, query: Query, scope: Scope, judge: Judge, first: str, tables: str, source: Where
    ) -> Iterator[tuple[Any, Place]]:
        try:
            where = where_of(query, scope, self._connection)
            if where is None:
                return
            conditions = " AND ".join([*source.conditions, str(where)])
            one, two = ("xyz"[axis] for axis in scope.ground)
            found = self._connection.execute(
                f"SELECT {first}, r.number, r.offset, r.length, r.{one}, r.{two} FROM {tables} WHERE {conditions}",
                [*source.values, *where.values],
            )
            for value, number, offset, length, a, b in found:
                place = Place(number, offset, length)
                if query.near is not None and math.hypot(a - query.near[0], b - query.near[1]) > radius_of(query):
                    continue
                if self._is_match(place, query, judge):
                    yield value, place
        except (sqlite3.Error, ValueError, OverflowError) as error:
            raise DerivedFailed(str(error)) from error

    # --- words

    def _common_words(self) -> str:
        """The common words, each between newlines."""
        (newest,) = self._connection.execute("SELECT coalesce(max(id), 0) FROM common").fetchone()
        if self._common[0] != newest:
            chunks = [chunk for (chunk,) in self._connection.execute("SELECT words FROM common")]
            self._common = (int(newest), "\n" + "".join(f"{chunk}\n" for chunk in chunks))
        return self._common[1]


def _asked(plan: Plan) -> list[tuple[str, str]]:
    """The tables that a plan asks, and what."""
    asked = zip(plan._fields, plan, strict=True)
    return [(table, expression) for table, expression in asked if expression is not None]


def _needles(query: Query) -> list[str]:
    from scrubjay.retrieval.cache_words import literals_of
    from scrubjay.retrieval.text import fold, normal

    needles = [] if query.grep is None else [fold(query.grep)]
    return needles if query.regex is None else needles + literals_of(normal(query.regex))


def _distinct(places: Iterable[Place]) -> Iterator[Place]:
    last = -1
    for place in places:
        if place.number != last:
            last = place.number
            yield place
