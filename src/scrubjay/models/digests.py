"""A short name for each part of a request, so that two requests can be compared without keeping what they hold.

Pictures count by their bytes. What only a provider understands (`native`) does not count.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from scrubjay.memory.jsonio import clean, dumps
from scrubjay.models.chat import Image, Message, Part, Tool

__all__ = ["RequestDigest", "digest_of"]


@dataclass(frozen=True, slots=True)
class RequestDigest:
    """The digests of what a request is made of."""

    system: str
    tools: str
    messages: tuple[str, ...]


def digest_of(system: str, messages: tuple[Message, ...], tools: tuple[Tool, ...]) -> RequestDigest:
    """The digest of a request."""
    return RequestDigest(
        _digest(system),
        _digest([[tool.name, tool.description, tool.parameters] for tool in tools]),
        tuple(_digest(_plain(message)) for message in messages),
    )


def _plain(message: Message) -> list[Any]:
    calls = [[call.id, call.name, call.arguments, call.raw] for call in message.calls]
    results = [
        [result.id, result.name, result.is_error, [_part(part) for part in result.parts]] for result in message.results
    ]
    return [message.role, [_part(part) for part in message.parts], calls, results]


def _part(part: Part) -> Any:
    if isinstance(part, Image):
        return {"picture": hashlib.sha256(part.data).hexdigest(), "type": part.media_type, "label": part.label}
    return part


def _digest(value: Any) -> str:
    return hashlib.sha256(dumps(clean(value)[0])).hexdigest()[:16]
