"""Small servers on this machine that speak of adapters as vLLM and llama-server do, and keep what they were asked."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]


class Served:
    """What a server was asked, and how it is to answer: `finish`, a `status` other than 200, or `garbage`.

    `elsewhere` is where it sends whoever asks, `promised` how many bytes more it announces than come, `pause` the
    seconds before each of them.
    """

    def __init__(self, kind: str, loras: tuple[str, ...] = ()) -> None:
        self.kind, self.url = kind, ""
        self.asked: list[tuple[str, Json]] = []
        self.known = {"base"}
        self.loras = [{"id": nth, "path": path, "scale": 0.0} for nth, path in enumerate(loras)]
        self.finish, self.status, self.garbage = "stop", 200, b""
        self.elsewhere, self.promised, self.pause = "", 0, 0.0

    def post(self, path: str, body: Json) -> tuple[int, Any]:
        """The answer to a request."""
        self.asked.append((path, body))
        if self.status != 200:
            return self.status, {"error": "as told"}
        if path == "/v1/load_lora_adapter" and self.kind == "vllm":
            if body["lora_name"] in self.known and not body.get("load_inplace"):
                return 400, {"message": "already loaded"}
            self.known.add(body["lora_name"])
            return 200, "Success: LoRA adapter added successfully."
        if path != "/v1/chat/completions":
            return 404, {"error": path}
        if self.kind == "vllm" and body["model"] not in self.known:
            return 404, {"error": f"The model {body['model']} does not exist."}
        chosen = body["model"] if self.kind == "vllm" else [one["id"] for one in body["lora"] if one["scale"] == 1.0]
        message = {"role": "assistant", "content": f"def f():\n    by({str(chosen)!r})"}
        usage = {"prompt_tokens": 12, "completion_tokens": 8}
        return 200, {"choices": [{"message": message, "finish_reason": self.finish}], "usage": usage}


@contextmanager
def serving(served: Served) -> Iterator[Served]:
    """The server runs on a free port of this machine for the body; `served.url` says where."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            is_list = self.path == "/lora-adapters" and served.kind == "llama"
            self._send(200 if is_list else 404, served.loras if is_list else {})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self._send(*served.post(self.path, body))

        def _send(self, status: int, answer: Any) -> None:
            data = served.garbage or (answer if isinstance(answer, str) else json.dumps(answer)).encode()
            self.send_response(status)
            if served.elsewhere:
                self.send_header("Location", served.elsewhere)
            self.send_header("Content-Length", str(len(data) + served.promised))
            self.end_headers()
            with contextlib.suppress(OSError):  # whoever asked is gone
                for part in [data] if not served.pause else [data[at : at + 1] for at in range(len(data))]:
                    time.sleep(served.pause)
                    self.wfile.write(part)
            self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    served.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield served
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
