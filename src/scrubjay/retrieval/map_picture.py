"""The grid as a picture: cells, marks, the path of each life, axes with coordinates, a legend.

It knows colours and pixels. What a mark means it takes from the chart. The colours are those of Okabe and Ito, which
people with any kind of colour vision tell apart; every kind has a shape of its own besides.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scrubjay.retrieval.fitting import fit
from scrubjay.retrieval.lettering import font, line_height, printable, shortened, width_of, write
from scrubjay.retrieval.map_text import summary
from scrubjay.retrieval.maps import RANKS, Chart, Ground, Mark, coarser
from scrubjay.retrieval.views import Bounds, View

if TYPE_CHECKING:
    import PIL.Image
    import PIL.ImageDraw

    Pen = PIL.ImageDraw.ImageDraw
    Box = tuple[int, int, int, int]

__all__ = ["draw_picture"]

_PAPER = "#ffffff"
_UNKNOWN = "#eceae4"
_INK = "#1c1f24"
_GREY = "#6b7078"
_COLOURS = {
    "walked": "#cfe1f2",
    "blocked": "#5a5f66",
    "opened": "#56b4e9",
    "placed": "#f0b429",
    "hazard": "#d55e00",
    "start": "#009e73",
    "newest": "#cc2f8f",
}
_MEANINGS = {"newest": "newest position"}
_PATHS = ("#0072b2", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#8a6d00")
_LARGEST_CELL = 28
_NARROWEST = 600
_MARGIN = 16
_LETTERS = 15
_TICK_PIXELS = 70


@dataclass(frozen=True, slots=True)
class _Drawn:
    image: PIL.Image.Image


def draw_picture(chart: Chart, bounds: Bounds) -> View:
    """The map as a View without sources (it shows the grid, not frames), within the bounds."""

    def draw(edge: int) -> _Drawn:
        return _Drawn(_draw(chart, edge))

    data, media_type, drawn = fit(draw, bounds)
    return View(data, media_type, drawn.image.size, (), max_bytes=bounds.max_bytes)


def _draw(chart: Chart, edge: int) -> PIL.Image.Image:
    from PIL import Image, ImageDraw

    # Text above and below the map, and the labels left of it, need this much beside the cells.
    wide, high = edge - 2 * _MARGIN - 70, edge - 2 * _MARGIN - 8 * line_height(_LETTERS)
    wide, high = max(wide, 1), max(high, 1)
    shown = coarser(chart, (wide, high))
    columns, lines = shown.places
    cell = max(1, min(_LARGEST_CELL, wide // columns, high // lines))
    field = _draw_field(shown, cell)
    left = _MARGIN + _gutter(shown)
    width = min(edge, max(left + field.width + _MARGIN, _NARROWEST))
    legend = _legend_lines(shown, width - 2 * _MARGIN)
    top = _MARGIN + 2 * line_height(_LETTERS) + 24
    height = top + field.height + (2 + len(legend)) * line_height(_LETTERS) + _MARGIN + 12
    image = Image.new("RGB", (width, min(height, edge)), _PAPER)
    image.paste(field, (left, top))
    pen = ImageDraw.Draw(image)
    _draw_title(pen, chart, width)
    pen.rectangle((left - 1, top - 1, left + field.width, top + field.height), outline=_GREY)
    _draw_ticks(pen, shown, cell, (left, top, field.width, field.height))
    _draw_legend(pen, legend, top + field.height + 2 * line_height(_LETTERS) + 8)
    return image


def _draw_title(pen: Pen, chart: Chart, width: int) -> None:
    world, _, counts = summary(chart).partition(": ")
    room = width - 2 * _MARGIN
    write(pen, (_MARGIN, _MARGIN - 4), shortened(world, _LETTERS + 4, room), _LETTERS + 4, _INK)
    below = _MARGIN + line_height(_LETTERS + 4)
    write(pen, (_MARGIN, below - 4), shortened(counts, _LETTERS - 2, room), _LETTERS - 2, _GREY)


# --- the field of cells


def _draw_field(chart: Chart, cell: int) -> PIL.Image.Image:
    from PIL import Image, ImageDraw

    columns, lines = chart.places
    field = Image.new("RGB", (columns * cell, lines * cell), _UNKNOWN)
    pen = ImageDraw.Draw(field)
    corners = {place: _corner(chart, place, cell) for place in chart.marks}
    for place, mark in chart.marks.items():
        if mark.kind in ("walked", "blocked", "start", "newest"):
            _draw_mark(pen, Mark("blocked" if mark.kind == "blocked" else "walked"), corners[place], cell)
    _draw_paths(field, chart, cell)
    for place, mark in sorted(chart.marks.items(), key=lambda item: -RANKS.index(item[1].kind)):
        if mark.kind not in ("walked", "blocked"):
            _draw_mark(pen, mark, corners[place], cell)
    return field


def _corner(chart: Chart, place: Ground, cell: int) -> Ground:
    columns, lines = chart.columns(), chart.lines()
    down = abs(place[1] - lines[0])
    return ((place[0] - columns[0]) * cell, down * cell)


def _draw_mark(pen: Pen, mark: Mark, corner: Ground, cell: int) -> None:
    """One mark. Single things grow beyond a small cell, so that they are seen in a large map."""
    x, y = corner
    colour = _COLOURS[mark.kind]
    if mark.kind in ("walked", "blocked"):
        pen.rectangle((x, y, x + cell - 1, y + cell - 1), fill=colour)
        return
    middle, half = (x + cell // 2, y + cell // 2), max(cell, 7) // 2
    box = (middle[0] - half, middle[1] - half, middle[0] + half, middle[1] + half)
    if mark.kind == "opened":
        pen.rectangle(box, outline=colour, fill=_PAPER, width=max(2, half // 3))
    elif mark.kind == "placed":
        pen.rectangle(box, fill=colour, outline=_INK)
        _letter(pen, mark.letter, middle, half)
    elif mark.kind == "hazard":
        pen.polygon([(middle[0], box[1]), (box[2], box[3]), (box[0], box[3])], fill=colour, outline=_INK)
        if half >= 6:
            _letter(pen, "!", (middle[0], middle[1] + half // 4), half - 1, _PAPER)
    elif mark.kind == "start":
        pen.ellipse(_grown(box, 1), fill=colour, outline=_PAPER, width=max(1, half // 4))
    else:
        x, y = middle
        grown = half + 2
        diamond = [(x, y - grown), (x + grown, y), (x, y + grown), (x - grown, y)]
        pen.polygon(diamond, fill=colour, outline=_PAPER, width=1)


def _grown(box: Box, by: int) -> Box:
    return (box[0] - by, box[1] - by, box[2] + by, box[3] + by)


def _letter(pen: Pen, letter: str, middle: Ground, half: int, colour: str = _INK) -> None:
    if letter and half >= 4:
        pen.text(middle, letter, fill=colour, font=font(max(8, half * 2 - 3)), anchor="mm")


def _draw_paths(field: PIL.Image.Image, chart: Chart, cell: int) -> None:
    from PIL import Image, ImageDraw

    layer = Image.new("RGBA", field.size, (0, 0, 0, 0))
    pen = ImageDraw.Draw(layer)
    # A line as wide as its cell would hide what it crosses.
    strength = 120 if cell >= 4 else 50
    for number, (_, parts) in enumerate(sorted(chart.paths.items())):
        red, green, blue = bytes.fromhex(_PATHS[number % len(_PATHS)][1:])
        for part in parts:
            points = [_middle(chart, place, cell) for place in part]
            if len(points) > 1:
                pen.line(points, fill=(red, green, blue, strength), width=max(1, cell // 8), joint="curve")
    field.paste(layer, (0, 0), layer)


def _middle(chart: Chart, place: Ground, cell: int) -> tuple[float, float]:
    """Pixels of the middle of a cell (not of a place: a path is drawn as finely as it was walked)."""
    block, columns, lines = chart.block, chart.columns(), chart.lines()
    across = ((place[0] + 0.5) / block - columns[0]) * cell
    down = (place[1] + 0.5) / block
    return (across, (lines[0] + 1 - down if chart.is_upward else down - lines[0]) * cell)


# --- what stands around it


def _gutter(chart: Chart) -> int:
    ends = (chart.lines()[0], chart.lines()[-1])
    return 22 + max(int(font(_LETTERS - 3).getlength(f"{chart.coordinate(line):g}")) for line in ends)


def _draw_ticks(pen: Pen, chart: Chart, cell: int, box: Box) -> None:
    left, top, width, height = box
    small = font(_LETTERS - 3)
    # Where a place is one cell of one unit its number names it; else the tick stands where the place begins.
    named = chart.world.cell == 1 and chart.block == 1
    across, down = (cell // 2, cell // 2) if named else (0, cell if chart.is_upward else 0)
    for column in _ticks(chart.columns(), cell):
        x = left + (column - chart.columns()[0]) * cell + across
        pen.line((x, top + height, x, top + height + 5), fill=_GREY)
        pen.text((x, top + height + 7), f"{chart.coordinate(column):g}", fill=_INK, font=small, anchor="ma")
    for line in _ticks(chart.lines(), cell):
        y = top + abs(line - chart.lines()[0]) * cell + down
        pen.line((left - 6, y, left - 1, y), fill=_GREY)
        pen.text((left - 8, y), f"{chart.coordinate(line):g}", fill=_INK, font=small, anchor="rm")
    first, second = chart.axes
    pen.text((left + width, top + height + 7 + line_height(_LETTERS - 3)), first, fill=_GREY, font=small, anchor="ra")
    pen.text((left - 8, top - 4), second, fill=_GREY, font=small, anchor="rb")


def _ticks(places: range, cell: int) -> list[int]:
    """Places at round distances, at least _TICK_PIXELS apart, that have a label."""
    least = _TICK_PIXELS / cell
    magnitude = 10 ** max(0, math.floor(math.log10(max(least, 1))))
    step = next(factor * magnitude for factor in (1, 2, 5, 10) if factor * magnitude >= least)
    return [place for place in places if place % step == 0]


def _legend_lines(chart: Chart, width: int) -> list[list[tuple[Mark | None, str]]]:
    """Marks with their meaning, in as many lines as they need."""
    kinds = {mark.kind for mark in chart.marks.values()}
    used = {mark.letter for mark in chart.marks.values()}
    entries: list[tuple[Mark | None, str]] = [
        (Mark(kind), _MEANINGS.get(kind, kind)) for kind in reversed(RANKS) if kind in kinds and kind != "placed"
    ]
    entries += [(Mark("placed", letter), name) for letter, name in sorted(chart.letters.items()) if letter in used]
    if chart.paths:
        entries.append((None, "path of a life" if len(chart.paths) == 1 else "paths of lives"))
    lines: list[list[tuple[Mark | None, str]]] = [[]]
    x = 0
    for entry in entries:
        needed = _entry_width(entry[1])
        if x + needed > width and lines[-1]:
            lines.append([])
            x = 0
        lines[-1].append(entry)
        x += needed
    return lines


def _entry_width(text: str) -> int:
    return 22 + int(width_of(printable(text), _LETTERS - 2)) + 18


def _draw_legend(pen: Pen, lines: list[list[tuple[Mark | None, str]]], top: int) -> None:
    for number, entries in enumerate(lines):
        x, y = _MARGIN, top + number * line_height(_LETTERS)
        for mark, text in entries:
            if mark is None:
                pen.line((x, y + 7, x + 15, y + 7), fill=_PATHS[0], width=2)
            else:
                _draw_mark(pen, mark, (x, y), 15)
            write(pen, (x + 22, y - 1), printable(text), _LETTERS - 2, _INK)
            x += _entry_width(text)
