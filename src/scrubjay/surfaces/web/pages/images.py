"""Frames and thumbnails of episodes, as pictures."""

from __future__ import annotations

import functools
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response

from scrubjay.errors import Damaged, NotFound
from scrubjay.memory.layout import parse_reference
from scrubjay.surfaces.web.pages.common import reader_of
from scrubjay.surfaces.web.pictures import Pictured, stored

__all__ = ["frame", "thumbnail"]


def _response(request: Request, picture: Pictured) -> Response:
    # Asked again each time, so that what a person removed is gone at once; unchanged it costs no bytes.
    headers = {"ETag": f'"{picture.tag}"', "Cache-Control": "private, no-cache"}
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    return Response(picture.data, media_type=picture.media_type, headers=headers)


def frame(request: Request) -> Response:
    """A stored frame, unchanged. Raises NotFound, Damaged."""
    reader = reader_of(request)
    found = reader.episode(parse_reference(request.path_params["episode"]).episode)
    step = request.path_params["step"]
    camera = request.query_params.get("camera") or None
    number = None if step in ("start", "end") else _step(step)
    return _response(request, stored(found, number, camera, end=step == "end"))


def thumbnail(request: Request) -> Response:
    """A small picture of a frame; where there is none, a sign that says so, with the status of what is not there."""
    reader = reader_of(request)
    step = request.path_params["step"]
    try:
        found = reader.episode(parse_reference(request.path_params["episode"]).episode)
        return _response(request, reader.thumbnails.get(found, None if step == "start" else _step(step)))
    except (NotFound, Damaged):
        return Response(_no_frame(), 404, media_type="image/svg+xml")


@functools.cache
def _no_frame() -> bytes:
    return files("scrubjay.surfaces.web").joinpath("static", "no-frame.svg").read_bytes()


def _step(text: str) -> int:
    return parse_reference(f"ep_000000#{text}").step or 0
