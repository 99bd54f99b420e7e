"""The context of a language model: the messages it is shown, how large they are, and what survives a reset.

It knows messages. What is asked and what is answered it does not know.
"""

from __future__ import annotations

from dataclasses import replace

from scrubjay.models.chat import Image, Message, Part, ToolResult

__all__ = ["Context", "tokens_of"]

_CHARACTERS_PER_TOKEN = 3.5  # JSON and coordinates take more tokens than prose
_TOKENS_PER_IMAGE = 1600  # what the dearest of the usual providers counts for a picture within our bounds


def tokens_of(message: Message) -> int:
    """An estimate, on the safe side, of what a message costs."""
    parts: list[Part] = list(message.parts)
    for result in message.results:
        parts += result.parts
    calls = sum(len(str(call.arguments or call.raw)) + 20 for call in message.calls)
    text = sum(len(part) for part in parts if isinstance(part, str)) + calls
    images = sum(isinstance(part, Image) for part in parts)
    return round(text / _CHARACTERS_PER_TOKEN) + images * _TOKENS_PER_IMAGE + 4


class Context:
    """Messages within a budget of tokens, and at most `images` pictures: older ones are left out, and said to be."""

    def __init__(self, tokens: int, images: int) -> None:
        self._budget, self._images = tokens, images
        self.messages: tuple[Message, ...] = ()

    def add(self, message: Message) -> None:
        """Appends a message and leaves out the pictures that are too many."""
        self.messages = _with_newest_images((*self.messages, message), self._images)

    @property
    def tokens(self) -> int:
        """What the messages cost, estimated."""
        return sum(map(tokens_of, self.messages))

    @property
    def is_full(self) -> bool:
        """True where there is no room for another turn."""
        return self.tokens > self._budget

    def reset(self) -> None:
        """Forgets every message. What must survive lies in the memory."""
        self.messages = ()


def _with_newest_images(messages: tuple[Message, ...], most: int) -> tuple[Message, ...]:
    left = most
    kept: list[Message] = []
    for message in reversed(messages):
        results = []
        for result in reversed(message.results):
            parts, left = _thinned(result.parts, left)
            results.append(result if parts == result.parts else replace(result, parts=parts))
        parts, left = _thinned(message.parts, left)
        same = parts == message.parts and tuple(reversed(results)) == message.results
        kept.append(message if same else replace(message, parts=parts, results=_tuple(results)))
    return tuple(reversed(kept))


def _tuple(results: list[ToolResult]) -> tuple[ToolResult, ...]:
    return tuple(reversed(results))


def _thinned(parts: tuple[Part, ...], left: int) -> tuple[tuple[Part, ...], int]:
    kept: list[Part] = []
    for part in reversed(parts):
        if isinstance(part, Image):
            left -= 1
            if left < 0:
                kept.append(f"(a picture of {part.label or 'an earlier moment'} was here; look again if you need it)")
                continue
        kept.append(part)
    return tuple(reversed(kept)), left
