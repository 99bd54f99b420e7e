"""What a frame may be, and how one is turned into bytes and back without losing a pixel.

It knows pictures. It does not know episodes, files or steps.
"""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from scrubjay.errors import Damaged, InvalidInput, NotFound

if TYPE_CHECKING:
    import numpy
    import PIL.Image

    Pixels = numpy.typing.NDArray[numpy.uint8]
    FrameInput = Pixels | PIL.Image.Image | bytes

__all__ = ["DEFAULT_CODEC", "Frame", "FrameCodec", "Picture", "PngCodec", "WebpCodec", "media_type_of", "picture"]

_WEBP_LONGEST_EDGE = 16383
_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "png", "image/png"),
    (b"\xff\xd8\xff", "jpg", "image/jpeg"),
    (b"GIF8", "gif", "image/gif"),
    (b"BM", "bmp", "image/bmp"),
)
_MEDIA_TYPES = {"webp": "image/webp", **{extension: media for _, extension, media in _SIGNATURES}}


class FrameCodec(Protocol):
    """How raw pixels are stored. `decode(encode(pixels))` must give the same pixels: `scrubjay.testing` checks it."""

    extension: str
    media_type: str

    def encode(self, pixels: Pixels) -> bytes:
        """Bytes of one picture, from uint8 (H, W, 3) in RGB."""
        ...

    def decode(self, data: bytes) -> Pixels:
        """The uint8 (H, W, 3) that `data` was made from."""
        ...


class _PillowCodec:
    extension = ""
    media_type = ""
    _options: dict[str, Any]

    def encode(self, pixels: Pixels) -> bytes:
        """Bytes of one picture, from uint8 (H, W, 3) in RGB."""
        from PIL import Image

        buffer = io.BytesIO()
        Image.fromarray(pixels).save(buffer, **self._options)
        return buffer.getvalue()

    def decode(self, data: bytes) -> Pixels:
        """The uint8 (H, W, 3) that `data` was made from."""
        return _decode(data)


class WebpCodec(_PillowCodec):
    """WebP lossless: 0.6 of PNG's bytes on frames of games, in 4 to 9 ms, and any viewer or model opens it.

    Method 0 is hardly faster, and on flat tiles it gives 1.4 of PNG's bytes.
    """

    extension = "webp"
    media_type = "image/webp"
    _options = {"format": "WEBP", "lossless": True, "quality": 0, "method": 1}  # noqa: RUF012


class PngCodec(_PillowCodec):
    """PNG, for pictures that WebP can't hold (an edge over 16,383 pixels)."""

    extension = "png"
    media_type = "image/png"
    _options = {"format": "PNG", "compress_level": 3}  # noqa: RUF012


DEFAULT_CODEC: FrameCodec = WebpCodec()
_LARGE_CODEC: FrameCodec = PngCodec()


def _decode(data: bytes) -> Pixels:
    import numpy
    from PIL import Image

    with Image.open(io.BytesIO(data)) as image:
        return numpy.asarray(image.convert("RGB"))


def media_type_of(name: str) -> str:
    """`image/webp` for a frame's file name."""
    return _MEDIA_TYPES.get(name.rpartition(".")[2], "application/octet-stream")


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """A frame on its way to disk: our own copy of the pixels, or encoded bytes that are kept as they came."""

    pixels: Pixels | None
    encoded: bytes | None
    extension: str
    codec: FrameCodec

    def same_as(self, other: Picture) -> bool:
        """True where both show exactly the same and were given in the same form."""
        if self is other:
            return True
        if self.pixels is not None and other.pixels is not None:
            import numpy

            return bool(numpy.array_equal(self.pixels, other.pixels))
        return self.encoded is not None and self.encoded == other.encoded

    def encode(self) -> bytes:
        """The bytes that will lie on disk."""
        if self.encoded is not None:
            return self.encoded
        assert self.pixels is not None
        return self.codec.encode(self.pixels)

    def array(self) -> Pixels:
        """uint8 (H, W, 3) in RGB. Raises ValueError or OSError where encoded bytes can't be decoded."""
        return self.pixels if self.pixels is not None else _decode(self.encoded or b"")


