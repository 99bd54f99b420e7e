"""Conversations in our words and in those of the package that speaks to providers, both ways.

Pictures travel as bytes, each after a line with its label. It sends nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal

from pydantic_ai.messages import (
    BinaryContent,
    InstructionPart,
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserContent,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.tools import ToolDefinition

from scrubjay.errors import InvalidInput, ModelUnavailable
from scrubjay.memory.jsonio import Json, dumps, loads_object
from scrubjay.models.chat import Image, Message, Part, Reply, Tool, ToolCall, ToolResult, Usage
from scrubjay.models.providers import Provider

__all__ = ["from_response", "image_count", "to_messages", "to_parameters"]

_PICTURES = ("image/png", "image/jpeg", "image/webp")


def to_parameters(system: str, tools: tuple[Tool, ...]) -> ModelRequestParameters:
    """The standing part of a request."""
    return ModelRequestParameters(
        function_tools=[
            ToolDefinition(name=tool.name, description=tool.description, parameters_json_schema=tool.parameters)
            for tool in tools
        ],
        instruction_parts=[InstructionPart(content=_sendable(system))] if system else [],
    )


def to_messages(messages: tuple[Message, ...], provider: Provider) -> list[ModelMessage]:
    """The conversation, for this provider. Raises InvalidInput for a picture that not all of them can see."""
    translated: list[ModelMessage] = []
    for message in messages:
        if message.role == "assistant":
            response = _response(message, provider)
            if response.parts:  # a reply of nothing at all is refused by some
                translated.append(response)
        else:
            translated.append(ModelRequest(parts=list(_request_parts(message, provider))))
    return translated


def _request_parts(message: Message, provider: Provider) -> Iterator[ModelRequestPart]:
    later: list[UserContent] = []
    for result in message.results:
        if provider.wire == "openai":
            # This format takes no picture in a tool's result: they follow, said to belong to it.
            yield _tool_return(result, _text(result.parts, "shown below"))
            later += [piece for image in _images(result.parts) for piece in _shown(image, f"{result.name} result, ")]
        else:
            pictures = [_binary(image) for image in _images(result.parts)]
            text = _text(result.parts, "below")
            yield _tool_return(result, [text, *pictures] if pictures else text)
    content = later + [piece for part in message.parts for piece in _user_content(part)]
    if content:
        yield UserPromptPart(content=content)


def _tool_return(result: ToolResult, content: str | list[str | BinaryContent]) -> ToolReturnPart:
    outcome: Literal["failed", "success"] = "failed" if result.is_error else "success"
    return ToolReturnPart(tool_name=result.name, content=content, tool_call_id=result.id, outcome=outcome)


def _text(parts: tuple[Part, ...], where: str) -> str:
    """The text of a tool's result. Pictures come after it, so it says at their place which they are."""
    lines: list[str] = []
    pictures = 0
    for part in parts:
        if isinstance(part, Image):
            pictures += 1
            lines.append(f"[picture {pictures}, {where}{': ' if part.label else ''}{part.label}]")
        else:
            lines.append(part)
    return _sendable("\n".join(lines)) or "(nothing)"


def _images(parts: tuple[Part, ...]) -> list[Image]:
    return [part for part in parts if isinstance(part, Image)]


def _user_content(part: Part) -> list[UserContent]:
    return _shown(part) if isinstance(part, Image) else [_sendable(part)] if part else []


def _shown(image: Image, before: str = "") -> list[UserContent]:
    label = before + (image.label or "picture")
    return [f"[{_sendable(label)}]", _binary(image)] if image.label or before else [_binary(image)]


def _binary(image: Image) -> BinaryContent:
    if image.media_type not in _PICTURES:
        raise InvalidInput(f"a picture of type {image.media_type!r} can't be shown; {', '.join(_PICTURES)} can")
    # `identifier` is how the package refers to a picture in words of its own.
    return BinaryContent(data=image.data, media_type=image.media_type, identifier=_sendable(image.label) or None)


def _response(message: Message, provider: Provider) -> ModelResponse:
    native = _known(message.native, provider)
    if native is not None:
        return native
    parts: list[ModelResponsePart] = [
        TextPart(content=_sendable(part)) for part in message.parts if isinstance(part, str) and part
    ]
    for call in message.calls:
        arguments = call.raw if call.arguments is None else json.dumps(call.arguments, ensure_ascii=False)
        parts.append(ToolCallPart(tool_name=call.name, args=_sendable(arguments), tool_call_id=call.id))
    return ModelResponse(parts=parts)


def _known(native: Json | None, provider: Provider) -> ModelResponse | None:
    """What this provider's package made of a reply; None of another provider's, or of another version's."""
    if native is None or native.get("provider") != provider.name:
        return None
    try:
        (response,) = ModelMessagesTypeAdapter.validate_python([native["response"]])
    except (KeyError, ValueError):
        return None
    return response if isinstance(response, ModelResponse) else None


def from_response(response: ModelResponse, provider: Provider, images: int, cost: float | None) -> Reply:
    """The reply that a response is. Raises ModelUnavailable where it breaks off before its end."""
    if response.finish_reason in (None, "error") and (provider.wire == "anthropic" or not _says_something(response)):
        # Anthropic always says why a reply ended; of other servers some don't, but then there is a reply.
        raise ModelUnavailable(f"{provider.name}:{response.model_name} gave no whole answer", is_garbled=True)
    calls = tuple(_call(part) for part in response.parts if isinstance(part, ToolCallPart))
    usage = Usage(1, response.usage.input_tokens, response.usage.output_tokens, images, cost)
    return Reply(response.text or "", calls, usage, _stop(response, calls), _native(response, provider))


def _says_something(response: ModelResponse) -> bool:
    return bool(response.text) or any(isinstance(part, ToolCallPart) for part in response.parts)


def _call(part: ToolCallPart[Any]) -> ToolCall:
    arguments: Json | None = {}
    raw = ""
    if isinstance(part.args, str) and part.args.strip():
        try:
            arguments = loads_object(part.args.encode())
        except (ValueError, RecursionError):
            arguments, raw = None, part.args
    elif part.args is not None and not isinstance(part.args, str):
        try:
            arguments = loads_object(dumps(part.args))
        except (InvalidInput, ValueError):
            arguments, raw = None, str(part.args)
    return ToolCall(part.tool_call_id, part.tool_name, arguments, raw)


def _stop(response: ModelResponse, calls: tuple[ToolCall, ...]) -> Literal["calls", "end", "length", "refused"]:
    if response.finish_reason == "length":
        return "length"
    if response.finish_reason == "content_filter":
        return "refused"
    return "calls" if calls else "end"


def _native(response: ModelResponse, provider: Provider) -> Json | None:
    """The response as it came, where it holds more than text and calls: thoughts, signatures, ids of its own."""
    if all(isinstance(p, (TextPart, ToolCallPart)) and not p.id and not p.provider_details for p in response.parts):
        return None
    (dumped,) = ModelMessagesTypeAdapter.dump_python([response], mode="json", exclude_none=True)
    kept = {key: value for key, value in dumped.items() if key not in ("usage", "timestamp", "metadata")}
    return {"provider": provider.name, "response": kept}


def _sendable(text: str) -> str:
    """The text without lone surrogates, which no request can hold; what was recorded may."""
    return text.encode("utf-8", "replace").decode()


def image_count(messages: tuple[Message, ...]) -> int:
    """How many pictures a conversation holds."""
    parts = [part for m in messages for part in (*m.parts, *(p for result in m.results for p in result.parts))]
    return sum(isinstance(part, Image) for part in parts)
