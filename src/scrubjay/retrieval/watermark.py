"""How far an append-only file has been read, and whether what lies before that point is still what was read.

A restored copy, a checkout or an edit is noticed: another file, a shorter one, one of the same size that was written
to, or other bytes at places that are looked at again. It knows bytes and nothing of rows.
"""

from __future__ import annotations

import os
import zlib
from typing import NamedTuple

__all__ = ["Watermark", "still_holds", "watermark_at"]

_SEAM = 4096
_SAMPLES = 8
_SAMPLE = 512


class Watermark(NamedTuple):
    """Bytes before `offset` have been read, of the file with this device and inode.

    `seam` sums up the last of these bytes, `samples` some of the others; `size` and `written` (nanoseconds) are the
    file's own when it was read.
    """

    offset: int
    device: int
    inode: int
    seam: int
    samples: int
    size: int
    written: int


def watermark_at(descriptor: int, offset: int, *, sampled: bool = True) -> Watermark:
    """The mark for an open file that was read up to `offset`; `sampled=False` for one that is only ever compared so."""
    status = os.fstat(descriptor)
    samples = _samples(descriptor, offset) if sampled else 0
    seam = _seam(descriptor, offset)
    return Watermark(offset, status.st_dev, status.st_ino, seam, samples, status.st_size, status.st_mtime_ns)


def still_holds(mark: Watermark, descriptor: int, *, sampled: bool = True) -> bool:
    """True where this open file is the one that was read, and has only grown since.

    `sampled=False` looks at the last bytes alone: for a reader that has watched the file since it read it.
    """
    status = os.fstat(descriptor)
    return (
        (status.st_dev, status.st_ino) == (mark.device, mark.inode)
        and status.st_size >= mark.offset
        # An append makes it longer; what writes to it and leaves its size has changed what was read.
        and (status.st_size != mark.size or status.st_mtime_ns == mark.written)
        and _seam(descriptor, mark.offset) == mark.seam
        and (not sampled or _samples(descriptor, mark.offset) == mark.samples)
    )


def _seam(descriptor: int, offset: int) -> int:
    begin = max(0, offset - _SEAM)
    return zlib.crc32(os.pread(descriptor, offset - begin, begin))


def _samples(descriptor: int, offset: int) -> int:
    check = 0
    for sample in range(_SAMPLES):
        at = offset * sample // _SAMPLES
        check = zlib.crc32(os.pread(descriptor, min(_SAMPLE, offset - at), at), check)
    return check
