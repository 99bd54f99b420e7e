"""Conditions of a query as SQL over the table of rows, and the cheapest way into it.

Everything that a row alone decides is decided here exactly as `predicates` does, but for distance, which is checked
again. It knows the tables; texts and records it leaves to its caller.
"""

from __future__ import annotations

import math
import sqlite3
from typing import Any

from scrubjay.memory.light import dataclass
from scrubjay.retrieval.cache_boxes import FAR, MOST_STARTS, MOST_WALKS
from scrubjay.retrieval.cache_marks import screen_key, storable
from scrubjay.retrieval.cues import microseconds
from scrubjay.retrieval.predicates import radius_of
from scrubjay.retrieval.query import Query, parse_time
from scrubjay.retrieval.scope import Scope

__all__ = ["Source", "Where", "best_source", "where_of"]

_LARGEST = 1 << 62
_FEW = 4096


class Where:
    """Conditions on `rows r`, joined by AND, with their values in order."""

    def __init__(self, conditions: list[str], values: list[Any] | None = None) -> None:
        self.conditions = conditions
        self.values = values if values is not None else []

    def add(self, condition: str, *values: Any) -> None:
        """One condition more."""
        self.conditions.append(condition)
        self.values += values

    def __str__(self) -> str:
        return " AND ".join(self.conditions)


@dataclass(frozen=True, slots=True)
class Source:
    """A way into the rows: a FROM clause that names `rows r`, what it adds to WHERE, and how many rows come of it.

    `order` is the column to order by. Where it is not `ordered`, the rows must be gathered and sorted first.
    """

    rows: int
    tables: str
    where: Where
    order: str
    ordered: bool


def _clamped(value: int) -> int:
    return max(-_LARGEST, min(_LARGEST, value))


def where_of(query: Query, scope: Scope, connection: sqlite3.Connection) -> Where | None:
    """The conditions that the row alone decides; None where a name in them stands in no row."""
    where = Where(["r.searched"])
    if scope.first > 0:
        where.add("r.life >= ?", _clamped(scope.first))
    if scope.last is not None:
        where.add("r.life <= ?", _clamped(scope.last))
    if scope.one_world and scope.world is None:
        where.add("r.world IS NULL")
    names = {"r.world": scope.world if scope.one_world else None, "r.action": query.action, "r.place": query.place}
    for column, name in names.items():
        if name is not None:
            ident = id_of(connection, name)
            if ident is None:
                return None
            where.add(f"{column} = ?", ident)
    for tag in dict.fromkeys(query.tags):
        ident = id_of(connection, tag)
        if ident is None:
            return None
        where.add("EXISTS (SELECT 1 FROM tags WHERE tag = ? AND number = r.number)", ident)
    _add_when_and_where(where, query, scope)
    return where


def id_of(connection: sqlite3.Connection, name: str) -> int | None:
    """The number that a name goes by."""
    found = connection.execute("SELECT id FROM names WHERE name = ?", (storable(name),)).fetchone()
    return None if found is None else int(found[0])


def _add_when_and_where(where: Where, query: Query, scope: Scope) -> None:
    if query.steps is not None:
        low, high = sorted(query.steps)
        where.add("r.first <= ? AND r.last >= ?", _clamped(high), _clamped(low))
    if query.since is not None:
        where.add("r.since >= ?", microseconds(parse_time(query.since)))
    if query.until is not None:
        where.add("r.until <= ?", microseconds(parse_time(query.until)))
    up = "xyz"[scope.up]
    if query.below is not None:
        where.add(f"r.{up} <= ?", float(query.below))
    if query.above is not None:
        where.add(f"r.{up} >= ?", float(query.above))
    if query.near is not None:
        for axis, at in zip(scope.ground, query.near, strict=True):
            where.add(f"r.{'xyz'[axis]} BETWEEN ? AND ?", *_reach(at, radius_of(query)))


def _reach(at: float, radius: float) -> tuple[float, float]:
    # A little more than the radius: what rounding makes of a sum must not lose a row.
    pad = 1e-9 * (abs(at) + radius) + 5e-324
    return (at - radius - pad, at + radius + pad)


def best_source(query: Query, scope: Scope, connection: sqlite3.Connection) -> Source:
    """The way into the rows that looks at the fewest, in order where there are many."""
    sources = [_by_number(connection), *_by_life(scope, connection), *_by_names(query, connection)]
    ordered = min(sources, key=lambda source: source.rows)
    if ordered.rows <= 64:
        return ordered
    gathered = [
        *_by_start(query, scope, connection, ordered.rows),
        *_by_step(query, scope, connection, ordered.rows),
        *_by_walk(query, scope, connection, ordered.rows),
        *_by_screen(query, connection),
    ]
    return min([ordered, *gathered], key=lambda source: source.rows)


def _by_number(connection: sqlite3.Connection) -> Source:
    (last,) = connection.execute("SELECT max(number) FROM rows").fetchone()
    return Source((last or 0) + 1, "rows r", Where([]), "r.number", True)


