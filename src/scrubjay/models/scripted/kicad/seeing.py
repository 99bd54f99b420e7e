"""What a screenshot of the schematic editor shows, by its pixels: the sheet, a highlight, menus, counts of a report.

Positions are given from 0 to 1000 over the screen, as actions take them; the sheet's own are in mils.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Frame = NDArray[np.uint8]

__all__ = ["Box", "Sheet", "counts_errors", "highlight", "menu_rows", "menu_words", "menus", "sheet", "submenus"]

_BORDER = (132, 0, 0)  # of the sheet's frame
_FOUND = (255, 0, 255)  # what the editor's search found
_ERRORS = (255, 0, 0)
_NONE = (0, 128, 0)
_BADGE = 60  # pixels of a count's colour
_MENU_BORDER = (205, 199, 194)
_SELECTED = (53, 132, 228)
_MARGIN = 393.7  # mils from the edge of the paper to the frame: 10 mm
_PAPER = 11693.0  # mils of A4, across
_NEAR = 60  # sum of differences of the channels
_INK = 380  # sum of the channels, below which a pixel is text
_GRID = 50  # mils


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on the screen, from 0 to 1000."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def middle(self) -> tuple[float, float]:
        """Its centre."""
        return round((self.left + self.right) / 2, 1), round((self.top + self.bottom) / 2, 1)


@dataclass(frozen=True, slots=True)
class Sheet:
    """Where the sheet lies on the screen: the corner of its frame, and how much of the screen a mil is, each way."""

    left: float
    top: float
    across: float
    down: float

    def at(self, x: float, y: float) -> tuple[float, float]:
        """The place on the screen of a point of the sheet."""
        return (
            round(self.left + (x - _MARGIN) * self.across, 2),
            round(self.top + (y - _MARGIN) * self.down, 2),
        )

    def mils(self, x: float, y: float) -> tuple[int, int]:
        """The point of the sheet's grid nearest to a place on the screen."""
        right, below = _MARGIN + (x - self.left) / self.across, _MARGIN + (y - self.top) / self.down
        return _GRID * round(right / _GRID), _GRID * round(below / _GRID)


def sheet(frame: Frame) -> Sheet | None:
    """The sheet, where its upper, left and right border are in view; None where they are not."""
    red = _like(frame, _BORDER)
    rows = np.flatnonzero(red.sum(axis=1) > frame.shape[1] * 0.4)
    columns = np.flatnonzero(red.sum(axis=0) > frame.shape[0] * 0.4)
    if not rows.size or columns.size < 2 or columns[-1] - columns[0] < frame.shape[1] * 0.4:
        return None
    pixels = (columns[-1] - columns[0]) / (_PAPER - 2 * _MARGIN)  # per mil
    height, width = frame.shape[:2]
    across, down = 1000 / (width - 1), 1000 / (height - 1)
    return Sheet(float(columns[0] * across), float(rows[0] * down), float(pixels * across), float(pixels * down))


def highlight(frame: Frame) -> Box | None:
    """What the editor's search has found and coloured, or None."""
    found = _like(frame, _FOUND, 200)
    rows, columns = np.flatnonzero(found.any(axis=1)), np.flatnonzero(found.any(axis=0))
    if not rows.size:
        return None
    return _box(frame, int(columns[0]), int(rows[0]), int(columns[-1]), int(rows[-1]))


def menu_words(frame: Frame) -> list[Box]:
    """The words of the menu bar, from the left: the first line of text beneath the title bar."""
    height = frame.shape[0]
    top, bottom = round(height * 0.028), round(height * 0.05)
    ink = np.flatnonzero(_ink(frame[top:bottom]).any(axis=0))
    runs = _runs(ink, 9)
    return [_box(frame, left, top, right, bottom) for left, right in runs if right - left > 8]


