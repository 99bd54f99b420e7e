"""The difference of two contents as one splice: what was removed where, and what stands there now.

It knows bytes; it does not know files or rows. Offsets are bytes; where both contents are UTF-8 a splice never cuts a
character.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

__all__ = ["Splice", "splice_between", "without"]


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


def without(present: bytes, splice: Splice, after: bytes) -> bytes | None:
    """`present` with the splice that led to `after` taken back, whatever else changed since.

    The whole lines that the splice touched give way to those that stood there before. None where these lines do not
    stand in `present` exactly once.
    """
    start, end = after.rfind(b"\n", 0, splice.at) + 1, splice.at + len(splice.inserted)
    if end == start or after[end - 1 : end] != b"\n":
        end = after.find(b"\n", end) + 1 or len(after)
    before = splice.inverse.apply(after)
    lines, old = after[start:end], before[start : len(before) - (len(after) - end)]
    places = [at for at in _places(present, lines) if _are_lines(present, at, at + len(lines))]
    if not lines or len(places) != 1:
        return None
    return present[: places[0]] + old + present[places[0] + len(lines) :]


def _places(content: bytes, part: bytes) -> Iterator[int]:
    at = content.find(part)
    while at >= 0:
        yield at
        at = content.find(part, at + 1)


def _are_lines(content: bytes, start: int, end: int) -> bool:
    begins = start == 0 or content[start - 1 : start] == b"\n"
    return begins and (end == len(content) or content[end - 1 : end + 1].find(b"\n") >= 0)


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
