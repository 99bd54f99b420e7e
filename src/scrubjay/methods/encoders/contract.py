"""What an encoder is: it says how alike texts are, or turns a frame into a few bytes whose cosine says so.

It knows texts, frames and a memory's stored frames; nothing of methods.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.memory.records import Row
    from scrubjay.public import Memory

    Frame = NDArray[np.uint8]

__all__ = ["Encoders", "FrameEncoder", "TextEncoder", "cosines"]


class TextEncoder(Protocol):
    """Says how alike texts are."""

    @property
    def name(self) -> str:
        """What outputs call it."""
        ...

    @property
    def related(self) -> float:
        """Texts less alike than this, or as much, have nothing to do with each other."""
        ...

    def likeness(self, query: str, texts: Sequence[str]) -> list[float]:
        """How alike the query is to each text: 1 for the same; 0, or less, for nothing in common."""
        ...


class FrameEncoder(Protocol):
    """Turns frames into descriptors: bytes, all of one length, the cosine of which says how alike two frames are."""

    @property
    def name(self) -> str:
        """What outputs call it."""
        ...

    @property
    def alike(self) -> float:
        """The cosine from which two frames are taken to show the same."""
        ...

    def of_frame(self, frame: Frame) -> bytes:
        """The descriptor of a frame, `uint8 (H, W, 3)`."""
        ...

    def of_first(self, memory: Memory, row: Row) -> bytes | None:
        """The descriptor of an episode's first frame; None where it has none."""
        ...

    def of_last(self, memory: Memory, row: Row) -> bytes | None:
        """The descriptor of an episode's last frame; None where it has none."""
        ...


@dataclass(frozen=True, slots=True)
class Encoders:
    """The encoders that a method is given."""

    text: TextEncoder
    frames: FrameEncoder

    def names(self, kinds: Sequence[str]) -> tuple[str, ...]:
        """The names of these encoders: `text`, `frames`."""
        named = {"text": self.text.name, "frames": self.frames.name}
        return tuple(named[kind] for kind in kinds)


def cosines(query: bytes, stored: Sequence[bytes | None]) -> list[float]:
    """The cosine of a descriptor with each of the others, from 0 to 1; 0 with one that is missing."""
    import numpy as np

    if not stored:
        return []
    wanted = np.frombuffer(query, np.uint8).astype(np.float32)
    rows = np.frombuffer(b"".join(one or bytes(len(query)) for one in stored), np.uint8)
    others = rows.reshape(len(stored), len(query)).astype(np.float32)
    lengths = np.linalg.norm(others, axis=1) * np.linalg.norm(wanted)
    found: list[float] = (others @ wanted / np.maximum(lengths, 1e-6)).tolist()
    return found
