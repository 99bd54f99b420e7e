"""A memory's MCP server on a network address: who may connect, and when lives that nobody calls for end.

Loopback by default. Requests from web pages of other origins are refused, and every request without the bearer token
where one is set. It knows HTTP; what is served it does not know.
"""

from __future__ import annotations

import hmac
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
import uvicorn
from starlette.responses import PlainTextResponse

from scrubjay.errors import InvalidInput
from scrubjay.surfaces.mcp.address import Address
from scrubjay.surfaces.mcp.given import MOST_BYTES

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from scrubjay.surfaces.mcp.recording import Recorder
    from scrubjay.surfaces.mcp.server import MemoryServer

__all__ = ["PATH", "Running", "application", "serve_http"]

PATH = "/mcp"
_MOST_BODY = 2 * MOST_BYTES
_LOOK_FOR_IDLE = 60.0


def application(server: MemoryServer, address: Address, token: str | None) -> ASGIApp:
    """The ASGI application. Raises InvalidInput for an address that others can reach, without a token."""
    address.need_token(token)
    app = server.protocol.streamable_http_app(
        streamable_http_path=PATH,
        host=address.host,
        transport_security=address.security(),
        max_request_body_size=_MOST_BODY,
    )
    return app if token is None else _Guard(app, token)


class _Guard:
    """Lets requests through that carry the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app, self._token = app, token.strip().encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or self._is_known(scope):
            await self._app(scope, receive, send)
            return
        refused = PlainTextResponse("a bearer token is needed\n", 401, {"WWW-Authenticate": "Bearer"})
        await refused(scope, receive, send)

    def _is_known(self, scope: Scope) -> bool:
        given = [value for name, value in scope.get("headers", ()) if name == b"authorization"]
        scheme, _, token = given[0].partition(b" ") if len(given) == 1 else (b"", b"", b"")
        # The comparison takes as long for a wrong token as for the right one.
        return hmac.compare_digest(token.strip(), self._token) and scheme.lower() == b"bearer"


async def serve_http(
    server: MemoryServer, address: Address, token: str | None, announce: Callable[[str], None]
) -> None:
    """Serves until the process is told to end; `announce` is told the URL once somebody listens there.

    Raises InvalidInput where the address can't be listened on.
    """
    app = application(server, address, token)
    with _listening(address) as listening:
        port = listening.getsockname()[1]
        announce(f"http://{f'[{address.host}]' if ':' in address.host else address.host}:{port}{PATH}")
        running = Running(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=5, lifespan="on"))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(running.end_by_signal)
            tasks.start_soon(_end_idle, server.recorder)
            await running.serve(sockets=[listening])
            tasks.cancel_scope.cancel()


class Running(uvicorn.Server):
    """uvicorn's server, which else raises the signal that ended it once more, before lives are ended."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Captures none."""
        yield

    async def end_by_signal(self) -> None:
        """Ends when told to; told twice, at once."""
        with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
            async for _ in signals:
                self.force_exit, self.should_exit = self.should_exit, True


def _listening(address: Address) -> socket.socket:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    try:
        return socket.create_server((address.host, address.port), family=family, backlog=128)
    except OSError as error:
        raise InvalidInput(f"{address.host}:{address.port} can't be listened on: {error.strerror or error}") from None


async def _end_idle(recorder: Recorder | None) -> None:
    """On a network nobody hears that a client died."""
    while recorder is not None:
        await anyio.sleep(_LOOK_FOR_IDLE)
        await anyio.to_thread.run_sync(recorder.end_idle)
