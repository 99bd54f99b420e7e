"""What a language model is to us: messages with pictures in, text and tool calls out, and what it cost.

It knows no provider and no agent. A provider's adapter and a replaying model stand behind the same Protocol.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Protocol

from scrubjay.memory.jsonio import Json

__all__ = ["ChatModel", "Image", "Message", "Part", "Reply", "Tool", "ToolCall", "ToolResult", "Usage"]


@dataclass(frozen=True, slots=True)
class Image:
    """A picture shown to a model, as encoded bytes (PNG, JPEG or WebP), with the reference it shows in `label`."""

    data: bytes
    media_type: str
    label: str = ""


Part = str | Image


@dataclass(frozen=True, slots=True)
class Tool:
    """Something that a model may call; `parameters` is a JSON Schema of an object."""

    name: str
    description: str
    parameters: Json


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that a model made. `arguments` is what it sent, or None with the text in `raw` where that is no object."""

    id: str
    name: str
    arguments: Json | None
    raw: str = ""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call gave back, for the model."""

    id: str
    name: str
    parts: tuple[Part, ...]
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """One message: a person's or harness's (`user`), the model's (`assistant`), or results of its calls (`tool`).

    `native` is a reply as its provider gave it, thoughts and signatures included, which some providers must see
    again. It is JSON, means nothing to anybody else, and stands for `parts` and `calls` where the provider knows it.
    """

    role: Literal["user", "assistant", "tool"]
    parts: tuple[Part, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    results: tuple[ToolResult, ...] = ()
    native: Json | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """What requests used. `cost` is in US dollars, None where no price is known."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    images: int = 0
    cost: float | None = None

    def __add__(self, other: Usage) -> Usage:
        known = [cost for cost in (self.cost, other.cost) if cost is not None]
        return Usage(
            self.requests + other.requests,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.images + other.images,
            sum(known) if known else None,
        )


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered.

    `stop` is why it ended: it wants its calls carried out, it was done, it ran out of room, or it declined. `native`
    goes into the message that says this again (`message`). `left_out` counts what had to be taken out of the request.
    """

    text: str
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = field(default_factory=Usage)
    stop: Literal["calls", "end", "length", "refused"] = "end"
    native: Json | None = None
    left_out: int = 0

    @property
    def message(self) -> Message:
        """This reply as a message of the conversation, for the next request."""
        return Message("assistant", (self.text,) if self.text else (), self.calls, native=self.native)


class ChatModel(Protocol):
    """Answers a conversation."""

    @property
    def name(self) -> str:
        """What lives, tables and reports call it."""
        ...

    def request(self, system: str, messages: tuple[Message, ...], tools: tuple[Tool, ...]) -> Reply:
        """One request. Raises ModelUnavailable (an outage; wait and ask again) or RequestTooLarge (show it less)."""
        ...
