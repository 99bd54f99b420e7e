"""Pictures that a client sends: base64 in an argument, checked before anything of it is recorded or shown.

It knows bytes and bounds. What the picture is for, it does not know.
"""

from __future__ import annotations

import base64
import binascii
import io
from typing import Any

from scrubjay.errors import InvalidInput

__all__ = ["MOST_BYTES", "MOST_PIXELS", "decoded", "picture_of"]

MOST_BYTES = 16_000_000
MOST_PIXELS = 40_000_000


def picture_of(given: Any) -> bytes | dict[str, bytes] | None:
    """One picture, or one of each camera. Raises InvalidInput that says which is wrong, and how."""
    if isinstance(given, dict):
        return {str(camera): decoded(one, f"image.{camera}") for camera, one in given.items()}
    return None if given is None else decoded(given, "image")


def decoded(text: Any, name: str) -> bytes:
    """The bytes of a picture from base64, whole and within the bounds. Raises InvalidInput."""
    if not isinstance(text, str):
        raise InvalidInput(f"{name}: base64 of a picture file was expected, found {type(text).__name__}")
    if text.startswith("data:"):
        text = text.partition(",")[2]
    if len(text) > MOST_BYTES * 4 // 3 + 4:
        raise InvalidInput(f"{name}: a picture of at most {MOST_BYTES:,} bytes was expected; send a smaller one")
    try:
        data = base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidInput(f"{name}: not base64 ({error}); the bytes of a picture file were expected in it") from None
    _check(data, name)
    return data


def _check(data: bytes, name: str) -> None:
    from PIL import Image, UnidentifiedImageError

    try:
        # The size stands in the head of the file: a bomb is refused before a pixel of it is made.
        image = Image.open(io.BytesIO(data), formats=("PNG", "JPEG", "WEBP", "GIF", "BMP"))
        if image.width * image.height > MOST_PIXELS:
            raise InvalidInput(f"{name}: {image.width}x{image.height} pixels; at most {MOST_PIXELS:,} are taken")
        image.load()
    except UnidentifiedImageError:
        raise InvalidInput(f"{name}: these {len(data)} bytes are no PNG, JPEG, WebP, GIF or BMP file") from None
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise InvalidInput(f"{name}: the picture is broken: {error}") from None
