"""Boxes around a few episodes of one life that follow each other: where they began, or which cells they walked.

What follows each other in time is near in space, so that one box for several spares most of the cost of keeping an
R*Tree and finds hardly more. Every candidate must be looked at again. It knows numbers, and no table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

__all__ = ["FAR", "MOST_STARTS", "MOST_WALKS", "Box", "bounds", "box_at", "together"]

# As far as 32 bits go.
FAR = 3.0e38
MOST_STARTS = 8
MOST_WALKS = 4

Box = tuple[float, float, float, float, float, float]


def box_at(x: float | None, y: float | None, z: float | None) -> Box:
    """A box around one position. A coordinate that is not known may be anything here."""
    low = (-FAR if x is None else x, -FAR if y is None else y, -FAR if z is None else z)
    high = (FAR if x is None else x, FAR if y is None else y, FAR if z is None else z)
    return _within((low[0], high[0], low[1], high[1], low[2], high[2]))


def _within(box: Box) -> Box:
    if min(box) >= -FAR and max(box) <= FAR:
        return box
    x0, x1, y0, y1, z0, z1 = (max(-FAR, min(FAR, edge)) for edge in box)
    return (x0, x1, y0, y1, z0, z1)


def bounds(cells: Iterable[tuple[int, int, int]]) -> Box:
    """A box around these cells: the smallest and the largest x, y and z."""
    xs, ys, zs = zip(*cells, strict=True)
    return _within((min(xs), max(xs), min(ys), max(ys), min(zs), max(zs)))


def together(boxes: list[tuple[int, Box]], most: int) -> Iterator[tuple[int, int, Box]]:
    """The first and the last number and the common box of up to `most` at a time. They come by ascending number."""
    for at in range(0, len(boxes), most):
        few = boxes[at : at + most]
        x0, x1, y0, y1, z0, z1 = zip(*(box for _number, box in few), strict=True)
        yield few[0][0], few[-1][0], (min(x0), max(x1), min(y0), max(y1), min(z0), max(z1))
