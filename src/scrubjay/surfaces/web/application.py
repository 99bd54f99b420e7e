"""The pages of one memory as an ASGI application: which address shows what, and how an error looks.

It knows addresses. What a page shows, its own file knows.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio.to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from scrubjay.errors import Damaged, InvalidInput, NotFound, ScrubjayError
from scrubjay.surfaces.mcp.address import Address
from scrubjay.surfaces.web.guard import Guard
from scrubjay.surfaces.web.pages import compare, documents, episode, home, images, live, map, procedures, search
from scrubjay.surfaces.web.pages.common import answer
from scrubjay.surfaces.web.reader import Reader

if TYPE_CHECKING:
    from starlette.types import ASGIApp

__all__ = ["application"]

_ROUTES = (
    ("/", home.home),
    ("/lives/{life}", home.life),
    ("/episodes", episode.find_reference),
    ("/episodes/{episode}", episode.episode),
    ("/episodes/{episode}/steps/{step}", episode.step),
    ("/frames/{episode}/{step}", images.frame),
    ("/thumbnails/{episode}/{step}", images.thumbnail),
    ("/search", search.search),
    ("/map", map.map_page),
    ("/map/cells", map.cells),
    ("/map/path", map.path),
    ("/map/at", map.at),
    ("/map/picture", map.picture),
    ("/documents", documents.documents),
    ("/documents/{path:path}", documents.document),
    ("/history", documents.history),
    ("/history/{path:path}", documents.history),
    ("/procedures", procedures.procedures),
    ("/procedures/{kind}/{name}", procedures.procedure),
    ("/compare", compare.compare),
    ("/live", live.live),
)


def application(reader: Reader, address: Address, token: str | None = None) -> ASGIApp:
    """The application. Raises InvalidInput for an address that others can reach, without a token."""
    address.need_token(token)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(anyio.to_thread.run_sync, reader.warm)
            yield

    made = Starlette(
        routes=[
            *(Route(path, endpoint, methods=["GET"]) for path, endpoint in _ROUTES),
            Mount("/static", StaticFiles(packages=[("scrubjay.surfaces.web", "static")])),
        ],
        exception_handlers={HTTPException: _failed, ScrubjayError: _failed, Exception: _broken},
        lifespan=lifespan,
    )
    made.state.reader = reader
    # Outside of everything, so that its headers stand on the page of an error that nobody foresaw too.
    return Guard(made, address, token)


_STATUS: tuple[tuple[type[Exception], int, str], ...] = (
    (NotFound, 404, "Not here"),
    (InvalidInput, 400, "That can't be read"),
    (Damaged, 500, "A damaged file"),
)


def _failed(request: Request, error: Exception) -> Response:
    status, title, text = 500, "That went wrong", str(error)
    if isinstance(error, HTTPException):
        status, title, text = error.status_code, "Not here", "There is no such page."
    for kind, code, name in _STATUS:
        if isinstance(error, kind):
            status, title = code, name
    return _told(request, status, title, text)


def _broken(request: Request, error: Exception) -> Response:
    return _told(request, 500, "That went wrong", f"{type(error).__name__}: see the terminal of the server.")


def _told(request: Request, status: int, title: str, text: str) -> Response:
    values: dict[str, Any] = {"title": title, "text": text}
    return answer(request, "error.html", status=status, **values)