def menus(frame: Frame) -> list[Box]:
    """The menus that are open, from the left: white, with a thin border, the first of them under the menu bar."""
    border = _like(frame, _MENU_BORDER, 6)
    found = []
    for bottom in np.flatnonzero(border.sum(axis=1) > 100):
        for left, right in _runs(np.flatnonzero(border[bottom]), 1):
            top = _top_of_menu(frame, left + 5, int(bottom)) if right - left > 100 else int(bottom)
            if bottom - top > 40 and top > frame.shape[0] * 0.05:
                found.append(_box(frame, left, top, right, int(bottom)))
    return sorted((box for box in found if menu_rows(frame, box)), key=lambda box: box.left)


def _top_of_menu(frame: Frame, column: int, bottom: int) -> int:
    line = frame[:bottom, min(column, frame.shape[1] - 1)].astype(np.int16)
    inside = np.zeros(bottom, bool)
    for colour in ((255, 255, 255), (230, 230, 230), _SELECTED):
        inside |= np.abs(line - np.array(colour, np.int16)).sum(axis=1) < 6
    outside = np.flatnonzero(~inside)
    return int(outside[-1]) + 1 if outside.size else 0


def menu_rows(frame: Frame, menu: Box) -> list[Box]:
    """The entries of an open menu, from the top; one that is selected is left out."""
    left, top, right, bottom = _pixels(frame, menu)
    ink = _ink(frame[top : bottom - 1, left + 4 : right - 4])
    rows = [(a, b) for a, b in _runs(np.flatnonzero(ink.sum(axis=1) > 1), 4) if 5 <= b - a <= 24]
    return [_box(frame, left, top + a, right, top + b) for a, b in rows]


def submenus(frame: Frame, rows: list[Box]) -> list[Box]:
    """Those entries of a menu that open another one: an arrow stands alone at their right end."""
    found = []
    for row in rows:
        left, top, right, bottom = _pixels(frame, row)
        runs = _runs(np.flatnonzero(_ink(frame[top : bottom + 1, left:right]).any(axis=0)), 12)
        runs = [(a, b) for a, b in runs if b - a > 1]
        if len(runs) > 1 and runs[-1][1] - runs[-1][0] <= 9 and right - left - runs[-1][1] < 30:
            found.append(row)
    return found


def counts_errors(frame: Frame, region: Box) -> bool | None:
    """Whether the report in a window counts errors: the count is red then, else green. None before it counts."""
    left, top, right, bottom = _pixels(frame, region)
    window = frame[top:bottom, left:right]
    if int(_like(window, _ERRORS).sum()) > _BADGE:
        return True
    return False if int(_like(window, _NONE).sum()) > _BADGE else None


def _like(frame: Frame, colour: tuple[int, int, int], near: int = _NEAR) -> NDArray[np.bool_]:
    distance = np.abs(frame.astype(np.int16) - np.array(colour, np.int16)).sum(axis=2)
    result: NDArray[np.bool_] = distance < near
    return result


def _ink(frame: Frame) -> NDArray[np.bool_]:
    result: NDArray[np.bool_] = frame.sum(axis=2, dtype=np.int32) < _INK
    return result


def _runs(places: NDArray[np.intp], gap: int) -> list[tuple[int, int]]:
    """First and last of each run of ascending numbers; those at most `gap` apart are one run."""
    if not places.size:
        return []
    breaks = [(int(a), int(b)) for a, b in pairwise(places) if b - a > gap]
    starts = [int(places[0]), *(b for _, b in breaks)]
    ends = [*(a for a, _ in breaks), int(places[-1])]
    return list(zip(starts, ends, strict=True))


def _pixels(frame: Frame, box: Box) -> tuple[int, int, int, int]:
    height, width = frame.shape[:2]
    return (
        max(0, round(box.left / 1000 * (width - 1))),
        max(0, round(box.top / 1000 * (height - 1))),
        min(width, round(box.right / 1000 * (width - 1)) + 1),
        min(height, round(box.bottom / 1000 * (height - 1)) + 1),
    )


def _box(frame: Frame, left: int, top: int, right: int, bottom: int) -> Box:
    height, width = frame.shape[:2]
    across, down = 1000 / (width - 1), 1000 / (height - 1)
    return Box(left * across, top * down, right * across, bottom * down)
