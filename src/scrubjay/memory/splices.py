"""The difference of two contents as one splice: what was removed where, and what stands there now.

It knows bytes; it does not know files or rows. Offsets are bytes; where both contents are UTF-8 a splice never cuts a
character.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Splice", "splice_between"]


@dataclass(frozen=True, slots=True)
class Splice:
    """At byte `at`, `removed` gave way to `inserted`."""

    at: int
    removed: bytes
    inserted: bytes

    def apply(self, content: bytes) -> bytes:
        """The content after it. Raises ValueError where `removed` does not stand at `at`."""
        end = self.at + len(self.removed)
        if content[self.at : end] != self.removed:
            raise ValueError(f"what was removed at byte {self.at} is not there")
        return content[: self.at] + self.inserted + content[end:]

    @property
    def inverse(self) -> Splice:
        """The splice that takes it back."""
        return Splice(self.at, self.inserted, self.removed)


def splice_between(before: bytes, after: bytes) -> Splice:
    """The shortest single splice from one content to the other, its edges moved out to whole characters."""
    shorter = min(len(before), len(after))
    head = _common(shorter, lambda size: before[:size] == after[:size])
    while head > 0 and (_inside(before, head) or _inside(after, head)):
        head -= 1
    tail = _common(
        shorter - head, lambda size: before[len(before) - size :] == after[len(after) - size :] if size else True
    )
    while tail > 0 and _inside(before, len(before) - tail):
        tail -= 1
    return Splice(head, before[head : len(before) - tail], after[head : len(after) - tail])


def _inside(content: bytes, at: int) -> bool:
    # 0b10xxxxxx is never the first byte of a character.
    return at < len(content) and content[at] & 0xC0 == 0x80


def _common(limit: int, same: Callable[[int], bool]) -> int:
    # Halving compares whole runs of bytes in C: a megabyte takes a millisecond, a loop would take a hundred.
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if same(middle):
            low = middle
        else:
            high = middle - 1
    return low
