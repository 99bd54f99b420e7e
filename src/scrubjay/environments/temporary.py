"""Temporary folders that do not outlive their owner for long: what a killed process left, the next one removes.

Each folder holds a file that its owner keeps locked. One whose lock is free belongs to nobody any more.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
from pathlib import Path

__all__ = ["TemporaryFolder"]

_PREFIX = "scrubjay-run-"
_LOCK = "owned.lock"


class TemporaryFolder:
    """A folder of this process alone, at `path`. Making one removes those of this user whose owner is dead."""

    def __init__(self) -> None:
        _remove_left_over(Path(tempfile.gettempdir()))
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        # Locked before it has its name: a folder with an unlocked lock is never one that is just being made.
        unnamed = self.path / f"{_LOCK}.new"
        self._lock: int | None = os.open(unnamed, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        unnamed.rename(self.path / _LOCK)

    def remove(self) -> None:
        """Removes it. A second call does nothing."""
        lock, self._lock = self._lock, None
        if lock is not None:
            shutil.rmtree(self.path, ignore_errors=True)
            os.close(lock)


def _remove_left_over(folder: Path) -> None:
    for one in folder.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            found = one.lstat()
            if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid():
                _remove_if_free(one)


def _remove_if_free(folder: Path) -> None:
    lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(lock)
