"""Every error a caller may want to catch, one tree in one file.

ScrubjayError
├── NotFound(LookupError)             an episode, step, frame, life or document that is not there
├── Conflict(ValueError)              somebody else changed it first, or it exists already
├── InvalidInput(ValueError)          a value that can't be recorded, queried or resolved
├── Locked(BlockingIOError)           a life that another process runs
├── StorageFull(OSError)              no space left; nothing was lost, free some and call again
├── StorageFailed(OSError)            the disk refused to make data durable; the episode is not acknowledged
├── ReadOnly(PermissionError)         a write to a memory that was opened, or lies, read-only
├── FormatTooNew(NotImplementedError) a memory of a later format, or with an unknown requirement
├── Damaged(ValueError)               a file that does not hold what it must; names file and byte
├── ModelUnavailable(ConnectionError)  a language model that gave no answer; wait and ask again
├── TrainingFailed(ArithmeticError)   an update of an adapter that gave nothing usable; the adapter before it stays
└── RequestTooLarge(ValueError)        more than a language model takes in one request; show it less
"""

from __future__ import annotations

import errno
import os

__all__ = [
    "Conflict",
    "Damaged",
    "FormatTooNew",
    "InvalidInput",
    "Locked",
    "ModelUnavailable",
    "NotFound",
    "ReadOnly",
    "RequestTooLarge",
    "ScrubjayError",
    "StorageFailed",
    "StorageFull",
    "TrainingFailed",
]


class ScrubjayError(Exception):
    """Base of all errors that scrubjay raises on purpose; its text says what to do."""

    def __str__(self) -> str:
        # LookupError, OSError and BlockingIOError would quote or number the message.
        return str(self.args[0]) if self.args else type(self).__name__


class NotFound(ScrubjayError, LookupError):
    """An episode, step, frame, life or document that is not in this memory."""


class Conflict(ScrubjayError, ValueError):
    """An edit of something that changed meanwhile, or a creation of something that exists."""


class InvalidInput(ScrubjayError, ValueError):
    """A value that can't be recorded, queried or resolved."""


class Locked(ScrubjayError, BlockingIOError):
    """A life that another process, or another handle of this one, is running."""


class StorageFull(ScrubjayError, OSError):
    """No space is left on the named disk. Nothing acknowledged was lost; free space and call again."""


class StorageFailed(ScrubjayError, OSError):
    """The system could not make data durable (a failed fsync). What was being written is not acknowledged."""


class ReadOnly(ScrubjayError, PermissionError):
    """A write to a memory that was opened read-only, or whose folder can't be written."""


class FormatTooNew(ScrubjayError, NotImplementedError):
    """A memory of a greater format, or with a requirement this version doesn't know. Nothing was touched."""


class Damaged(ScrubjayError, ValueError):
    """A file that does not hold what it must.

    Attributes: `file` (path inside the memory), `offset` (byte at which the damage begins) and `reason` (what is wrong
    there, without the place).
    """

    def __init__(self, message: str, *, file: str, offset: int = 0) -> None:
        super().__init__(f"{file}, byte {offset}: {message}")
        self.reason = message
        self.file = file
        self.offset = offset


class ModelUnavailable(ScrubjayError, ConnectionError):
    """A language model that gave no answer: an outage, a limit reached, a broken reply. Asking again may help.

    Attributes: `retry_after` (seconds the provider asked to wait, or None) and `is_garbled` (true where an answer
    came and could not be read, which another attempt may or may not change).
    """

    def __init__(self, message: str, *, retry_after: float | None = None, is_garbled: bool = False) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.is_garbled = is_garbled


class TrainingFailed(ScrubjayError, ArithmeticError):
    """An update of an adapter whose loss is no number, or that had nothing to learn from. The old adapter stays."""


class RequestTooLarge(ScrubjayError, ValueError):
    """A request refused because it holds more than the language model takes. Show it less and ask again."""


FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
REFUSED = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})


def storage_error(error: OSError, path: str | os.PathLike[str]) -> ScrubjayError:
    """The error of this tree for an OSError raised while writing `path`."""
    where = os.fspath(path)
    if error.errno in FULL:
        return StorageFull(f"no space left for {where} (disk of {_mount_of(where)}): free some and call again")
    if error.errno in REFUSED:
        return ReadOnly(f"{where} can't be written: {error.strerror}")
    return StorageFailed(f"writing {where} failed: {error.strerror}")


def _mount_of(path: str) -> str:
    path = os.path.abspath(path)
    while not os.path.ismount(path):
        path = os.path.dirname(path)
    return path
