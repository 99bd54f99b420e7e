"""The sweep that chose the settings of place recall, on its own maps: which histograms, and which views of a query.

It varies what `scrubjay.retrieval.places` fixes, through that module's own functions, so that what is measured is
what is shipped.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from scrubjay.retrieval import places

__all__ = ["VARIANTS", "Variant", "reduce", "similarities"]

Floats = NDArray[np.float32]
View = tuple[float, float]  # turned by a share of the width; enlarged, as from a step ahead

AS_IS: tuple[View, ...] = ((0.0, 1.0),)


def _sides(*turns: float) -> tuple[View, ...]:
    return (*AS_IS, *((sign * turn, 1.0) for turn in turns for sign in (1, -1)))


@dataclass(frozen=True, slots=True)
class Variant:
    """One setting: grid of cells (0, 0: left out) and number of bins of both histograms, and the query's views."""

    directions: int = 12
    direction_grid: tuple[int, int] = (3, 4)
    colours: int = 16
    colour_grid: tuple[int, int] = (2, 3)
    views: tuple[View, ...] = AS_IS

    @property
    def length(self) -> int:
        """Bytes of a descriptor."""
        return self.directions * math.prod(self.direction_grid) + 3 * self.colours * math.prod(self.colour_grid)

    def __str__(self) -> str:
        parts = [
            f"{count} {name} in {rows}x{columns}"
            for name, count, (rows, columns) in (
                ("directions", self.directions, self.direction_grid),
                ("colours", self.colours, self.colour_grid),
            )
            if rows
        ]
        views = " ".join(f"{turn:+g}" if zoom == 1 else f"x{zoom:g}" for turn, zoom in self.views[1:])
        return ", ".join(parts) + f"; views: as it is {views}".rstrip()


BOTH = Variant()
VARIANTS = (
    Variant(colour_grid=(0, 0)),
    Variant(direction_grid=(0, 0)),
    BOTH,
    Variant(direction_grid=(4, 6), directions=8),
    Variant(colour_grid=(3, 4)),
    Variant(colours=10),
    Variant(colours=24),
    Variant(views=(*AS_IS, (0.0, 1.25))),
    Variant(views=_sides(0.08)),
    Variant(views=_sides(0.13)),
    Variant(views=_sides(0.06, 0.12)),
    Variant(views=(*_sides(0.06, 0.12), (0.0, 1.25))),
    Variant(views=_sides(0.06, 0.12, 0.18)),
    Variant(views=_sides(0.06, 0.12), colours=24),
)


def reduce(frame: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The frame at the size that descriptors start from, so that the tuning maps fit in memory."""
    return np.asarray(Image.fromarray(frame).resize(places._FINE, Image.Resampling.BOX, reducing_gap=2.0))


def similarities(variant: Variant, frames: Sequence[NDArray[np.uint8]], queries: NDArray[np.int64]) -> Floats:
    """Of every query to every frame under this setting: (queries, frames)."""
    stored = _described(variant, frames, AS_IS)[0]
    wanted = _described(variant, [frames[query] for query in queries], variant.views)
    found: Floats = (wanted[0] @ stored.T).astype(np.float32)
    for view in wanted[1:]:
        np.maximum(found, view @ stored.T, out=found)
    return found


def _described(variant: Variant, frames: Sequence[NDArray[np.uint8]], views: Sequence[View]) -> list[Floats]:
    described = [np.empty((len(frames), variant.length), np.float32) for _ in views]
    for row, frame in enumerate(frames):
        picture = Image.fromarray(frame)
        steepness = places._steepness(places._floats(picture), variant.directions)
        coarse = picture.resize(places._COARSE, Image.Resampling.BOX)
        colours = places._colours(places._floats(coarse), variant.colours)
        for rows, (turn, zoom) in zip(described, views, strict=True):
            parts = []
            for weights, grid in ((steepness, variant.direction_grid), (colours, variant.colour_grid)):
                if grid[0]:
                    part = places._histograms(_enlarged(weights, zoom), grid, turn)
                    parts.append(part / max(float(np.linalg.norm(part)), 0.06))
            whole = np.concatenate(parts)
            rows[row] = whole / max(float(np.linalg.norm(whole)), 1e-6)
    return described


def _enlarged(weights: Floats, zoom: float) -> Floats:
    height, width = (round(edge * (1 - 1 / zoom) / 2) for edge in weights.shape[:2])
    return weights[height : weights.shape[0] - height, width : weights.shape[1] - width]
