"""A model that is shown less where a request is refused as too large.

The oldest pictures go first, half of them at a time, then what the oldest calls gave back; a line in their place
says what stood there. What the system says, every text of a message, and the last message stay as they are.
"""

from __future__ import annotations

import re
from dataclasses import replace

from scrubjay.errors import RequestTooLarge
from scrubjay.models.chat import ChatModel, Image, Message, Part, Reply, Tool, ToolResult

__all__ = ["Shrinking", "without_oldest_pictures", "without_oldest_results"]

_REFERENCE = re.compile(r"\bep_[0-9]{6,18}(?:#[0-9]{1,18})?")
_NAMED = 8
_GONE = "[left out to make room"


class Shrinking:
    """A model that shows another one less until it takes the request."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model

    @property
    def name(self) -> str:
        """The name of the model that is shown less."""
        return self._model.name

    def request(self, system: str, messages: tuple[Message, ...], tools: tuple[Tool, ...]) -> Reply:
        """One request, as large as is taken; the reply counts what was left out.

        Raises RequestTooLarge where nothing is left that may go.
        """
        left_out = 0
        while True:
            try:
                reply = self._model.request(system, messages, tools)
            except RequestTooLarge:
                messages, gone = _less(messages)
                if not gone:
                    raise
                left_out += gone
                continue
            return replace(reply, left_out=reply.left_out + left_out) if left_out else reply


def _less(messages: tuple[Message, ...]) -> tuple[tuple[Message, ...], int]:
    messages, gone = without_oldest_pictures(messages)
    return (messages, gone) if gone else without_oldest_results(messages)


def without_oldest_pictures(messages: tuple[Message, ...]) -> tuple[tuple[Message, ...], int]:
    """The conversation without the older half of its pictures, and how many went. The last message keeps its own."""
    pictures = sum(isinstance(part, Image) for message in messages[:-1] for part in _parts(message))
    going = left = (pictures + 1) // 2
    lighter: list[Message] = []
    for message in messages[:-1]:
        if left and (held := sum(isinstance(part, Image) for part in _parts(message))):
            message = _without_pictures(message, left)
            left -= min(left, held)
        lighter.append(message)
    return (*lighter, *messages[-1:]), going


def _parts(message: Message) -> list[Part]:
    return [*(part for result in message.results for part in result.parts), *message.parts]


def _without_pictures(message: Message, count: int) -> Message:
    left = count

    def lighter(parts: tuple[Part, ...]) -> tuple[Part, ...]:
        nonlocal left
        kept: list[Part] = []
        for part in parts:
            if isinstance(part, Image) and left:
                left -= 1
                part = f"{_GONE}: picture{' ' if part.label else ''}{part.label}]"
            kept.append(part)
        return tuple(kept)

    results = tuple(replace(result, parts=lighter(result.parts)) for result in message.results)
    return replace(message, results=results, parts=lighter(message.parts))


def without_oldest_results(messages: tuple[Message, ...]) -> tuple[tuple[Message, ...], int]:
    """The conversation without what the older half of its calls gave back, and how many went."""
    whole = sum(_is_whole(result) for message in messages[:-1] for result in message.results)
    going = left = (whole + 1) // 2
    lighter: list[Message] = []
    for message in messages[:-1]:
        results: list[ToolResult] = []
        for result in message.results:
            if left and _is_whole(result):
                left -= 1
                result = replace(result, parts=(_line(result),))
            results.append(result)
        lighter.append(replace(message, results=tuple(results)))
    return (*lighter, *messages[-1:]), going


def _is_whole(result: ToolResult) -> bool:
    """Whether leaving out its body would make it smaller."""
    return sum(len(part) for part in result.parts if isinstance(part, str)) > len(_line(result))


def _line(result: ToolResult) -> str:
    text = " ".join(part if isinstance(part, str) else part.label for part in result.parts)
    shown = list(dict.fromkeys(_REFERENCE.findall(text)))
    more = f" and {len(shown) - _NAMED} more" if len(shown) > _NAMED else ""
    what = f", which showed {', '.join(shown[:_NAMED])}{more}" if shown else ""
    return f"{_GONE}: the result of {result.name}{what}; call it again where you need it]"
