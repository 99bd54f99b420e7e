"""A picture that somebody hands in to be seen beside a remembered one: the current screen, or a file.

It lies in no memory, so it travels with the question, small enough for a line of a journal.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import io
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scrubjay.errors import Damaged, InvalidInput
from scrubjay.memory.frames import picture
from scrubjay.memory.jsonio import Json
from scrubjay.retrieval.fitting import ACCEPTED, fit, scaled, shown_size
from scrubjay.retrieval.views import Bounds

if TYPE_CHECKING:
    import PIL.Image

__all__ = ["GivenFrame", "given_frame"]

_MOST_BYTES = 300_000
_NAME = "given"


@dataclass(frozen=True, slots=True)
class GivenFrame:
    """A frame that was handed in, as bytes of PNG, JPEG or WebP."""

    data: bytes
    media_type: str
    name: str = _NAME

    def image(self) -> PIL.Image.Image:
        """The picture in RGB. Raises Damaged where the bytes are none."""
        return _decoded(self.data)

    def to_json(self) -> Json:
        """What a stored question keeps of it."""
        return {
            "name": self.name,
            "media_type": self.media_type,
            "sha256": hashlib.sha256(self.data).hexdigest(),
            "data": base64.b64encode(self.data).decode(),
        }

    @classmethod
    def from_json(cls, stored: Json) -> GivenFrame:
        """The frame of a stored question. Raises Damaged where the row doesn't hold it whole."""
        try:
            data = base64.b64decode(stored["data"], validate=True)
        except (KeyError, TypeError, ValueError, binascii.Error) as error:
            raise Damaged(f"a source without reference holds no picture: {error}", file="inspections.jsonl") from None
        if hashlib.sha256(data).hexdigest() != stored.get("sha256"):
            raise Damaged("the picture of a question is not the one that was asked about", file="inspections.jsonl")
        return cls(data, str(stored.get("media_type")), str(stored.get("name")))


@dataclass(frozen=True, slots=True)
class _Shrunk:
    image: PIL.Image.Image


def given_frame(source: Any, bounds: Bounds) -> GivenFrame:
    """A frame from an array `uint8 (H, W, 3)`, a PIL image, encoded bytes or the path of a picture.

    It is kept as it came where it is small enough, else made to fit. Raises InvalidInput where it is no picture.
    """
    name = _NAME
    if isinstance(source, (str, os.PathLike)):
        name = os.path.basename(os.fspath(source))
        try:
            with open(source, "rb") as file:
                source = file.read()
        except OSError as error:
            raise InvalidInput(f"{os.fspath(source)}: no picture can be read there: {error.strerror}") from None
    data = source if isinstance(source, bytes) else picture(source).encode()
    try:
        image = _decoded(data)
    except Damaged as error:
        raise InvalidInput(f"a picture was expected; {error}") from None
    limits = Bounds(bounds.long_edge, min(_MOST_BYTES, bounds.max_bytes))
    media_type = _media_type(data)
    if media_type in ACCEPTED and limits.hold(image.size, len(data)):
        return GivenFrame(data, media_type, name)

    def draw(edge: int) -> _Shrunk:
        return _Shrunk(scaled(image, shown_size(image.size, (edge, edge), 0)))

    return GivenFrame(*fit(draw, limits)[:2], name)


def _decoded(data: bytes) -> PIL.Image.Image:
    from PIL import Image

    try:
        with Image.open(io.BytesIO(data)) as image:
            return image.convert("RGB")
    except (OSError, ValueError, SyntaxError) as error:
        raise Damaged(f"these bytes are no picture: {error}", file=_NAME) from None


def _media_type(data: bytes) -> str:
    from PIL import Image

    with Image.open(io.BytesIO(data)) as image:
        return Image.MIME.get(image.format or "", "application/octet-stream")
