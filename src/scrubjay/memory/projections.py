"""Grid rows and log sections: what a finished episode adds to the files that people and maps read.

Both follow from the record alone. Written after the commit, so a crash may leave them out or torn; `complete` puts in
what lacks, exactly once, knowing how long the files were when the episode began.
"""

from __future__ import annotations

import os

from scrubjay.errors import storage_error
from scrubjay.memory import journal
from scrubjay.memory.disk import storage
from scrubjay.memory.jsonio import Json, dumps
from scrubjay.memory.layout import Layout
from scrubjay.memory.record import grid_rows, log_section

__all__ = ["complete", "project", "size_of"]


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
            os.ftruncate(descriptor, size)
            raise storage_error(error, path) from error
    finally:
        os.close(descriptor)


def complete(layout: Layout, record: Json, grid_from: int, log_from: int) -> bool:
    """Puts in what lacks of an episode's rows and section; true where something did.

    `grid_from` and `log_from` are the files' sizes when the episode began: nothing of it lies before.
    """
    lacked = _complete_grid(layout, record, grid_from)
    return _complete_log(layout.log(record["life"]), log_section(record), log_from) or lacked


def _complete_grid(layout: Layout, record: Json, start: int) -> bool:
    wanted = {dumps(row.to_json()) for row in grid_rows(record)}
    if not wanted:
        return False
    present = {dumps(row) for row in journal.rows(layout.grid, start) if row.get("episode") == record["id"]}
    lacking = [row for row in grid_rows(record) if dumps(row.to_json()) not in present]
    if lacking:
        journal.append(layout.grid, layout.lock_of(layout.grid), (row.to_json() for row in lacking))
    return bool(lacking)


def _complete_log(path: str, section: bytes, start: int) -> bool:
    """The log has one writer, so what lies after `start` is this section, a beginning of it, or damage."""
    try:
        with open(path, "rb") as file:
            file.seek(start)
            there = file.read()
    except FileNotFoundError:
        there = b""
    if section in there:
        return False
    _append_text(path, section[len(there) :] if section.startswith(there) else b"\n" + section)
    return True
