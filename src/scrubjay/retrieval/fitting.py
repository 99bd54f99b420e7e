"""Turning a picture into bytes that fit: exact pixels where there is room, else fewer of them.

It knows encoders and limits. It does not know what a picture shows.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from scrubjay.retrieval.views import Bounds

if TYPE_CHECKING:
    import PIL.Image

__all__ = ["ACCEPTED", "encode_as", "fit", "scaled", "shown_size"]

# What every provider of vision models takes.
ACCEPTED = ("image/png", "image/jpeg", "image/webp")
_PNG: dict[str, Any] = {"format": "PNG", "compress_level": 6}
_WEBP: dict[str, Any] = {"format": "WEBP", "lossless": True, "quality": 0, "method": 0}
# No subsampling of colours: thin coloured lines and small letters stay what they are.
_JPEGS: tuple[dict[str, Any], ...] = tuple(
    {"format": "JPEG", "quality": quality, "subsampling": 0} for quality in (92, 85, 75, 60, 45)
)
_PALETTES = (256, 128, 64, 32)
_ENLARGED_EDGE = 768


class _Drawn(Protocol):
    @property
    def image(self) -> PIL.Image.Image: ...


_D = TypeVar("_D", bound=_Drawn)


def fit(draw: Callable[[int], _D], bounds: Bounds) -> tuple[bytes, str, _D]:
    """Bytes, media type and what was drawn, for the largest drawing within the bounds.

    `draw(edge)` gives a picture whose edges are at most `edge`. It is drawn again, smaller, where no encoding of it
    fits, so that labels are never scaled.
    """
    edge = bounds.long_edge
    while True:
        drawn = draw(edge)
        found = _within(drawn.image, bounds.max_bytes)
        if found is not None:
            return (*found, drawn)
        edge = edge * 4 // 5


def _within(image: PIL.Image.Image, most: int) -> tuple[bytes, str] | None:
    exact = _encode(image, _WEBP)
    if len(exact) <= most:
        # PNG is the plainer format, but needs more bytes: no use in trying where even WebP had no room.
        plain = _encode(image, _PNG)
        return (plain, "image/png") if len(plain) <= most else (exact, "image/webp")
    for options in _JPEGS:
        data = _encode(image, options)
        if len(data) <= most:
            return data, "image/jpeg"
    return None


def encode_as(image: PIL.Image.Image, media_type: str, most: int) -> bytes:
    """The picture in the named format and in at most so many bytes: exactly, else with less detail, else smaller."""
    size = image.size
    while True:
        for data in _less_and_less(scaled(image, size), media_type):
            if len(data) <= most:
                return data
        size = (max(1, size[0] * 4 // 5), max(1, size[1] * 4 // 5))


def _less_and_less(image: PIL.Image.Image, media_type: str) -> Iterator[bytes]:
    from PIL import Image

    if media_type == "image/png":
        yield _encode(image, _PNG)
        for colours in _PALETTES:
            yield _encode(image.quantize(colours, dither=Image.Dither.NONE), _PNG)
    elif media_type == "image/webp":
        yield _encode(image, _WEBP)
        yield from (_encode(image, {**_WEBP, "lossless": False, "quality": options["quality"]}) for options in _JPEGS)
    else:
        yield from (_encode(image, options) for options in _JPEGS)


def _encode(image: PIL.Image.Image, options: dict[str, Any]) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, **options)
    return buffer.getvalue()


def scaled(image: PIL.Image.Image, size: tuple[int, int]) -> PIL.Image.Image:
    """The picture at another size: enlarged by repeating pixels, shrunk with a filter that keeps edges."""
    from PIL import Image

    if size == image.size:
        return image
    grows = size[0] >= image.width and size[1] >= image.height
    return image.resize(size, Image.Resampling.NEAREST if grows else Image.Resampling.LANCZOS)


def shown_size(size: tuple[int, int], room: tuple[int, int], useful: int = _ENLARGED_EDGE) -> tuple[int, int]:
    """How large a picture of `size` is shown in `room`.

    Shrunk where it must be; enlarged by a whole factor where that brings its longer edge nearer to `useful` pixels.
    """
    width, height = size
    if width > room[0] or height > room[1]:
        if width * room[1] >= height * room[0]:
            return (room[0], max(1, height * room[0] // width))
        return (max(1, width * room[1] // height), room[1])
    factor = max(1, min(room[0] // width, room[1] // height, round(useful / max(size))))
    return (width * factor, height * factor)
