"""What every page has: the memory's name, the way to the other pages, whether a life runs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse

from scrubjay.errors import NotFound
from scrubjay.surfaces.web.form import whole_number
from scrubjay.surfaces.web.reader import Reader
from scrubjay.surfaces.web.templating import page

__all__ = ["answer", "given", "reader_of", "whole"]

_MOST = 1 << 53


def reader_of(request: Request) -> Reader:
    """The memory that is served, its outline as new as its files. Raises NotFound where its folder is gone."""
    reader: Reader = request.app.state.reader
    if not os.path.isdir(reader.layout.root):
        raise NotFound(f"{reader.shown} is not there any more: start the server again with the folder's new place")
    reader.outline.refresh()
    return reader


def answer(request: Request, name: str, *, status: int = 200, here: str = "", **values: Any) -> HTMLResponse:
    """The page of a template. `here` is its place in the navigation."""
    reader: Reader = request.app.state.reader
    running = [life.life for life in reader.lives() if reader.is_running(life)]
    shared = {"memory": reader.name, "folder": reader.shown, "running": running, "version": reader.version()}
    return page(name, status, here=here, **shared, **values)


def given(request: Request) -> Mapping[str, str]:
    """The values of a form, the last where one came several times."""
    return dict(request.query_params)


def whole(request: Request, name: str, default: int, least: int = 0) -> int:
    """A whole number of the query; the default where it is none."""
    number = whole_number(request.query_params.get(name, ""))
    return default if number is None else min(max(number, least), _MOST)
