"""The tables of the derived index, and how a connection to it is set up.

A change of the tables is a new SCHEMA number: a cache of another number is not looked at. Nothing here is evidence.
"""

from __future__ import annotations

import sqlite3

__all__ = ["SCHEMA", "create_tables", "open_database", "start_building"]

SCHEMA = 3
_SEGMENT_BYTES = 1 << 24

# number orders everything: it is the number of the episode. since and until are microseconds, of the end and the
# start of the episode; first and last are steps. A box in `starts` and `walked` is that of the episodes of one life
# from `number` to `last`; SQLite rounds it outwards to 32 bits.
_TABLES = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE names(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, tagged INTEGER NOT NULL, acted INTEGER NOT NULL);
CREATE TABLE lives(
  life INTEGER PRIMARY KEY, count INTEGER NOT NULL, newest INTEGER NOT NULL, world INTEGER, span INTEGER NOT NULL);
CREATE TABLE rows(
  number INTEGER PRIMARY KEY, offset INTEGER NOT NULL, length INTEGER NOT NULL, searched INTEGER NOT NULL,
  life INTEGER NOT NULL, world INTEGER, action INTEGER, place INTEGER, first INTEGER, last INTEGER,
  x REAL, y REAL, z REAL, since INTEGER, until INTEGER);
CREATE TABLE tags(tag INTEGER, number INTEGER, PRIMARY KEY(tag, number)) WITHOUT ROWID;
CREATE VIRTUAL TABLE starts USING
  rtree(number, x0, x1, y0, y1, z0, z1, world0, world1, +last INTEGER, +life INTEGER);
CREATE VIRTUAL TABLE words USING fts5(body, content='', tokenize='ascii', detail=none, columnsize=0);
CREATE VIRTUAL TABLE rare USING
  fts5(body, content='', tokenize='trigram case_sensitive 1', detail=none, columnsize=0);
CREATE VIRTUAL TABLE pairs USING fts5(body, content='', tokenize='ascii', detail=none, columnsize=0);
CREATE TABLE common(id INTEGER PRIMARY KEY, words TEXT NOT NULL);
CREATE VIRTUAL TABLE walked USING rtree(number, x0, x1, y0, y1, z0, z1, +last INTEGER, +life INTEGER);
CREATE TABLE screens(hash INTEGER, number INTEGER, PRIMARY KEY(hash, number)) WITHOUT ROWID;
CREATE TABLE pictures(number INTEGER, ordinal INTEGER, data BLOB NOT NULL, PRIMARY KEY(number, ordinal));
"""
_INDEXES = """
CREATE INDEX rows_by_life ON rows(life);
CREATE INDEX rows_by_step ON rows(life, first);
CREATE INDEX rows_by_world ON rows(world);
CREATE INDEX rows_by_action ON rows(action);
CREATE INDEX rows_by_place ON rows(place) WHERE place IS NOT NULL;
"""


def create_tables(connection: sqlite3.Connection) -> None:
    """Makes the empty tables."""
    from scrubjay.retrieval import words

    connection.executescript(_TABLES + _INDEXES)
    words.create_table(connection)
    for table in ("words", "rare", "pairs", "ranked"):
        # A batch becomes one segment, and eight are merged at once: half the writing, for a few lookups more.
        connection.execute(f"INSERT INTO {table}({table}, rank) VALUES ('hashsize', {_SEGMENT_BYTES})")
        connection.execute(f"INSERT INTO {table}({table}, rank) VALUES ('automerge', 8)")


def open_database(path: str) -> sqlite3.Connection:
    """A connection to an existing index that waits for nobody. Raises sqlite3.Error."""
    # Who asks from several threads lets one ask at a time.
    where = f"file:{_quoted(path)}?mode=rw"
    connection = sqlite3.connect(where, uri=True, isolation_level=None, timeout=0, check_same_thread=False)
    try:
        # Commits survive a kill as they are; what a power loss takes is whole transactions, with their watermark.
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA wal_autocheckpoint=4000")
        connection.execute("PRAGMA mmap_size=1073741824")
    except BaseException:
        connection.close()
        raise
    return connection


def start_building(path: str) -> sqlite3.Connection:
    """A connection to a new file that nobody else knows yet, with empty tables."""
    connection = sqlite3.connect(path, isolation_level=None, timeout=0)
    try:
        connection.execute("PRAGMA journal_mode=OFF")
        connection.execute("PRAGMA synchronous=OFF")
        connection.execute("PRAGMA cache_size=-131072")
        create_tables(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _quoted(path: str) -> str:
    return path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
