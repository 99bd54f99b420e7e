"""The addresses of resources: `scrubjay://episodes/{id}`, `…/frames/{step}` and `scrubjay://mine/{+path}`.

It turns addresses into names and back, strictly: what does not look exactly like one of the three is refused. It
touches no file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote, unquote_to_bytes

from scrubjay.errors import InvalidInput
from scrubjay.memory.layout import episode_number
from scrubjay.memory.paths import document_path

__all__ = ["TEMPLATES", "DocumentAddress", "EpisodeAddress", "FrameAddress", "parse"]

TEMPLATES = (
    (
        "scrubjay://episodes/{id}",
        "episode",
        "What was done, seen and got",
        "application/json",
    ),
    ("scrubjay://episodes/{id}/frames/{step}{?camera}", "frame", "A stored frame as it was recorded", None),
    ("scrubjay://mine/{+path}", "document", "A document that the agent wrote", None),
)
_PREFIX = "scrubjay://"
_FRAME = re.compile(r"episodes/(ep_[0-9]{6,18})/frames/([0-9]{1,18}|start|end)(?:\?camera=([A-Za-z0-9_]{1,40}))?")
_EPISODE = re.compile(r"episodes/(ep_[0-9]{6,18})")
_UNESCAPED = re.compile(r"[A-Za-z0-9._~!$&'()*+,;=:@/-]*(?:%[0-9A-Fa-f]{2}[A-Za-z0-9._~!$&'()*+,;=:@/-]*)*")


@dataclass(frozen=True, slots=True)
class EpisodeAddress:
    """An episode."""

    episode: str

    def __str__(self) -> str:
        return f"{_PREFIX}episodes/{self.episode}"


@dataclass(frozen=True, slots=True)
class FrameAddress:
    """A stored frame of one step, or the first or last of an episode."""

    episode: str
    step: int | str
    camera: str | None = None

    def __str__(self) -> str:
        camera = f"?camera={self.camera}" if self.camera else ""
        return f"{_PREFIX}episodes/{self.episode}/frames/{self.step}{camera}"


@dataclass(frozen=True, slots=True)
class DocumentAddress:
    """A document by its path inside `mine/`."""

    path: str

    def __str__(self) -> str:
        return f"{_PREFIX}mine/{quote(self.path)}"


def parse(uri: str) -> EpisodeAddress | FrameAddress | DocumentAddress:
    """What a URI addresses. Raises InvalidInput for what is no address, or leads out of `mine/` in any spelling."""
    rest = uri.removeprefix(_PREFIX)
    if rest != uri:
        if found := _EPISODE.fullmatch(rest):
            episode_number(found[1])
            return EpisodeAddress(found[1])
        if found := _FRAME.fullmatch(rest):
            episode_number(found[1])
            return FrameAddress(found[1], found[2] if found[2].isalpha() else int(found[2]), found[3])
        if rest.startswith("mine/"):
            return DocumentAddress(_path(rest.removeprefix("mine/"), uri))
    shown = ", ".join(template for template, *_ in TEMPLATES)
    raise InvalidInput(f"{uri[:200]!r} is not a resource of this memory; they look like {shown}")


def _path(written: str, uri: str) -> str:
    # Decoded once; a percent sign that is left over is refused as a name, so no second decoding can mean another.
    if _UNESCAPED.fullmatch(written) is None:
        raise InvalidInput(f"{uri[:200]!r}: a character that must be percent-encoded, or a broken percent-encoding")
    try:
        return document_path(unquote_to_bytes(written).decode())
    except UnicodeDecodeError:
        raise InvalidInput(f"{uri[:200]!r}: the path is not UTF-8") from None
