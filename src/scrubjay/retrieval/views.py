"""What a look at evidence gives: a picture within bounds, and where each part of it came from.

A View knows bytes and boxes. It does not know how it was drawn, nor where the frames were stored.
"""

from __future__ import annotations

import io
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput
from scrubjay.memory.handing_out import hand_out
from scrubjay.memory.layout import Reference

if TYPE_CHECKING:
    import PIL.Image

__all__ = ["DEFAULT_BOUNDS", "Bounds", "Region", "Source", "View", "clip"]

Region = tuple[int, int, int, int]
_SMALLEST_EDGE = 64
_FEWEST_BYTES = 8_000
_TYPES = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".webp": "image/webp"}


@dataclass(frozen=True, slots=True)
class Bounds:
    """The most that a view may have: pixels along its longer edge, and bytes."""

    long_edge: int = 1568
    max_bytes: int = 900_000

    def __post_init__(self) -> None:
        if self.long_edge < _SMALLEST_EDGE:
            raise InvalidInput(f"long_edge: {_SMALLEST_EDGE} pixels or more were expected, found {self.long_edge}")
        if self.max_bytes < _FEWEST_BYTES:
            raise InvalidInput(f"max_bytes: {_FEWEST_BYTES} or more were expected, found {self.max_bytes}")

    def hold(self, size: tuple[int, int], count: int) -> bool:
        """True where a picture of this size and of so many bytes is within the bounds."""
        return max(size) <= self.long_edge and count <= self.max_bytes


DEFAULT_BOUNDS = Bounds()


@dataclass(frozen=True, slots=True)
class Source:
    """Where one part of a view came from. Boxes are (x, y, width, height) in pixels, origin top left.

    reference   the episode or step; None for a picture that was handed in and lies in no memory
    camera      which camera, None where there is one
    region      the part of the stored frame that is shown, None where all of it is
    size        width and height of the stored frame; None where it is missing
    at          where it lies in the view; None where it is missing
    clipped     true where the region asked for reached beyond the frame
    missing     why there is nothing to see
    """

    reference: Reference | None
    camera: str | None = None
    region: Region | None = None
    size: tuple[int, int] | None = None
    at: Region | None = None
    clipped: bool = False
    missing: str | None = None


@dataclass(frozen=True, slots=True)
class View:
    """A picture made from evidence, never larger than its bounds; the stored frames stay as they are.

    `data` is a PNG, JPEG or WebP file, as `media_type` says. `inspection` is the id under which the question was
    stored, `warning` says why it was not. `left_out` counts the episodes that had no room. `max_bytes` is the bound
    it was made for.
    """

    data: bytes
    media_type: str
    size: tuple[int, int]
    sources: tuple[Source, ...]
    question: str | None = None
    inspection: str | None = None
    left_out: int = 0
    warning: str | None = None
    max_bytes: int = DEFAULT_BOUNDS.max_bytes

    @property
    def extension(self) -> str:
        """The file name's ending that fits: `png`, `jpg` or `webp`."""
        return {"image/png": "png", "image/jpeg": "jpg", "image/webp": "webp"}[self.media_type]

    def image(self) -> PIL.Image.Image:
        """The view as a PIL image in RGB."""
        from PIL import Image

        with Image.open(io.BytesIO(self.data)) as image:
            return image.convert("RGB")

    def save(self, path: str | os.PathLike[str]) -> str:
        """Writes the view to `path` and returns it.

        Where the name ends in .png, .jpg or .webp the file is of that format, within `max_bytes` too; under any other
        name it holds `data`. Raises InvalidInput where `path` is a file of a memory; StorageFull, StorageFailed or
        ReadOnly, and then what was at `path` is there still.
        """
        where = os.fspath(path)
        wanted = _TYPES.get(os.path.splitext(where)[1].lower(), self.media_type)
        data = self.data
        if wanted != self.media_type:
            from scrubjay.retrieval.fitting import encode_as

            data = encode_as(self.image(), wanted, self.max_bytes)
        hand_out(where, data)
        return where


def clip(zoom: tuple[int, int, int, int], size: tuple[int, int]) -> Region:
    """The part of `zoom` that lies inside a frame of this size.

    Raises InvalidInput, telling the frame's size, where nothing of it does.
    """
    x, y, w, h = zoom
    width, height = size
    left, top, right, bottom = max(x, 0), max(y, 0), min(x + w, width), min(y + h, height)
    if w <= 0 or h <= 0:
        raise InvalidInput(f"zoom: a width and a height above 0 were expected, found {zoom}; the frame is {_say(size)}")
    if left >= right or top >= bottom:
        raise InvalidInput(f"zoom: {zoom} (x, y, width, height) lies outside the frame, which is {_say(size)}")
    return (left, top, right - left, bottom - top)


def _say(size: tuple[int, int]) -> str:
    return f"{size[0]} pixels wide and {size[1]} high"
