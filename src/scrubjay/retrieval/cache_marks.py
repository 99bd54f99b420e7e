"""Small things that reading and filling the derived index share: watermarks, text as SQLite takes it, keys."""

from __future__ import annotations

import sqlite3
import zlib

from scrubjay.retrieval.watermark import Watermark

__all__ = ["read_mark", "screen_key", "storable", "write_mark"]

_MARK = Watermark._fields


def storable(text: str) -> str:
    """The text as SQLite takes it: a lone surrogate becomes its escape."""
    return text if text.isascii() else text.encode(errors="backslashreplace").decode()


def screen_key(screen: str) -> int:
    """A number for the hash of a screen. Several may have the same one: candidates are looked at again."""
    return zlib.crc32(screen.encode(errors="surrogatepass"))


def read_mark(connection: sqlite3.Connection, tier: str) -> Watermark | None:
    """How far `rows` or `evidence` have been read."""
    values = dict(connection.execute("SELECT key, value FROM meta WHERE key GLOB ?", (f"{tier}-*",)))
    if len(values) != len(_MARK):
        return None
    return Watermark(*(int(values[f"{tier}-{name}"]) for name in _MARK))


def write_mark(connection: sqlite3.Connection, tier: str, mark: Watermark) -> None:
    """Notes how far `rows` or `evidence` have been read, in the transaction that added them."""
    # As text: some systems number devices and inodes beyond what an integer of SQLite holds.
    rows = [(f"{tier}-{name}", str(value)) for name, value in zip(_MARK, mark, strict=True)]
    connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", rows)