def _by_life(scope: Scope, connection: sqlite3.Connection) -> list[Source]:
    if scope.last is None or scope.first != scope.last:
        return []
    found = connection.execute("SELECT count FROM lives WHERE life = ?", (_clamped(scope.last),)).fetchone()
    return [_indexed("life", _clamped(scope.last), 0 if found is None else int(found[0]))]


def _by_names(query: Query, connection: sqlite3.Connection) -> list[Source]:
    found = []
    for tag in query.tags:
        ident, count, _acted = _tally(connection, tag)
        tables = "tags t CROSS JOIN rows r ON r.number = t.number"
        found.append(Source(count, tables, Where(["t.tag = ?"], [ident]), "t.number", True))
    if query.action is not None:
        ident, _tagged, count = _tally(connection, query.action)
        found.append(_indexed("action", ident, count))
    if query.place is not None:
        ident, *_ = _tally(connection, query.place)
        count = _few(connection, "SELECT 1 FROM rows WHERE place = ?", [ident], _FEW)
        found.append(_indexed("place", ident, count))
    return found


def _indexed(column: str, value: int, count: int) -> Source:
    # An index ends in the number, so that its rows come in order.
    return Source(count, f"rows r INDEXED BY rows_by_{column}", Where([f"r.{column} = ?"], [value]), "r.number", True)


def _tally(connection: sqlite3.Connection, name: str) -> tuple[int, int, int]:
    found = connection.execute("SELECT id, tagged, acted FROM names WHERE name = ?", (storable(name),)).fetchone()
    return (0, 0, 0) if found is None else (found[0], found[1], found[2])


def _few(connection: sqlite3.Connection, select: str, values: list[Any], most: int) -> int:
    """How many rows a SELECT gives, counted no further than one beyond `most`."""
    counted = connection.execute(f"SELECT count(*) FROM ({select} LIMIT ?)", [*values, most + 1]).fetchone()
    return int(counted[0])


def _gathered(connection: sqlite3.Connection, tables: str, where: Where, other: int) -> list[Source]:
    most = min(_FEW, other)
    count = _few(connection, f"SELECT 1 FROM {tables} WHERE {where}", where.values, most)
    return [] if count > most else [Source(count, tables, where, "r.number", False)]


def _boxed(connection: sqlite3.Connection, table: str, size: int, inside: Where, other: int) -> list[Source]:
    most = min(_FEW, other) // size
    count = _few(connection, f"SELECT 1 FROM {table} b WHERE {inside}", inside.values, most)
    tables = f"{table} b CROSS JOIN rows r ON r.number BETWEEN b.number AND b.last AND r.life = b.life"
    return [] if count > most else [Source(count * size, tables, inside, "r.number", False)]


def _by_start(query: Query, scope: Scope, connection: sqlite3.Connection, other: int) -> list[Source]:
    if query.near is None and query.below is None and query.above is None:
        return []
    inside = Where([])
    if query.near is not None:
        for axis, at in zip(scope.ground, query.near, strict=True):
            _between(inside, f"b.{'xyz'[axis]}", *_reach(at, radius_of(query)))
    if query.below is not None or query.above is not None:
        low = -math.inf if query.above is None else query.above
        _between(inside, f"b.{'xyz'[scope.up]}", low, math.inf if query.below is None else query.below)
    world = 0 if scope.world is None else id_of(connection, scope.world)
    inside.add("b.world0 <= ? AND b.world1 >= ?", world, world)
    return _boxed(connection, "starts", MOST_STARTS, inside, other)


def _between(where: Where, column: str, low: float, high: float) -> None:
    where.add(f"{column}0 <= ? AND {column}1 >= ?", max(-FAR, min(FAR, high)), max(-FAR, min(FAR, low)))


def _by_step(query: Query, scope: Scope, connection: sqlite3.Connection, other: int) -> list[Source]:
    if query.steps is None:
        return []
    low, high = (_clamped(step) for step in sorted(query.steps))
    inside = Where([])
    # No episode of a life is longer than its span, so none that began before low - span reaches low.
    inside.add("r.first <= ? AND r.first >= ? - l.span AND r.last >= ?", high, low, low)
    inside.add("l.life >= ?", _clamped(scope.first))
    if scope.last is not None:
        inside.add("l.life <= ?", _clamped(scope.last))
    tables = "lives l CROSS JOIN rows r INDEXED BY rows_by_step ON r.life = l.life"
    return _gathered(connection, tables, inside, other)


def _by_walk(query: Query, scope: Scope, connection: sqlite3.Connection, other: int) -> list[Source]:
    if query.through is None:
        return []
    inside = Where([])
    for axis, at in zip(scope.ground, query.through, strict=True):
        low, high = _reach(at, query.radius or 0.0)
        _between(inside, f"b.{'xyz'[axis]}", low / scope.cell - 1, high / scope.cell + 1)
    return _boxed(connection, "walked", MOST_WALKS, inside, other)


def _by_screen(query: Query, connection: sqlite3.Connection) -> list[Source]:
    if query.same_screen is None:
        return []
    inside = Where(["h.hash = ?"], [screen_key(query.same_screen)])
    return _gathered(connection, "screens h CROSS JOIN rows r ON r.number = h.number", inside, _FEW)
