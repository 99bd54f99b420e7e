"""A memory's MCP server on a network address: who may connect, and when lives that nobody calls for end.

Loopback by default. Requests from web pages of other origins are refused, and every request without the bearer token
where one is set. It knows HTTP; what is served it does not know.
"""

from __future__ import annotations

import hmac
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
import uvicorn
from starlette.responses import PlainTextResponse

from scrubjay.surfaces.mcp.address import Address
from scrubjay.surfaces.mcp.given import MOST_BYTES

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from scrubjay.surfaces.mcp.recording import Recorder
    from scrubjay.surfaces.mcp.server import MemoryServer

__all__ = ["PATH", "application", "serve_http"]

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
        self._app, self._token = app, token.encode()

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


async def serve_http(server: MemoryServer, address: Address, token: str | None) -> None:
    """Serves until the process is told to end."""
    app = application(server, address, token)
    config = uvicorn.Config(
        app, host=address.host, port=address.port, log_level="warning", timeout_graceful_shutdown=5, lifespan="on"
    )
    async with _ending_idle(server.recorder):
        await uvicorn.Server(config).serve()


@asynccontextmanager
async def _ending_idle(recorder: Recorder | None) -> AsyncIterator[None]:
    """On a network nobody hears that a client died."""

    async def look() -> None:
        while recorder is not None:
            await anyio.sleep(_LOOK_FOR_IDLE)
            await anyio.to_thread.run_sync(recorder.end_idle)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(look)
        yield
        tasks.cancel_scope.cancel()
