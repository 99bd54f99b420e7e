"""Values that follow from files: made when first asked for, and again when one of the files changed.

It knows files by what the system says of them. What is made it does not know.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

__all__ = ["Fresh", "state_of"]

T = TypeVar("T")


def state_of(paths: Iterable[str]) -> tuple[tuple[int, int, int] | None, ...]:
    """What tells whether files changed: inode, size and time of each; None where there is none."""
    return tuple(map(_state, paths))


def _state(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return (found.st_ino, found.st_size, found.st_mtime_ns)


class Fresh(Generic[T]):
    """A value made by `make`, and made again once `state` gives something else. Safe for any number of threads."""

    def __init__(self, state: Callable[[], object], make: Callable[[], T]) -> None:
        self._state, self._make = state, make
        self._mutex = threading.Lock()
        self._seen: object = None
        self._value: list[T] = []

    def get(self) -> T:
        """The value for the files as they are."""
        with self._mutex:
            state = self._state()
            if not self._value or state != self._seen:
                self._value, self._seen = [self._make()], state
            return self._value[0]
