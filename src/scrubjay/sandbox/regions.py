"""Connected regions of a mask: the boxes around pixels that touch sideways.

It knows a mask of booleans; what the pixels mean it does not know.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Box", "boxes"]


@dataclass(frozen=True, slots=True)
class Box:
    """The box around a region, in pixels, and how many pixels of it belong to the region."""

    x: int
    y: int
    width: int
    height: int
    pixels: int


def boxes(mask: NDArray[np.bool_], most: int) -> list[Box] | None:
    """The boxes of all regions, largest first; None where the mask has more than `most` runs of pixels in its rows."""
    import numpy as np

    padded = np.pad(mask.astype(np.int8), ((0, 0), (1, 1)))
    edges = np.diff(padded, axis=1)
    rows, starts = np.nonzero(edges == 1)
    _, ends = np.nonzero(edges == -1)
    if len(rows) > most:
        return None
    runs = list(zip(rows.tolist(), starts.tolist(), ends.tolist(), strict=True))
    parents = _joined(runs)
    found: dict[int, list[int]] = {}
    for at, (row, start, end) in enumerate(runs):
        box = found.setdefault(_root(parents, at), [start, row, end, row, 0])
        box[0], box[2], box[3] = min(box[0], start), max(box[2], end), row
        box[4] += end - start
    made = [Box(x, y, right - x, bottom - y + 1, pixels) for x, y, right, bottom, pixels in found.values()]
    return sorted(made, key=lambda box: (-box.pixels, box.y, box.x))


def _joined(runs: list[tuple[int, int, int]]) -> list[int]:
    """For each run one of its region, so that following them leads to the same root for all of a region."""
    parents = list(range(len(runs)))
    above = 0
    for at, (row, start, end) in enumerate(runs):
        while runs[above][0] < row - 1 or (runs[above][0] == row - 1 and runs[above][2] <= start):
            above += 1
        other = above
        while runs[other][0] == row - 1 and runs[other][1] < end:
            parents[_root(parents, at)] = _root(parents, other)
            other += 1
    return parents


def _root(parents: list[int], at: int) -> int:
    while parents[at] != at:
        parents[at] = parents[parents[at]]
        at = parents[at]
    return at
