"""Place recall by picture, without a model: a small descriptor of a frame, and how alike two of them are.

It knows pictures and bytes; it does not know where frames or descriptors are stored. A descriptor is two sets of
histograms over a coarse grid: how steep the picture is in which direction (3x4 cells, 12 directions, after HOG: Dalal
and Triggs 2005), and which lightness, red-green and blue-yellow it holds (2x3 cells, 16 bins each). The square root of
every count is kept, so that their cosine is the Bhattacharyya coefficient and no large flat wall outvotes the rest.
Nothing is learned from data, so a descriptor is right the moment it is made, and stays comparable for ever under its
version's name. `benchmarks/places.py` measures it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from PIL import Image

    Picture = Image.Image | NDArray[np.uint8]
    Floats = NDArray[np.float32]

__all__ = ["LENGTH", "VERSION", "describe", "similarity", "views"]

VERSION = "place/1"

_FINE = (160, 90)  # width, height at which directions are measured: finer is texture, and costs
_COARSE = (80, 45)  # width, height at which colours are counted
_DIRECTION_GRID = (3, 4)
_DIRECTIONS = 12
_COLOUR_GRID = (2, 3)
_COLOUR_BINS = 16
# What each colour channel spans in ordinary frames; what lies beyond counts in the last bin.
_LIGHTNESS = (0.0, 1.0)
_RED_GREEN = (-0.3, 0.6)
_BLUE_YELLOW = (-0.5, 0.5)
_DARK = 0.05  # keeps the hue of a nearly black pixel from being noise
_FLAT = 0.004  # mean steepness, of 1, under which a picture's directions are noise

LENGTH = _DIRECTION_GRID[0] * _DIRECTION_GRID[1] * _DIRECTIONS + _COLOUR_GRID[0] * _COLOUR_GRID[1] * _COLOUR_BINS * 3
"""Bytes of every descriptor of this version."""

# How the query is turned to either side, in widths of the picture, to be found again from a nearby pose: at a field of
# view of 90 degrees 0.06 is about 7 degrees. Steps ahead or back and wider turns found nothing more.
_TURNS = (0.0, 0.06, -0.06, 0.12, -0.12)

_ROWS = 8192  # compared at a time, so that a million descriptors need no second copy in memory


def describe(image: Picture) -> bytes:
    """The descriptor of a frame, LENGTH bytes: a PIL image, or an array uint8 (H, W, 3), of any size.

    Raises InvalidInput for anything else, or for a picture without pixels.
    """
    return _pooled(*_maps(image), turn=0.0)


def views(image: Picture) -> list[bytes]:
    """The descriptors to look for when this frame is the query: it, and as it would be with the head turned a little.

    The first is `describe(image)`. What would come into sight beyond the picture's edge is left out.
    """
    steepness, colours = _maps(image)
    return [_pooled(steepness, colours, turn) for turn in _TURNS]


def similarity(query: bytes | Sequence[bytes], stored: Sequence[bytes] | NDArray[np.uint8]) -> Floats:
    """How alike the query is to each stored descriptor: float32 (N,), 0 for nothing in common, 1 for the same.

    Several queries (`views`), in a sequence or end to end in one `bytes`, give the greatest of their similarities.
    `stored` is N descriptors or an array uint8 (N, LENGTH). Within a memory of one game most values lie above 0.8:
    they rank, they do not say "same place". A stored descriptor of another length, damaged as it must be, is like
    nothing: 0. Raises InvalidInput where a query has another length.
    """
    import numpy as np

    if isinstance(query, bytes):
        query = [query[first : first + LENGTH] for first in range(0, len(query), LENGTH)]
    wrong = set(map(len, query)) - {LENGTH}
    if wrong or not query:
        found_instead = f"one of {min(wrong)} bytes" if wrong else "none"
        raise InvalidInput(f"like: descriptors of {LENGTH} bytes ({VERSION}) were expected, found {found_instead}")
    wanted = _rows(query).astype(np.float32)
    wanted /= np.maximum(np.linalg.norm(wanted, axis=1, keepdims=True), 1.0)
    rows = _rows(stored)
    found = np.empty(len(rows), np.float32)
    for first in range(0, len(rows), _ROWS):
        block = rows[first : first + _ROWS].astype(np.float32)
        length = np.sqrt(np.einsum("nd,nd->n", block, block))
        # One row a query, not one a descriptor: the greatest over the short axis is then a vectorised pass.
        found[first : first + _ROWS] = (wanted @ block.T).max(axis=0) / np.maximum(length, 1.0)
    return np.minimum(found, 1.0, out=found)


def _rows(descriptors: Sequence[bytes] | NDArray[np.uint8]) -> NDArray[np.uint8]:
    import numpy as np

    if isinstance(descriptors, np.ndarray):
        if descriptors.dtype != np.uint8 or descriptors.shape[1:] != (LENGTH,):
            raise InvalidInput(
                f"descriptors: uint8 (N, {LENGTH}) was expected, found {descriptors.dtype} {descriptors.shape}"
            )
        return descriptors
    if set(map(len, descriptors)) - {LENGTH}:
        descriptors = [one if len(one) == LENGTH else bytes(LENGTH) for one in descriptors]
    return np.frombuffer(b"".join(descriptors), np.uint8).reshape(-1, LENGTH)


def _maps(image: Picture) -> tuple[Floats, Floats]:
    """Per pixel its weight in each bin: steepness by direction (h, w, 12), colours (h, w, 48)."""
    from PIL import Image

    picture = _picture(image)
    fine = picture.resize(_FINE, Image.Resampling.BOX, reducing_gap=2.0)
    coarse = fine.resize(_COARSE, Image.Resampling.BOX)
    return _steepness(_floats(fine), _DIRECTIONS), _colours(_floats(coarse), _COLOUR_BINS)


def _floats(picture: Image.Image) -> Floats:
    import numpy as np

    return np.asarray(picture, np.float32) / np.float32(255)


def _picture(image: Picture) -> Image.Image:
    import numpy as np
    from PIL import Image

    if isinstance(image, np.ndarray):
        if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3:
            raise InvalidInput(f"a frame: uint8 (H, W, 3) was expected, found {image.dtype} {image.shape}")
        image = Image.fromarray(np.ascontiguousarray(image)) if image.size else Image.new("RGB", (0, 0))
    if 0 in image.size:
        raise InvalidInput("a frame without pixels has no place")
    return image.convert("RGB")


def _steepness(pixels: Floats, directions: int) -> Floats:
    import numpy as np

    light = np.sqrt(pixels.mean(axis=2))
    down = np.zeros_like(light)
    across = np.zeros_like(light)
    down[1:-1] = light[2:] - light[:-2]
    across[:, 1:-1] = light[:, 2:] - light[:, :-2]
    direction = np.arctan2(down, across) * np.float32(directions / (2 * np.pi)) % directions
    off = np.abs(direction[..., None] - np.arange(directions, dtype=np.float32))
    share = np.maximum(0, 1 - np.minimum(off, directions - off))
    weighted: Floats = np.hypot(down, across)[..., None] * share
    return weighted


def _colours(pixels: Floats, count: int) -> Floats:
    import numpy as np

    red, green, blue = pixels[..., 0], pixels[..., 1], pixels[..., 2]
    brightness = red + green + blue + np.float32(_DARK)
    channels = (
        (np.sqrt(pixels.mean(axis=2)), _LIGHTNESS),
        ((red - green) / brightness, _RED_GREEN),
        (((red + green) / 2 - blue) / brightness, _BLUE_YELLOW),
    )
    bins = np.arange(count, dtype=np.float32)
    shares = []
    for values, (low, high) in channels:
        place = np.clip((values - low) / (high - low), 0, 1) * (count - 1)
        shares.append(np.maximum(0, 1 - np.abs(place[..., None] - bins)))
    return np.concatenate(shares, axis=-1)


def _pooled(steepness: Floats, colours: Floats, turn: float) -> bytes:
    """The bytes of both sets of histograms, each of length 1 before it is rounded, with the head turned."""
    import numpy as np

    directions = _histograms(steepness, _DIRECTION_GRID, turn)
    directions /= max(float(np.linalg.norm(directions)), np.sqrt(_FLAT))
    palette = _histograms(colours, _COLOUR_GRID, turn)
    palette /= max(float(np.linalg.norm(palette)), 1e-6)
    both = np.concatenate((directions, palette))
    return bytes(np.rint(both * (255 / both.max())).astype(np.uint8).tobytes())


def _histograms(weights: Floats, grid: tuple[int, int], turn: float) -> Floats:
    """Square roots of the mean weight per cell and bin, flat; neighbouring cells share a pixel between them."""
    import numpy as np

    height, width = weights.shape[:2]
    rows, columns = _sharing(height, grid[0], 0.0), _sharing(width, grid[1], turn)
    stripes: Floats = (rows.T @ weights.reshape(height, -1)).reshape(grid[0], width, -1)
    counts: Floats = np.einsum("rwb,wc->rcb", stripes, columns, optimize=True)
    roots: Floats = np.sqrt(counts / np.float32(height * width))
    return roots.ravel()


def _sharing(pixels: int, cells: int, shift: float) -> Floats:
    """How much of each pixel of an edge belongs to each cell, (pixels, cells), moved by a share of the edge."""
    import numpy as np

    position = (np.arange(pixels) + 0.5) / pixels + shift
    share: Floats = np.maximum(0, 1 - np.abs((position * cells - 0.5)[:, None] - np.arange(cells))).astype(np.float32)
    share[(position < 0) | (position > 1)] = 0
    return share
