"""The lines of the index from a byte on: what no derived index covers yet, or all of it where there is none.

A short tail is kept between queries and only its growth is read; a long one is read anew each time, so that memory
stays bounded. Of two rows with one id the later counts.
"""

from __future__ import annotations

from collections.abc import Iterator

from scrubjay.memory.layout import Layout
from scrubjay.retrieval.cues import Line, read_growth, read_lines
from scrubjay.retrieval.watermark import Watermark, still_holds, watermark_at

__all__ = ["Tail"]

_KEPT = 4096


class Tail:
    """Lines from `start` on of one index file."""

    def __init__(self, layout: Layout, *, bare: bool) -> None:
        self._layout = layout
        self._bare = bare
        self._start = -1
        self._read: Watermark | None = None
        self._lines: dict[int, Line] | None = {}

    def refresh(self, descriptor: int, start: int, *, changed: bool = True) -> None:
        """Brings what is kept up to the end of this open file. `start` is the beginning of a line.

        `changed` is false where the file is known to be as it was.
        """
        if not changed and self._start == start and self._read is not None:
            return
        if self._start != start or self._read is None or not still_holds(self._read, descriptor, sampled=False):
            self._start, self._lines = start, {}
            self._read = watermark_at(descriptor, start, sampled=False)
        if self._lines is None:
            return
        end = self._read.offset
        for line in read_growth(self._layout, descriptor, end, bare=self._bare):
            self._lines[line.place.number] = line
            end = line.place.offset + line.place.length
            if len(self._lines) > _KEPT:
                self._lines = None
                return
        if end != self._read.offset:
            self._read = watermark_at(descriptor, end, sampled=False)

    def lines(self) -> Iterator[Line]:
        """Every line in the order of the file; where an id comes twice, only the later counts."""
        if self._lines is not None:
            return iter(self._lines.values())
        return read_lines(self._layout, self._start, bare=self._bare)

    @property
    def count(self) -> int | None:
        """How many lines are kept; None where there are more than are kept."""
        return None if self._lines is None else len(self._lines)
