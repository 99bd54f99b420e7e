"""An append-only file of JSON lines, safe between any number of processes.

It knows lines and byte offsets; it does not know what a row means. Nothing here ever shrinks a file below what
another writer has put there.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable, Iterable, Iterator

from scrubjay.errors import storage_error
from scrubjay.memory.disk import durability, exclusive, let_go, storage, sync_folder
from scrubjay.memory.jsonio import Json, dumps, loads_object
from scrubjay.memory.light import dataclass

__all__ = ["Broken", "Entry", "append", "append_lines", "append_made", "read", "read_backwards", "row_at", "rows"]

_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Entry:
    """A whole row: where its line begins, how many bytes it has with its newline, and what it says."""

    offset: int
    length: int
    row: Json


@dataclass(frozen=True, slots=True)
class Broken:
    """A line that is no row. `tail` is true for bytes at the end that no newline closes yet."""

    offset: int
    length: int
    reason: str
    tail: bool = False


def append(path: str, lock: str, new_rows: Iterable[Json], *, durable: bool = True) -> int:
    """Appends rows in one write and returns the offset of the first. Durable when it returns, unless told not to.

    Raises InvalidInput for what JSON can't hold, StorageFull, StorageFailed or ReadOnly; then the file holds
    nothing of these rows; unless making them durable failed: then they are there, until a power loss perhaps.
    """
    return append_lines(path, lock, b"".join(dumps(row) + b"\n" for row in new_rows), durable=durable)


def append_lines(path: str, lock: str, data: bytes, *, durable: bool = True) -> int:
    """`append` for lines that are encoded already; each ends in a newline."""
    return _append(path, lock, lambda _descriptor: data, durable)


def append_made(path: str, lock: str, make: Callable[[], Iterable[Json]], *, durable: bool = True) -> int:
    """`append` of rows that depend on those before them: `make` is called while no other process can append."""

    def lines(descriptor: int) -> bytes:
        # A torn line is fenced first: where only its newline was missing, it is a row that `make` must see.
        _append_whole(descriptor, b"", path)
        return b"".join(dumps(row) + b"\n" for row in make())

    return _append(path, lock, lines, durable)


def _append(path: str, lock: str, make: Callable[[int], bytes], durable: bool) -> int:
    with exclusive(lock):
        with storage(path):
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        try:
            # Not "was it there": another may have died between making the file and making its name durable.
            is_new = os.fstat(descriptor).st_size == 0
            offset = _append_whole(descriptor, make(descriptor), path)
            if durable:
                with durability(path):
                    os.fdatasync(descriptor)
        finally:
            let_go(descriptor)
        if is_new and durable:
            sync_folder(os.path.dirname(path))
        return offset


def _append_whole(descriptor: int, data: bytes, path: str) -> int:
    size = os.fstat(descriptor).st_size
    fence = b"" if size == 0 or os.pread(descriptor, 1, size - 1) == b"\n" else b"\n"
    block = fence + data
    try:
        written = os.write(descriptor, block)
        if written < len(block):
            # The rest would not be one write: on a full disk it fails as well, and then all of it goes.
            written += os.write(descriptor, block[written:])
        if written < len(block):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    except OSError as error:
        with contextlib.suppress(OSError):  # where even that fails, the next append fences what is there
            os.ftruncate(descriptor, size)
        raise storage_error(error, path) from error
    return size + len(fence)


def read(path: str, start: int = 0, end: int | None = None) -> Iterator[Entry | Broken]:
    """Every line from byte `start`, in order, whole or broken. A file that is not there has none.

    `start` must be the beginning of a line. Lines that come while this runs may or may not be seen.
    """
    try:
        file = open(path, "rb", buffering=_CHUNK)  # noqa: SIM115 (closed below; a missing file is no error)
    except FileNotFoundError:
        return
    except IsADirectoryError:
        yield Broken(0, 0, "no file: a folder stands in its place")
        return
    with file:
        file.seek(start)
        offset = start
        for line in file:
            if end is not None and offset >= end:
                return
            length = len(line)
            if not line.endswith(b"\n"):
                yield Broken(offset, length, "no newline at the end of the file: torn, or being written", True)
            elif length > 1:
                try:
                    yield Entry(offset, length, loads_object(line))
                except (ValueError, RecursionError) as error:
                    yield Broken(offset, length, _reason(error))
            offset += length


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error)[:200]}"


def rows(path: str, start: int = 0) -> Iterator[Json]:
    """The whole rows from byte `start`; broken lines are passed over (`check` names them)."""
    for line in read(path, start):
        if isinstance(line, Entry):
            yield line.row


def row_at(descriptor: int, offset: int, length: int) -> Json:
    """The row whose line is these bytes of an open file. Raises ValueError where they are no row."""
    line = os.pread(descriptor, length, offset)
    if len(line) != length or not line.endswith(b"\n"):
        raise ValueError(f"no whole line at byte {offset}")
    return loads_object(line)


def read_backwards(path: str) -> Iterator[Entry]:
    """The whole rows, last first, reading no more of the file than is asked for."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        end = position = os.fstat(descriptor).st_size
        buffer = b""
        while position > 0 or buffer:
            cut = buffer.rfind(b"\n", 0, len(buffer) - 1)
            if cut < 0 and position > 0:
                size = min(_CHUNK >> 4, position)
                position -= size
                buffer = os.pread(descriptor, size, position) + buffer
                continue
            line = buffer[cut + 1 :]
            buffer = buffer[: cut + 1]
            offset = end - len(line)
            end = offset
            if line.endswith(b"\n") and len(line) > 1:
                try:
                    yield Entry(offset, len(line), loads_object(line))
                except (ValueError, RecursionError):
                    continue
    finally:
        let_go(descriptor)
