"""Writing so that it stays: whole files by rename, durability by fsync, errors that name the disk.

It knows bytes and paths; it does not know what is in them. A failed fsync is never tried again: the system may
have dropped the data and would report success.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from _thread import get_native_id
from collections.abc import Iterator

from scrubjay.errors import StorageFailed, storage_error

__all__ = [
    "datasync",
    "durability",
    "exclusive",
    "let_go",
    "lock_exclusive",
    "make_folder",
    "storage",
    "sync_folder",
    "write_all",
    "write_file",
]


@contextlib.contextmanager
def storage(path: str) -> Iterator[None]:
    """Turns an OSError raised inside into the error of our tree that names `path`.

    That something exists or does not is no fault of the storage and passes through.
    """
    try:
        yield
    except (FileExistsError, FileNotFoundError):
        raise
    except OSError as error:
        raise storage_error(error, path) from error


@contextlib.contextmanager
def durability(path: str) -> Iterator[None]:
    """Turns an OSError of an fsync into StorageFailed, also where the disk is full: what it was for may be lost, so
    calling again would report what is not true."""
    try:
        yield
    except OSError as error:
        raise StorageFailed(f"making {path} durable failed: {error.strerror}") from error


def let_go(descriptor: int) -> None:
    """Closes a descriptor that was read from, locked, or made durable: a fault of the close says nothing then."""
    with contextlib.suppress(OSError):
        os.close(descriptor)


def write_all(descriptor: int, data: bytes) -> None:
    """Writes every byte at the descriptor's position, however many calls it takes. Raises OSError."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def datasync(path: str) -> None:
    """Makes the content of a file durable. Raises StorageFailed."""
    with storage(path):
        descriptor = os.open(path, os.O_RDONLY)
    try:
        with durability(path):
            os.fdatasync(descriptor)
    finally:
        let_go(descriptor)


def sync_folder(path: str) -> None:
    """Makes the names in a folder durable. Raises StorageFailed."""
    with storage(path):
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with durability(path):
            os.fsync(descriptor)
    finally:
        let_go(descriptor)


def make_folder(path: str) -> None:
    """Makes a folder and those above it, each durable in its parent. Nothing where it is there already."""
    if os.path.isdir(path):
        return
    parent = os.path.dirname(path)
    make_folder(parent)
    with storage(path), contextlib.suppress(FileExistsError):
        os.mkdir(path)
    sync_folder(parent)


def write_file(path: str, data: bytes, *, replace: bool = True, sync_parent: bool = True) -> None:
    """Puts a whole file in place: a reader sees the old one or the new one, never a part.

    With `replace=False` raises FileExistsError where it is there. Raises StorageFull, StorageFailed or ReadOnly
    and leaves what was there before.
    """
    # The name ends in a digit and begins with a dot: no reader takes it for a record.
    whose = f"{os.getpid()}.{get_native_id()}"
    temporary = os.path.join(os.path.dirname(path), f".{os.path.basename(path)}.{whose}")
    with storage(path):
        try:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
            try:
                write_all(descriptor, data)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            if replace:
                os.replace(temporary, path)
            else:
                os.link(temporary, path)
                os.unlink(temporary)
        except FileExistsError:
            os.unlink(temporary)
            raise
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
    if sync_parent:
        sync_folder(os.path.dirname(path))


def lock_exclusive(path: str, *, wait: bool = True) -> int | None:
    """A descriptor that holds flock on `path` until closed, or None where another holds it and `wait` is false."""
    with storage(path):
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except FileNotFoundError:  # a copy or a checkout may come without its folder of locks
            make_folder(os.path.dirname(path))
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            let_go(descriptor)
            return None
        except BaseException:
            let_go(descriptor)
            raise
    return descriptor


@contextlib.contextmanager
def exclusive(path: str) -> Iterator[None]:
    """Holds flock on `path` for the body; processes and threads wait for each other."""
    descriptor = lock_exclusive(path)
    assert descriptor is not None
    try:
        yield
    finally:
        let_go(descriptor)
