"""The conformance suite for a FrameCodec: what it encodes must come back to the pixel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from scrubjay.memory.frames import media_type_of

if TYPE_CHECKING:
    import numpy

    from scrubjay.memory.frames import FrameCodec

    Pixels = numpy.typing.NDArray[numpy.uint8]

__all__ = ["check_codec"]

_SHAPES = ((1, 1), (1, 300), (300, 1), (3, 5), (64, 64), (240, 320), (17, 1031))


def check_codec(codec: FrameCodec) -> None:
    """Asserts that a codec keeps every pixel, whatever the picture's size, content and memory order."""
    import numpy

    assert codec.extension.isalnum(), f"extension: letters and digits without a dot, found {codec.extension!r}"
    assert codec.extension == codec.extension.lower(), f"extension: lower case, found {codec.extension!r}"
    kind, _, form = codec.media_type.partition("/")
    assert kind, "media_type: something like image/webp, found nothing"
    assert form, f"media_type: something like image/webp, found {codec.media_type!r}"
    known = media_type_of(f"frame.{codec.extension}")
    assert known in (codec.media_type, "application/octet-stream"), (
        f".{codec.extension} files are {known}: name {codec.media_type} by another extension"
    )
    for what, pixels in _pictures():
        before = pixels.copy()
        data = codec.encode(pixels)
        assert isinstance(data, bytes), f"{what}: encode must return bytes, it returned {type(data).__name__}"
        assert numpy.array_equal(pixels, before), f"{what}: encode changed the picture it was given; copy it first"
        found = codec.decode(data)
        assert found.dtype == numpy.uint8, f"{what}: decode must give uint8, it gave {found.dtype}"
        assert found.shape == pixels.shape, f"{what}: {pixels.shape} went in, {found.shape} came out"
        wrong = int((found != before).any(axis=2).sum())
        assert not wrong, f"{what}: {wrong} of {found.shape[0] * found.shape[1]} pixels changed; use a lossless mode"
        assert codec.encode(codec.decode(data)) == data, f"{what}: the same picture must give the same bytes again"


def _pictures() -> Iterator[tuple[str, Pixels]]:
    import numpy

    chance = numpy.random.default_rng(7)
    for height, width in _SHAPES:
        shape = (height, width, 3)
        yield f"noise {shape}", chance.integers(0, 256, shape, dtype=numpy.uint8)
        yield f"black {shape}", numpy.zeros(shape, numpy.uint8)
        yield f"white {shape}", numpy.full(shape, 255, numpy.uint8)
        ramp = numpy.arange(height * width * 3, dtype=numpy.uint32) % 251
        yield f"ramp {shape}", ramp.astype(numpy.uint8).reshape(shape)
    noise = chance.integers(0, 256, (48, 64, 3), dtype=numpy.uint8)
    yield "columns first", numpy.asfortranarray(noise)
    yield "a strided view", noise[::2, ::-1]
    yield "one channel at a time", noise.transpose(1, 0, 2)
    read_only = noise.copy()
    read_only.flags.writeable = False
    yield "a read-only picture", read_only
