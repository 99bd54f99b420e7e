"""The fast policy over a server that speaks OpenAI's protocol: vLLM, or llama.cpp's llama-server.

Which adapter answers is chosen in each request: by the `model` field (vLLM), or by the `lora` list (llama-server). It
sends prompts to the one server that a person configured.
"""

from __future__ import annotations

import base64
import http.client
import json
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

from scrubjay.errors import InvalidInput, ModelUnavailable, NotFound
from scrubjay.memory.jsonio import Json
from scrubjay.parametric.backbone import Generation
from scrubjay.parametric.examples import Prompt
from scrubjay.parametric.policy import MAX_NEW_TOKENS
from scrubjay.parametric.shelf import Shelf

__all__ = ["Kind", "ServedPolicy", "Server", "served_policy"]

Kind = Literal["vllm", "llama"]
_MOST_BYTES = 8 << 20  # of one answer


@dataclass(frozen=True, slots=True)
class Server:
    """Where a server is, what it is, and how long to wait. `url` ends before `/v1`; `base` is its model's name."""

    url: str
    kind: Kind
    base: str = ""
    seconds: float = 60.0
    sees: bool = False

    def post(self, path: str, body: Json) -> Any:
        """The decoded answer. Raises ModelUnavailable where there is none, InvalidInput where it refuses."""
        request = urllib.request.Request(
            f"{self.url.rstrip('/')}{path}",
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        return self._answer(request)

    def get(self, path: str) -> Any:
        """The decoded answer, as `post`."""
        return self._answer(urllib.request.Request(f"{self.url.rstrip('/')}{path}"))

    def _answer(self, request: urllib.request.Request) -> Any:
        where = request.full_url
        try:
            with _OPENER.open(request, timeout=self.seconds) as reply:
                data = self._read(reply)
        except urllib.error.HTTPError as error:
            said = error.read(2000).decode(errors="replace")
            if error.code >= 500:
                raise ModelUnavailable(f"{where}: status {error.code}: {said:.300}") from None
            raise InvalidInput(f"{where}: refused with status {error.code}: {said:.300}") from None
        except (OSError, http.client.HTTPException) as error:
            raise ModelUnavailable(f"{where}: no answer: {error}") from None
        try:
            return json.loads(data) if data.strip().startswith((b"{", b"[")) else data.decode(errors="replace")
        except (ValueError, RecursionError):
            raise ModelUnavailable(f"{where}: an answer that is no JSON", is_garbled=True) from None

    def _read(self, reply: Any) -> bytes:
        """All of an answer, within `seconds`. Raises OSError."""
        end, parts, size = time.monotonic() + self.seconds, [], 0
        while part := reply.read1(1 << 16):
            parts.append(part)
            size += len(part)
            if size > _MOST_BYTES:
                raise OSError(f"more than {_MOST_BYTES} bytes")
            if time.monotonic() > end:
                raise TimeoutError(f"it was not done after {self.seconds:g} s")
        if reply.length:
            raise OSError(f"it broke off, {reply.length} bytes before its end")
        return b"".join(parts)


class _Here(urllib.request.HTTPRedirectHandler):
    """No other server than the one that was configured."""

    def redirect_request(self, *args: Any, **named: Any) -> None:
        """Follows none: the status is the answer."""


_OPENER = urllib.request.build_opener(_Here)


class ServedPolicy:
    """The adapters in place in a memory, as a server has them.

    vLLM: adapters are loaded by name (`publish`), and named in `model`. llama-server: it is started with `--lora`
    files, which `GET /lora-adapters` lists; a request names them by id in `lora`, each with its scale.
    """

    def __init__(self, shelf: Shelf, server: Server, max_new_tokens: int = MAX_NEW_TOKENS) -> None:
        self._shelf, self._server, self._most = shelf, server, max_new_tokens

    @property
    def categories(self) -> tuple[str, ...]:
        """Those with an adapter in place now."""
        return tuple(self._shelf.all())

    @property
    def sees(self) -> bool:
        """Whether frames are sent."""
        return self._server.sees

    def publish(self, category: str) -> None:
        """Tells the server of the adapter in place: to be called after each cycle that was kept.

        vLLM takes it under the same name, in place (start it with VLLM_ALLOW_RUNTIME_LORA_UPDATING=True).
        llama-server can't load one while it runs: raises InvalidInput where it lists none of this name.
        """
        current = self._shelf.current(category)
        if current is None:
            raise NotFound(f"{category} has no adapter yet: run a cycle of it")
        if self._server.kind == "llama":
            self._llama_id(category, self._listed())
            return
        body = {"lora_name": category, "lora_path": current.adapter, "load_inplace": True}
        self._server.post("/v1/load_lora_adapter", body)

    def generate(self, category: str, prompt: Prompt) -> Generation:
        """One generation, greedily. Raises ModelUnavailable, or InvalidInput where the server refuses."""
        body: Json = {
            "messages": [{"role": "user", "content": _content(prompt)}],
            "max_tokens": self._most,
            "temperature": 0,
        }
        if self._server.kind == "vllm":
            body["model"] = category
        else:
            body |= {"model": self._server.base, "lora": self._llama_choice(category)}
        began = time.monotonic()
        answer = self._server.post("/v1/chat/completions", body)
        return _generation(answer, time.monotonic() - began)

    def _llama_choice(self, category: str) -> list[Json]:
        """The adapter of this category at full scale, every other at none."""
        listed = self._listed()
        chosen = self._llama_id(category, listed)
        return [{"id": one["id"], "scale": float(one["id"] == chosen)} for one in listed]

    def _listed(self) -> list[Json]:
        found = self._server.get("/lora-adapters")
        if not isinstance(found, list) or not all(
            isinstance(one, dict) and type(one.get("id")) is int for one in found
        ):
            raise ModelUnavailable(f"{self._server.url}: no list of adapters", is_garbled=True)
        return found

    def _llama_id(self, category: str, listed: list[Json]) -> int:
        """By the name of its file: craft.gguf, or any file under adapters/craft/."""
        for one in listed:
            parts = str(one.get("path", "")).replace("\\", "/").split("/")
            if category in parts or parts[-1].rpartition(".")[0] == category:
                return int(one["id"])
        raise InvalidInput(
            f"{self._server.url} was started without an adapter {category}: give it --lora {category}.gguf"
        )


def _content(prompt: Prompt) -> Any:
    if prompt.image is None:
        return prompt.text
    kind = "webp" if prompt.image[:4] == b"RIFF" else "png" if prompt.image[:4] == b"\x89PNG" else "jpeg"
    url = f"data:image/{kind};base64,{base64.b64encode(prompt.image).decode()}"
    return [{"type": "image_url", "image_url": {"url": url}}, {"type": "text", "text": prompt.text}]


def _generation(answer: Any, seconds: float) -> Generation:
    try:
        choice, usage = answer["choices"][0], answer.get("usage") or {}
        text = choice["message"]["content"] or ""
        return Generation(
            str(text),
            int(usage.get("prompt_tokens", 0)),
            int(usage.get("completion_tokens", 0)),
            choice.get("finish_reason") == "length",
            seconds,
        )
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError):
        raise ModelUnavailable(f"an answer without a completion: {answer!r:.200}", is_garbled=True) from None


def served_policy(shelf: Shelf, base: str) -> ServedPolicy:
    """The policy of `http://127.0.0.1:8000/?kind=vllm`, `…/?kind=llama&base=NAME`; `sees=1` sends frames.

    Raises InvalidInput for another kind.
    """
    try:
        parts = urlsplit(base)
        is_whole = bool(parts.hostname) and (parts.port or 80) > 0 and base.isprintable() and " " not in base
    except ValueError:
        is_whole = False
    if not is_whole:
        raise InvalidInput(f"{base!r:.200}: no address of a server; http://127.0.0.1:8000/?kind=vllm is one")
    asked = {key: values[-1] for key, values in parse_qs(parts.query).items()}
    kind = asked.get("kind", "vllm")
    if kind not in ("vllm", "llama"):
        raise InvalidInput(f"{base!r}: kind=vllm or kind=llama was expected")
    url = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/').removesuffix('/v1')}"
    chosen: Kind = "vllm" if kind == "vllm" else "llama"
    return ServedPolicy(shelf, Server(url, chosen, asked.get("base", ""), sees=asked.get("sees") == "1"))
