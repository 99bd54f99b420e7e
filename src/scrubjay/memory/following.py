"""Reading on in a journal from where it was last read, and noticing when it is another file by now.

It knows lines and offsets. What follows from a row its user knows.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from scrubjay.memory import journal
from scrubjay.memory.journal import Broken, Entry

__all__ = ["Follower"]

_SEAM = 256


class Follower:
    """A place in a journal. `is_anew` is true where the last look began at the first line again: what was counted
    before must be forgotten, for the file shrank, was replaced, or was rewritten before this place."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.is_anew = False
        self._offset = 0
        self._file: tuple[int, int] | None = None
        self._seam = b""

    def look(self) -> Iterator[Entry | Broken]:
        """The lines that came since the last look, whole or broken; a torn tail is left for the next one.

        Set `is_anew` before the first line is given, also where there is none.
        """
        try:
            descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            self._begin(None)
            return iter(())
        try:
            status = os.fstat(descriptor)
            self.is_anew = not self._continues(descriptor, status)
            if self.is_anew:
                self._begin((status.st_dev, status.st_ino))
        finally:
            os.close(descriptor)
        return self._lines(status.st_size)

    def _begin(self, file: tuple[int, int] | None) -> None:
        self.is_anew, self._file, self._offset, self._seam = True, file, 0, b""

    def _continues(self, descriptor: int, status: os.stat_result) -> bool:
        if self._file != (status.st_dev, status.st_ino) or status.st_size < self._offset:
            return False
        return os.pread(descriptor, len(self._seam), self._offset - len(self._seam)) == self._seam

    def _lines(self, end: int) -> Iterator[Entry | Broken]:
        if end <= self._offset:
            return
        start = self._offset
        for line in journal.read(self.path, start, end):
            if isinstance(line, Broken) and line.tail:
                break
            self._offset = line.offset + line.length
            yield line
        if self._offset != start:
            self._remember()

    def _remember(self) -> None:
        try:
            with open(self.path, "rb") as file:
                length = min(_SEAM, self._offset)
                file.seek(self._offset - length)
                self._seam = file.read(length)
        except FileNotFoundError:
            self._begin(None)
