"""Frames by the descriptor that every episode was recorded with: no model, no frame decoded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.retrieval.places import VERSION, describe
from scrubjay.retrieval.recorded import read_recorded

if TYPE_CHECKING:
    from scrubjay.memory.records import Row
    from scrubjay.methods.encoders.contract import Frame
    from scrubjay.public import Memory

__all__ = ["Place"]


class Place:
    """Histograms of directions and colours over a coarse grid; see `scrubjay.retrieval.places`."""

    name = VERSION
    alike = 0.95

    def of_frame(self, frame: Frame) -> bytes:
        """The descriptor of a frame, `uint8 (H, W, 3)`."""
        return describe(frame)

    def of_first(self, memory: Memory, row: Row) -> bytes | None:
        """As it was recorded; None where there was no frame."""
        kept = read_recorded(memory.layout, row.number).places
        return kept[0] if kept else None

    def of_last(self, memory: Memory, row: Row) -> bytes | None:
        """As it was recorded; None where there was no frame."""
        kept = read_recorded(memory.layout, row.number).places
        return kept[-1] if kept else None