def picture(frame: Any, codec: FrameCodec = DEFAULT_CODEC) -> Picture:
    """Checks a frame and takes a copy, so that the caller may reuse its buffer.

    Accepts NumPy `uint8 (H, W, 3)` in RGB, a PIL image without transparency, or the bytes of a WebP, PNG, JPEG, GIF
    or BMP file. Raises InvalidInput that says what was found.
    """
    if isinstance(frame, (bytes, bytearray, memoryview)):
        data = bytes(frame)
        return Picture(None, data, _sniff(data), codec)
    if hasattr(frame, "convert") and hasattr(frame, "getbands"):
        frame = _pixels_of_image(frame)
    if not hasattr(frame, "dtype"):
        raise InvalidInput(
            f"frame: an array, a PIL image or encoded bytes was expected, found {type(frame).__name__}; "
            "a path is not read: pass its bytes"
        )
    import numpy

    if frame.dtype != numpy.uint8 or frame.ndim != 3 or frame.shape[2] != 3 or 0 in frame.shape:
        raise InvalidInput(f"frame: uint8 (H, W, 3) was expected, found {frame.dtype} {tuple(frame.shape)}")
    if max(frame.shape[:2]) > _WEBP_LONGEST_EDGE and isinstance(codec, WebpCodec):
        codec = _LARGE_CODEC
    return Picture(numpy.array(frame, order="C", copy=True), None, codec.extension, codec)


def _pixels_of_image(image: PIL.Image.Image) -> Pixels:
    import numpy

    if "A" in image.getbands() and image.getchannel("A").getextrema()[0] != 255:
        raise InvalidInput("frame: an image with transparent pixels can't be kept exactly; flatten it first")
    if image.mode not in ("RGB", "RGBA", "L", "LA", "P", "1"):
        raise InvalidInput(f"frame: an image of mode {image.mode} can't be kept exactly; convert it to RGB first")
    return numpy.asarray(image.convert("RGB"))


def _sniff(data: bytes) -> str:
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "webp"
    for signature, extension, _ in _SIGNATURES:
        if data.startswith(signature):
            return extension
    raise InvalidInput(f"frame: bytes of a WebP, PNG, JPEG, GIF or BMP file were expected, found {data[:8]!r}")


def screen_hash(pixels: Pixels) -> str:
    """128 bits in hex that stand for exactly these pixels at this size: the cue of `--same-screen`."""
    height, width = pixels.shape[:2]
    digest = hashlib.sha256(f"{width}x{height}:".encode())
    digest.update(pixels.data if pixels.flags.c_contiguous else pixels.tobytes())
    return digest.hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Frame:
    """A stored frame: its bytes as they lie on disk, and the pixels on request.

    `source` is the file it was read from, relative to the memory.
    """

    name: str
    data: bytes
    source: str

    @property
    def media_type(self) -> str:
        """Such as `image/webp`."""
        return media_type_of(self.name)

    @property
    def size(self) -> tuple[int, int]:
        """(width, height) in pixels. Raises Damaged."""
        return self.image().size

    def image(self) -> PIL.Image.Image:
        """The picture as a PIL image in RGB. Raises Damaged where the bytes are no picture."""
        from PIL import Image

        try:
            with Image.open(io.BytesIO(self.data)) as image:
                return image.convert("RGB")
        except (OSError, ValueError, SyntaxError) as error:
            raise Damaged(f"frame {self.name} can't be decoded: {error}", file=self.source) from None

    def array(self) -> Pixels:
        """uint8 (H, W, 3) in RGB. Raises Damaged where the bytes are no picture."""
        import numpy

        return numpy.asarray(self.image())


def no_frame(reference: str, why: str | None) -> NotFound:
    """The error for a frame that is not there, with the recorded reason."""
    return NotFound(f"{reference} has no frame" + (f": {why}" if why else ""))
