"""What a page asks every other second: did anything change, and does a life run?"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse

from scrubjay.surfaces.web.pages.common import reader_of

__all__ = ["live"]


def live(request: Request) -> JSONResponse:
    """A text that is another one whenever anything changed, and the lives that run."""
    reader = reader_of(request)
    running = [life.life for life in reader.lives() if reader.is_running(life)]
    return JSONResponse({"version": reader.version(), "running": running})
