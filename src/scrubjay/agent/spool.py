"""A nameless file that holds copies: it has no path, so nothing that is handed a path can change or remove it.

It knows bytes and where in itself they lie. It is gone when its process ends.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from typing import Any

from scrubjay.memory.disk import storage, write_all

__all__ = ["Spool"]

_CHUNK = 1 << 20


class Spool:
    """Copies of files or parts of them. `folder` says on which disk it lies."""

    def __init__(self, folder: str) -> None:
        with storage(folder):
            self._file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115 (it lives as long as we do)
        self.size = 0

    def add(self, source: int, start: int, digest: Any) -> tuple[int, int]:
        """Copies what an open file holds from byte `start`, tells `digest` of it, returns where it lies and its length.

        Raises StorageFull.
        """
        offset, length = self.size, 0
        with storage("the copy of the evidence"):
            os.lseek(self._file.fileno(), offset, os.SEEK_SET)
            while data := os.pread(source, _CHUNK, start + length):
                write_all(self._file.fileno(), data)
                digest.update(data)
                length += len(data)
        self.size += length
        return offset, length

    def read(self, offset: int, length: int) -> Iterator[bytes]:
        """The bytes that lie there."""
        while length > 0:
            data = os.pread(self._file.fileno(), min(_CHUNK, length), offset)
            if not data:
                return
            yield data
            offset, length = offset + len(data), length - len(data)

    def close(self) -> None:
        """Gives the space back."""
        self._file.close()
