"""The map: slices of the grid by world and height, the path of a life, and what happened in a cell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from scrubjay.errors import NotFound
from scrubjay.memory.jsonio import dumps
from scrubjay.memory.layout import episode_id
from scrubjay.memory.records import CELL_KINDS
from scrubjay.surfaces.cli.plain import plain
from scrubjay.surfaces.web.form import whole_number
from scrubjay.surfaces.web.pages.common import answer, reader_of, whole
from scrubjay.surfaces.web.reader import Reader
from scrubjay.surfaces.web.templating import page
from scrubjay.surfaces.web.terrain import Event, Ground, Land, Shown

__all__ = ["at", "cells", "map_page", "path", "picture"]

_MOST_CELLS = 40_000
_MOST_POINTS = 6_000
_MOST_NOTABLE = 60
_MOST_EVENTS = 48
_MOST_HEIGHTS = 600
_RANK = {kind: rank for rank, kind in enumerate(("hazard", "placed", "opened", "blocked", "walked"))}


@dataclass(frozen=True, slots=True)
class Notable:
    """A cell with more than a walk in it, for the list beside the map."""

    kind: str
    name: str
    ground: Ground
    height: int
    episode: str
    step: int


def _land(reader: Reader, request: Request) -> tuple[str, Land]:
    """The world that was asked for, or that of the newest event. Raises NotFound."""
    lands = reader.terrain.lands()
    name = request.query_params.get("world")
    if name is None and lands:
        name = max(lands, key=lambda one: lands[one].newest)
    if name is not None and name not in lands:
        # A page shows what steers text as escapes, and its scripts ask by what it shows.
        name = next((one for one in lands if plain(one) == name), None)
    if name is None:
        raise NotFound("no cell of this world is known" if lands else "the grid is empty")
    return name, lands[name]


def _height(request: Request) -> int | None:
    return whole_number(request.query_params.get("height", ""))


def map_page(request: Request) -> HTMLResponse:
    """The page with the canvas."""
    reader = reader_of(request)
    lands = reader.terrain.lands()
    if not lands:
        return answer(request, "map_empty.html", here="map")
    name, land = _land(reader, request)
    with reader.terrain.mutex:
        notable, more = _notable(land)
        heights = land.heights()
        kinds = [(kind, land.kinds[kind]) for kind in CELL_KINDS if land.kinds[kind]]
        count = len(land.layers[None])
    lives = [life.life for life in reader.lives() if life.world in (None, name) or not life.world]
    return answer(
        request,
        "map.html",
        here="map",
        worlds=sorted(lands),
        world=name,
        land=land,
        axes=["xyz"[axis] for axis in land.world.ground],
        heights=heights[:_MOST_HEIGHTS],
        height=_height(request),
        lives=lives[-500:],
        life=whole(request, "life", 0),
        notable=notable,
        more=more,
        kinds=kinds,
        count=count,
    )


def _notable(land: Land) -> tuple[list[Notable], int]:
    found: list[tuple[tuple[int, int], Ground, Event]] = []
    for ground, shown in land.layers[None].items():
        if shown.kind in ("hazard", "placed", "opened"):
            number, step = shown.moment
            event = next(e for e in land.events[ground] if (e.number, e.step, e.kind) == (number, step, shown.kind))
            found.append((shown.moment, ground, event))
    found.sort(key=lambda one: one[0], reverse=True)
    rows = [Notable(e.kind, e.name, ground, e.height, episode_id(e.number), e.step) for _, ground, e in found]
    return rows[:_MOST_NOTABLE], max(0, len(rows) - _MOST_NOTABLE)


# --- what the canvas asks for


def cells(request: Request) -> Response:
    """The cells of one slice: [first, second, kind, name] each, numbers into lists; coarser where there are many."""
    reader = reader_of(request)
    name, land = _land(reader, request)
    height = _height(request)
    key = ("cells", name, height)
    return _json(reader.kept_of_terrain(key, lambda: dumps(_slice(land, height))))


def _json(data: bytes) -> Response:
    return Response(data, media_type="application/json")


def _slice(land: Land, height: int | None) -> dict[str, Any]:
    layer = land.layers.get(height, {})
    block, shown = 1, layer
    while len(shown) > _MOST_CELLS:
        block *= 2
        shown = _coarse(layer, block)
    names: dict[str, int] = {}
    flat: list[int] = []
    for (one, two), cell in shown.items():
        number = names.setdefault(cell.name if cell.kind != "walked" else "", len(names))
        flat += (one, two, _RANK[cell.kind], number)
    return {
        "cells": flat, "kinds": list(_RANK), "names": list(names), "block": block, "cell": land.world.cell,
        "unit": land.world.unit, "axes": ["xyz"[axis] for axis in land.world.ground], "upward": land.world.up == "z",
    }  # fmt: skip


def _coarse(layer: dict[Ground, Shown], block: int) -> dict[Ground, Shown]:
    found: dict[Ground, Shown] = {}
    for (one, two), shown in layer.items():
        place = (one // block, two // block)
        if shown.over(found.get(place)):
            found[place] = shown
    return found


def path(request: Request) -> Response:
    """Where a life walked: lists of cells, cut where it jumped."""
    reader = reader_of(request)
    name, land = _land(reader, request)
    life = whole(request, "life", 0)
    key = ("path", name, life)
    return _json(reader.kept_of_terrain(key, lambda: dumps({"pieces": _pieces(reader, land, life)})))


def _pieces(reader: Reader, land: Land, life: int) -> list[list[int]]:
    life_of = reader.outline.life_of
    walked = [(step, ground) for number, step, ground in land.walk if life_of(number) == life]
    every = max(1, math.ceil(len(walked) / _MOST_POINTS))
    reach = 3 * every
    pieces: list[list[int]] = []
    before: Ground | None = None
    for _, (one, two) in walked[::every]:
        if before is None or max(abs(one - before[0]), abs(two - before[1])) > reach:
            pieces.append([])
        pieces[-1] += (one, two)
        before = (one, two)
    return pieces


def at(request: Request) -> HTMLResponse:
    """What happened in a place of the map, newest first. Raises NotFound."""
    reader = reader_of(request)
    name, land = _land(reader, request)
    block = min(whole(request, "block", 1, 1), 64)
    corner = (whole(request, "a", 0, -(1 << 40)) * block, whole(request, "b", 0, -(1 << 40)) * block)
    with reader.terrain.mutex:
        events = sorted(land.at(corner, block, _height(request)), key=lambda e: (e.number, e.step), reverse=True)
    edge = land.world.cell
    return page(
        "cell.html",
        world=name,
        axes=["xyz"[axis] for axis in land.world.ground],
        corner=[value * edge for value in corner],
        middle=[(value + block / 2) * edge for value in corner],
        block=block,
        edge=edge,
        events=_by_episode(events)[:_MOST_EVENTS],
        total=len({event.number for event in events}),
    )


def _by_episode(events: Sequence[Event]) -> list[tuple[str, int, list[Event]]]:
    found: dict[int, list[Event]] = {}
    for event in events:
        found.setdefault(event.number, []).append(event)
    return [(episode_id(number), of_one[-1].step, of_one) for number, of_one in found.items()]


def picture(request: Request) -> Response:
    """The slice as a picture, for pages that run no script. Raises NotFound."""
    from scrubjay.retrieval.map_picture import draw_picture
    from scrubjay.retrieval.maps import Chart, Mark
    from scrubjay.retrieval.views import DEFAULT_BOUNDS

    reader = reader_of(request)
    _, land = _land(reader, request)
    height = _height(request)
    with reader.terrain.mutex:
        layer = dict(land.layers.get(height, {}))
    if not layer:
        raise NotFound("nothing is known at this height")
    low = (min(one for one, _ in layer), min(two for _, two in layer))
    high = (max(one for one, _ in layer), max(two for _, two in layer))
    chart = Chart(
        world=land.world,
        origin=low,
        size=(high[0] - low[0] + 1, high[1] - low[1] + 1),
        marks={ground: Mark(shown.kind) for ground, shown in layer.items()},
        letters={},
        counts={kind: land.kinds[kind] for kind in CELL_KINDS},
        height=height,
    )
    view = draw_picture(chart, DEFAULT_BOUNDS)
    return Response(view.data, media_type=view.media_type)
