"""How far an append-only file has been read, and whether what lies before that point is still what was read.

A restored copy, a checkout or an edit is noticed: another file, a shorter one, or other bytes at places that are
looked at again. It knows bytes and nothing of rows.
"""

from __future__ import annotations

import os
import zlib
from dataclasses import dataclass

__all__ = ["Watermark", "still_holds", "watermark_at"]

_SEAM = 4096
_SAMPLES = 8
_SAMPLE = 512


@dataclass(frozen=True, slots=True)
class Watermark:
    """Bytes before `offset` have been read, of the file with this device and inode; `check` sums up some of them."""

    offset: int
    device: int
    inode: int
    check: int


def watermark_at(descriptor: int, offset: int) -> Watermark:
    """The mark for an open file that was read up to `offset`."""
    status = os.fstat(descriptor)
    return Watermark(offset, status.st_dev, status.st_ino, _check(descriptor, offset))


def still_holds(mark: Watermark, descriptor: int) -> bool:
    """True where this open file is the one that was read, and has only grown since."""
    status = os.fstat(descriptor)
    return (
        (status.st_dev, status.st_ino) == (mark.device, mark.inode)
        and status.st_size >= mark.offset
        and _check(descriptor, mark.offset) == mark.check
    )


def _check(descriptor: int, offset: int) -> int:
    begin = max(0, offset - _SEAM)
    check = zlib.crc32(os.pread(descriptor, offset - begin, begin))
    for sample in range(_SAMPLES):
        at = begin * sample // _SAMPLES
        check = zlib.crc32(os.pread(descriptor, min(_SAMPLE, begin - at), at), check)
    return check
