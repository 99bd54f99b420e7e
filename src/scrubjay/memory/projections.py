"""Grid rows and log sections: what a finished episode adds to the files that people and maps read.

Both follow from the record alone. Written after the commit, so a crash may leave them out or torn; `complete` puts in
what lacks, exactly once, knowing how long the files were when the episode began.
"""

from __future__ import annotations

import contextlib
import os

from scrubjay.errors import storage_error
from scrubjay.memory import journal
from scrubjay.memory.disk import let_go, storage
from scrubjay.memory.jsonio import Json, dumps
from scrubjay.memory.layout import Layout
from scrubjay.memory.record import grid_rows, log_section
from scrubjay.memory.records import GridRow

__all__ = ["complete", "lacks", "project", "size_of"]


def size_of(path: str) -> int:
    """Bytes in a file; 0 where there is none."""
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0


def project(layout: Layout, record: Json) -> None:
    """Appends what the record adds. Not yet durable: the next episode's commit or the end of the life makes it so."""
    rows = grid_rows(record)
    if rows:
        journal.append(layout.grid, layout.lock_of(layout.grid), (row.to_json() for row in rows), durable=False)
    _append_text(layout.log(record["life"]), log_section(record))


def _append_text(path: str, data: bytes) -> None:
    with storage(path):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
    try:
        size = os.fstat(descriptor).st_size
        try:
            written = os.write(descriptor, data)
            while written < len(data):
                written += os.write(descriptor, data[written:])
        except OSError as error:
            with contextlib.suppress(OSError):  # where even that fails, `complete` puts in the rest
                os.ftruncate(descriptor, size)
            raise storage_error(error, path) from error
    finally:
        let_go(descriptor)


def lacks(layout: Layout, record: Json, grid_from: int, log_from: int) -> bool:
    """True where a row or a part of the section is not there.

    `grid_from` and `log_from` are the files' sizes when the episode began: nothing of it lies before.
    """
    section = log_section(record)
    return bool(_lacking_rows(layout, record, grid_from) or _rest(layout.log(record["life"]), section, log_from))


def complete(layout: Layout, record: Json, grid_from: int, log_from: int) -> bool:
    """Puts in what lacks of an episode's rows and section; true where something did."""
    rows = _lacking_rows(layout, record, grid_from)
    if rows:
        journal.append(layout.grid, layout.lock_of(layout.grid), (row.to_json() for row in rows))
    path = layout.log(record["life"])
    rest = _rest(path, log_section(record), log_from)
    if rest:
        _append_text(path, rest)
    return bool(rows or rest)


def _lacking_rows(layout: Layout, record: Json, start: int) -> list[GridRow]:
    wanted = grid_rows(record)
    if not wanted:
        return []
    present = {dumps(row) for row in journal.rows(layout.grid, start) if row.get("episode") == record["id"]}
    return [row for row in wanted if dumps(row.to_json()) not in present]


def _rest(path: str, section: bytes, start: int) -> bytes:
    """What must be appended so that the log has the section: its end, where a beginning stands at the end already."""
    try:
        with open(path, "rb") as file:
            file.seek(start)
            there = file.read()
    except FileNotFoundError:
        there = b""
    if section in there:
        return b""
    for length in range(min(len(section), len(there)), 0, -1):
        if there.endswith(section[:length]):
            return section[length:]
    return section if not there or there.endswith(b"\n") else b"\n" + section
