"""What a call gives, before it is put into the protocol's blocks: text, structured facts, pictures, links.

Some clients show their model the structured part alone, others the text alone: each says all of it, pictures apart.
Everything is bounded; what has no room is named with the way to get it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from scrubjay.errors import ScrubjayError
from scrubjay.memory.jsonio import Json
from scrubjay.memory.records import Row

__all__ = ["MOST_TEXT", "Answer", "Link", "Picture", "bounded", "cut", "explained", "row_json", "within"]

MOST_TEXT = 20_000  # characters of a result
_MOST_VALUE = 2_000  # characters of one value of a row
_MOST_ERROR = 1_000
T = TypeVar("T")
_NOT_SHOWN = frozenset({"digest", "observation_hash", "image"})


@dataclass(frozen=True, slots=True)
class Picture:
    """An encoded picture (PNG, JPEG or WebP)."""

    data: bytes
    media_type: str


@dataclass(frozen=True, slots=True)
class Link:
    """A resource of this server."""

    uri: str
    name: str
    media_type: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of one call."""

    text: str
    structured: Json
    pictures: Sequence[Picture] = ()
    links: Sequence[Link] = field(default=())

    @classmethod
    def of_text(cls, text: str) -> Answer:
        """An answer that is only text."""
        return cls(text, {"text": text})


def bounded(text: str, how: str) -> str:
    """The text, cut at the end of a line where it is too long; `how` says how to get the rest."""
    if len(text) <= MOST_TEXT:
        return text
    kept = text[:MOST_TEXT]
    kept = kept[: kept.rfind("\n")] if "\n" in kept else kept
    return f"{kept}\n({len(text) - len(kept)} characters more: {how})"


def within(items: Sequence[T], room: int = MOST_TEXT) -> list[T]:
    """The first of these objects that have room, as JSON, in so many characters; one at least."""
    kept: list[T] = []
    for item in items:
        room -= len(json.dumps(item, ensure_ascii=False)) + 2
        if kept and room < 0:
            break
        kept.append(item)
    return kept


def row_json(row: Row) -> Json:
    """A row as the index has it, without what is empty, what only programs need, and the end of very long values."""
    shown: Json = {}
    for key, value in row.to_json().items():
        if value in (None, [], {}) or key in _NOT_SHOWN:
            continue
        shown[key] = _short(value)
    return shown


def _short(value: Any) -> Any:
    if isinstance(value, str):
        return cut(value, _MOST_VALUE)
    if isinstance(value, list):
        kept = within([_short(item) for item in value], _MOST_VALUE)
        return kept if len(kept) == len(value) else [*kept, f"… ({len(value) - len(kept)} more)"]
    if isinstance(value, dict):
        text = json.dumps(value, ensure_ascii=False)
        return value if len(text) <= _MOST_VALUE else _short(text)
    return value


def cut(text: str, most: int) -> str:
    """The first `most` characters, and how many more there are."""
    return text if len(text) <= most else f"{text[:most]}… ({len(text) - most} more)"


def explained(error: Exception) -> str:
    """An error for whoever called, in words."""
    text = str(error) if isinstance(error, ScrubjayError) else f"{type(error).__name__}: {error}"
    return f"error: {cut(text, _MOST_ERROR)}"
