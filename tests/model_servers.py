"""Servers on this machine that speak as the providers do, well enough for the providers' own packages."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from scrubjay.models.chat import Image, Message, Reply, Tool
from scrubjay.models.providers import PROVIDERS, make_provider_model


@dataclass(frozen=True)
class Answer:
    """One HTTP answer. With `cut`, the connection breaks after that many bytes of the body; `delay` in seconds."""

    body: Any
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None
    delay: float = 0.0

    def encoded(self, is_stream: bool) -> bytes:
        if isinstance(self.body, bytes):
            return self.body
        if not is_stream:
            return json.dumps(self.body).encode()
        return b"".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n".encode() for e in _events(self.body))


def _events(message: Any) -> Iterator[Any]:
    """The events in which Anthropic sends a message where it streams; what is no message is sent as one event."""
    if "content" not in message:
        yield {"type": "error", **message}
        return
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    for index, block in enumerate(message["content"]):
        match block["type"]:
            case "text":
                deltas = [{"type": "text_delta", "text": block["text"]}]
                empty = {**block, "text": ""}
            case "tool_use":
                deltas = [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]
                empty = {**block, "input": {}}
            case _:
                deltas = [
                    {"type": "thinking_delta", "thinking": block["thinking"]},
                    {"type": "signature_delta", "signature": block["signature"]},
                ]
                empty = {**block, "thinking": "", "signature": ""}
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": message["stop_reason"], "stop_sequence": None},
        "usage": message["usage"],
    }
    yield {"type": "message_stop"}


@dataclass
class Asked:
    """One HTTP request that came."""

    path: str
    headers: dict[str, str]
    body: Any
    text: str


class Server:
    """Gives its answers in order and keeps what it was asked; the last answer is given again and again."""

    def __init__(self, answers: list[Answer], port: int = 0) -> None:
        self.answers = answers
        self.asked: list[Asked] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                text = self.rfile.read(int(self.headers["content-length"])).decode()
                headers = {key.lower(): value for key, value in self.headers.items()}
                server.asked.append(Asked(self.path, headers, json.loads(text), text))
                answer = server.answers.pop(0) if len(server.answers) > 1 else server.answers[0]
                time.sleep(answer.delay)
                is_stream = bool(server.asked[-1].body.get("stream")) and answer.status == 200
                body = answer.encoded(is_stream)
                self.send_response(answer.status)
                self.send_header("content-type", "text/event-stream" if is_stream else "application/json")
                self.send_header("content-length", str(len(body)))
                for key, value in answer.headers.items():
                    self.send_header(key, value)
                self.end_headers()
                self.wfile.write(body if answer.cut is None else body[: answer.cut])

            def log_message(self, *arguments: Any) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    @property
    def port(self) -> int:
        return self._http.server_port

    def close(self) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()


@contextmanager
def serving(*answers: Answer, port: int = 0) -> Iterator[Server]:
    server = Server(list(answers), port)
    try:
        yield server
    finally:
        server.close()


@dataclass(frozen=True)
class Wire:
    """One provider's way of speaking, as far as the tests need it.

    `pictures` finds the pictures of a request as bytes, in order. Its package streams the replies of models that it
    knows to be able of long ones.
    """

    provider: str
    model: str
    key: str
    prefix: str
    reply: Callable[..., Any]
    error: Callable[[int, str], Any]
    too_large: str
    pictures: Callable[[Any], list[bytes]]

    def choice(self, server: Server) -> str:
        return self.at(server.port)

    def at(self, port: int) -> str:
        return f"{self.provider}:{self.model}@http://127.0.0.1:{port}{self.prefix}"


Call = tuple[str, str, Any]


def anthropic_reply(text: str = "", calls: list[Call] | None = None, stop: str | None = None) -> Any:
    content: list[Any] = [{"type": "text", "text": text}] if text else []
    content += [{"type": "tool_use", "id": i, "name": n, "input": a} for i, n, a in calls or []]
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "some-model",
        "content": content,
        "stop_reason": stop or ("tool_use" if calls else "end_turn"),
        "stop_sequence": None,
        "usage": {"input_tokens": 11, "output_tokens": 7},
    }


def openai_reply(text: str = "", calls: list[Call] | None = None, stop: str | None = None) -> Any:
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    if calls:
        message["tool_calls"] = [
            {
                "id": i,
                "type": "function",
                "function": {"name": n, "arguments": a if isinstance(a, str) else json.dumps(a)},
            }
            for i, n, a in calls
        ]
    finish = {"max_tokens": "length", "refusal": "content_filter"}.get(stop or "", "tool_calls" if calls else "stop")
    return {
        "id": "c_1",
        "object": "chat.completion",
        "created": 1,
        "model": "some-model",
        "choices": [{"index": 0, "finish_reason": finish, "message": message}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
    }


def google_reply(text: str = "", calls: list[Call] | None = None, stop: str | None = None) -> Any:
    parts: list[Any] = [{"text": text}] if text else []
    parts += [{"functionCall": {"id": i, "name": n, "args": a}} for i, n, a in calls or []]
    finish = {"max_tokens": "MAX_TOKENS", "refusal": "SAFETY"}.get(stop or "", "STOP")
    return {
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": finish, "index": 0}],
        "usageMetadata": {"promptTokenCount": 11, "candidatesTokenCount": 7, "totalTokenCount": 18},
        "modelVersion": "some-model",
        "responseId": "r_1",
    }


def _anthropic_error(status: int, message: str) -> Any:
    kinds = {
        400: "invalid_request_error",
        401: "authentication_error",
        413: "request_too_large",
        429: "rate_limit_error",
    }
    return {"type": "error", "error": {"type": kinds.get(status, "api_error"), "message": message}}


def _openai_error(status: int, message: str) -> Any:
    return {"error": {"message": message, "type": "some_error", "param": None, "code": None}}


def _google_error(status: int, message: str) -> Any:
    kinds = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE"}
    return {"error": {"code": status, "message": message, "status": kinds.get(status, "INTERNAL")}}


def _find(value: Any, key: str) -> Iterator[Any]:
    if isinstance(value, dict):
        for name, inner in value.items():
            if name == key:
                yield inner
            else:
                yield from _find(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from _find(inner, key)


def _anthropic_pictures(body: Any) -> list[bytes]:
    return [base64.b64decode(one["data"]) for one in _find(body, "source") if one["type"] == "base64"]


def _openai_pictures(body: Any) -> list[bytes]:
    urls = [one["url"] for one in _find(body, "image_url")]
    return [base64.b64decode(url.partition(";base64,")[2]) for url in urls if url.startswith("data:image/")]


def _google_pictures(body: Any) -> list[bytes]:
    # The package encodes bytes with the URL-safe alphabet.
    found = [one for key in ("inlineData", "inline_data") for one in _find(body, key)]
    return [base64.urlsafe_b64decode(one["data"]) for one in found]


ANTHROPIC = Wire(
    "anthropic",
    "some-model",
    "ANTHROPIC_API_KEY",
    "",
    anthropic_reply,
    _anthropic_error,
    "prompt is too long: 210000 tokens > 200000 maximum",
    _anthropic_pictures,
)
OPENAI = Wire(
    "openai",
    "some-model",
    "OPENAI_API_KEY",
    "/v1",
    openai_reply,
    _openai_error,
    "This model's maximum context length is 8192 tokens, however you requested 9000 tokens",
    _openai_pictures,
)
GOOGLE = Wire(
    "google",
    "some-model",
    "GOOGLE_API_KEY",
    "",
    google_reply,
    _google_error,
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    _google_pictures,
)
STREAMED = replace(ANTHROPIC, model="claude-opus-5")
WIRES = [ANTHROPIC, STREAMED, OPENAI, GOOGLE]

each_wire = pytest.mark.parametrize("wire", WIRES, ids=lambda wire: f"{wire.provider}-{wire.model}")

LOOK = Tool(
    "look",
    "Shows a stored frame.",
    {"type": "object", "properties": {"reference": {"type": "string"}}, "required": ["reference"]},
)
NOW = Image(b"\x89PNG now", "image/png", "now")
TASK = Message("user", ("Mine a diamond.", NOW))


def set_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of a person who has a key for each provider and no addresses."""
    for provider in PROVIDERS.values():
        monkeypatch.delenv(provider.url, raising=False)
        for key in provider.keys:
            monkeypatch.delenv(key, raising=False)
    for wire in WIRES:
        monkeypatch.setenv(wire.key, f"key-of-{wire.provider}")


def ask(wire: Wire, server: Server, *messages: Message) -> Reply:
    return make_provider_model(wire.choice(server)).request("Be brief.", messages or (TASK,), (LOOK,))
