"""Several pictures in one: cells in rows, each with its label above it and never over it.

It knows sizes, text and colours. Where the pictures come from it does not know.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from scrubjay.errors import Damaged, NotFound
from scrubjay.retrieval.fitting import scaled, shown_size
from scrubjay.retrieval.lettering import line_height, printable, shortened, width_of, wrapped, write
from scrubjay.retrieval.views import Region

if TYPE_CHECKING:
    import PIL.Image
    import PIL.ImageDraw

__all__ = ["Montage", "Panel", "montage"]

BACKGROUND = "#14171c"
EMPTY = "#565c66"
BRIGHT = "#ffffff"
QUIET = "#b9c3d0"
_WIDEST_GAP = 8
_NARROWEST_LABEL = 40
_SMALLEST_WITH_TEXT = 160
_USEFUL_EDGE = 512


@dataclass(frozen=True, slots=True)
class Panel:
    """One cell: its label, and a picture that is fetched when it is drawn.

    `size` is that of the picture, None where there is none and `missing` says why. `accent` is the colour of the
    label's first line.
    """

    lines: tuple[str, ...]
    picture: Callable[[], PIL.Image.Image]
    size: tuple[int, int] | None
    missing: str | None = None
    accent: str = BRIGHT


@dataclass(slots=True)
class Montage:
    """A drawn picture. Per panel: where its pixels lie, or why there are none."""

    image: PIL.Image.Image
    at: list[Region | None] = field(default_factory=list)
    missing: list[str | None] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Plan:
    columns: int
    cell: tuple[int, int]
    letters: int
    caption: int
    gap: int

    def size(self, count: int) -> tuple[int, int]:
        rows = math.ceil(count / self.columns)
        width = self.columns * (self.cell[0] + self.gap) + self.gap
        return (width, rows * (self.cell[1] + self.caption + self.gap) + self.gap)

    def corner(self, index: int) -> tuple[int, int]:
        row, column = divmod(index, self.columns)
        step = (self.cell[0] + self.gap, self.cell[1] + self.caption + self.gap)
        return (self.gap + column * step[0], self.gap + row * step[1])


def montage(panels: Sequence[Panel], edge: int, *, columns: int | None = None, footer: str | None = None) -> Montage:
    """Draws the panels in rows, as large as `edge` allows in both directions, in `columns` or as many as suit."""
    from PIL import Image, ImageDraw

    letters = 16 if edge >= 600 else 11
    footer = footer if edge >= _SMALLEST_WITH_TEXT else None
    band = 2 * line_height(letters) + _WIDEST_GAP // 2 if footer else 0
    plan = _best_plan(panels, edge, band, columns)
    width, height = plan.size(len(panels))
    foot = wrapped(footer, letters, width - 2 * plan.gap, 2) if footer else []
    foot_height = len(foot) * line_height(letters) + (_WIDEST_GAP // 2 if foot else 0)
    drawn = Montage(Image.new("RGB", (min(width, edge), min(height + foot_height, edge)), BACKGROUND))
    pen = ImageDraw.Draw(drawn.image)
    for index, panel in enumerate(panels):
        at, missing = _draw_panel(drawn.image, pen, panel, plan, plan.corner(index))
        drawn.at.append(at)
        drawn.missing.append(missing)
    for number, line in enumerate(foot):
        write(pen, (plan.gap, height - plan.gap // 2 + number * line_height(letters)), line, letters, QUIET)
    return drawn


def _best_plan(panels: Sequence[Panel], edge: int, band: int, columns: int | None) -> _Plan:
    choices = [columns] if columns else range(1, len(panels) + 1)
    plans = [_plan(panels, edge, band, c) for c in choices]
    fitting = [plan for plan in plans if max(plan.size(len(panels))) <= edge]
    # Side by side rather than one below the other where the pictures are as large either way.
    return max(fitting or plans, key=lambda plan: (_seen(panels, plan), plan.columns))


def _seen(panels: Sequence[Panel], plan: _Plan) -> int:
    """How many pixels of the view show pictures."""
    return sum(math.prod(shown_size(p.size, plan.cell, _USEFUL_EDGE)) for p in panels if p.size) or plan.cell[0]


def _plan(panels: Sequence[Panel], edge: int, band: int, columns: int) -> _Plan:
    rows = math.ceil(len(panels) / columns)
    gap = min(_WIDEST_GAP, edge // 80)
    wide = max(1, (edge - gap) // columns - gap)
    letters = max(11, min(20, wide // 13))
    caption = max(len(panel.lines) for panel in panels) * line_height(letters) + 2
    high = (edge - band - gap) // rows - gap - caption
    if wide < _NARROWEST_LABEL or high < caption // 2:
        caption, high = 0, max(1, high + caption)
    shown = [shown_size(panel.size, (wide, high), _USEFUL_EDGE) for panel in panels if panel.size]
    labels = max((int(width_of(printable(line), letters)) + 1 for panel in panels for line in panel.lines), default=0)
    cell_width = max([size[0] for size in shown] or [wide])
    if caption:
        cell_width = min(wide, max(cell_width, labels))
    cell_height = max([size[1] for size in shown] or [min(high, wide * 9 // 16)])
    return _Plan(columns, (cell_width, max(1, cell_height)), letters, caption, gap)


def _draw_panel(
    image: PIL.Image.Image, pen: PIL.ImageDraw.ImageDraw, panel: Panel, plan: _Plan, corner: tuple[int, int]
) -> tuple[Region | None, str | None]:
    left, top = corner
    if plan.caption:
        for number, line in enumerate(panel.lines):
            text = shortened(line, plan.letters, plan.cell[0])
            colour = panel.accent if number == 0 else QUIET
            write(pen, (left, top + number * line_height(plan.letters)), text, plan.letters, colour)
    top += plan.caption
    missing = panel.missing
    if missing is None:
        try:
            picture = panel.picture()
        except (NotFound, Damaged) as error:
            missing = str(error)
        else:
            # The file's head gave the size for the layout; the decoded picture has the last word.
            size = shown_size(picture.size, plan.cell, _USEFUL_EDGE)
            image.paste(scaled(picture, size), (left, top))
            return (left, top, *size), None
    _draw_missing(pen, missing, plan, (left, top))
    return None, missing


def _draw_missing(pen: PIL.ImageDraw.ImageDraw, reason: str, plan: _Plan, corner: tuple[int, int]) -> None:
    left, top = corner
    width, height = plan.cell
    pen.rectangle((left, top, left + width - 1, top + height - 1), fill=EMPTY)
    step, margin = line_height(plan.letters), 2 * plan.gap
    lines = (
        wrapped(reason, plan.letters, width - 2 * margin, max(1, (height - margin) // step)) if height > step else []
    )
    start = top + (height - len(lines) * step) // 2
    for number, line in enumerate(lines):
        write(pen, (left + margin, start + number * step), line, plan.letters, BRIGHT)
