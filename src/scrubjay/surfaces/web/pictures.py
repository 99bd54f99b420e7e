"""Frames for a page: as they are stored, or as thumbnails that are made when first asked for.

Thumbnails lie in the memory's cache, or in the user's where that can't be written. Whether an episode may still be
shown is asked of its record each time, never of the cache.
"""

from __future__ import annotations

import contextlib
import io
import os
import threading
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scrubjay.errors import Damaged, NotFound, ScrubjayError
from scrubjay.memory.evidence import Episode
from scrubjay.memory.frames import Frame, media_type_of
from scrubjay.memory.layout import Layout
from scrubjay.retrieval.cache_files import folder_to_build_in

if TYPE_CHECKING:
    import PIL.Image

__all__ = ["SHOWN", "Pictured", "Thumbnails", "stored"]

# What browsers draw as a picture and nothing else.
SHOWN = frozenset({"image/webp", "image/png", "image/jpeg", "image/gif", "image/bmp"})
_FOLDER = "thumbnails-1"
_WIDEST = 320
_SMALL_BYTES = 24_000


@dataclass(frozen=True, slots=True)
class Pictured:
    """Bytes of a picture with their media type, and a text that stands for exactly these bytes."""

    data: bytes
    media_type: str
    tag: str


def stored(episode: Episode, step: int | None, camera: str | None = None, *, end: bool = False) -> Pictured:
    """A stored frame, its bytes unchanged. Raises NotFound where there is none, Damaged where it is no picture."""
    frame = _frame(episode, step, camera, end)
    media_type = media_type_of(frame.name)
    if media_type not in SHOWN:
        raise Damaged(f"frame {frame.name!r} is in no format that a browser draws", file=frame.source)
    return Pictured(frame.data, media_type, f"{zlib.crc32(frame.data):08x}-{len(frame.data):x}")


def _frame(episode: Episode, step: int | None, camera: str | None, end: bool) -> Frame:
    if end:
        return episode.end_frame(camera)
    return episode.start_frame(camera) if step is None else episode.frame(step, camera)


class Thumbnails:
    """Small pictures of the frames of one memory. `bare` memories are never written to."""

    def __init__(self, layout: Layout, *, bare: bool) -> None:
        self._layout, self._bare = layout, bare
        self._mutex = threading.Lock()

    def get(self, episode: Episode, step: int | None) -> Pictured:
        """The thumbnail of an episode's start or of a step. Raises NotFound or Damaged."""
        if _is_removed(episode):
            raise NotFound(f"{episode.id} was removed by a person")
        name = f"{episode.id}-{'start' if step is None else step}-{_version(episode)}.webp"
        folder = self._folder(episode)
        if folder is not None:
            with contextlib.suppress(OSError), open(os.path.join(folder, name), "rb") as file:
                data = file.read()
                return Pictured(data, "image/webp", f"t{zlib.crc32(data):08x}")
        frame = _frame(episode, step, None, False)
        media_type = media_type_of(frame.name)
        picture = frame.image()
        if media_type in SHOWN and len(frame.data) <= _SMALL_BYTES and picture.width <= _WIDEST:
            return Pictured(frame.data, media_type, f"{zlib.crc32(frame.data):08x}-{len(frame.data):x}")
        data = _shrunk(picture)
        if folder is not None:
            self._keep(os.path.join(folder, name), data, episode.id)
        return Pictured(data, "image/webp", f"t{zlib.crc32(data):08x}")

    def _folder(self, episode: Episode) -> str | None:
        # Looked up each time: whoever deletes the cache may do so between any two calls.
        base = folder_to_build_in(self._layout, bare=self._bare)
        if base is None:
            return None
        return os.path.join(base, _FOLDER, self._layout.bucket_name(int(episode.id[3:])))

    def _keep(self, path: str, data: bytes, ident: str) -> None:
        with contextlib.suppress(OSError, ScrubjayError), self._mutex:
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            unfinished = f"{path}.{os.getpid()}"
            with open(unfinished, "wb") as file:
                file.write(data)
            os.replace(unfinished, path)
            # Whoever removes an episode deletes caches last: if that came between, this file came too late.
            if _is_removed(Episode(self._layout, ident)):
                os.unlink(path)


def _is_removed(episode: Episode) -> bool:
    try:
        return bool(episode.record.get("removed"))
    except NotFound:
        return False  # of a published run there is a row and a picture


def _version(episode: Episode) -> str:
    """Stands for the content of the episode, so that a folder put in another's place has thumbnails of its own."""
    return (episode.row.digest or "0")[:12]


def _shrunk(picture: PIL.Image.Image) -> bytes:
    from PIL import Image

    height = max(1, round(picture.height * _WIDEST / picture.width))
    if picture.width > _WIDEST:
        picture = picture.resize((_WIDEST, min(height, 4 * _WIDEST)), Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    picture.save(buffer, "WEBP", quality=80, method=2)
    return buffer.getvalue()
