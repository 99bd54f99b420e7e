"""Waiting until a screen is still: what it shows then is what an action led to."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scrubjay.environments.desktop.screen import Screen

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Pixels = NDArray[np.uint32]

__all__ = ["Patience", "Settled", "changed_region", "settle"]


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait, in seconds: `first` for a first change, `still` without a further one, `limit` in all."""

    first: float = 0.6
    still: float = 0.35
    limit: float = 6.0
    every: float = 0.03


@dataclass(frozen=True, slots=True)
class Settled:
    """What the screen shows; `is_still` is false where it went on changing until the limit."""

    pixels: Pixels
    is_still: bool


def settle(screen: Screen, patience: Patience, before: Pixels | None = None) -> Settled:
    """Looks until nothing has changed for a while.

    `before` is what was seen before an action that may take a moment to show an effect. Raises DisplayGone.
    """
    pixels = screen.grab()
    began = since = time.monotonic()
    awaits = before is not None and np.array_equal(before, pixels)
    while True:
        time.sleep(patience.every)
        newer = screen.grab()
        now = time.monotonic()
        if not np.array_equal(newer, pixels):
            pixels, since, awaits = newer, now, False
        elif now - since >= patience.still and not (awaits and now - began < patience.first):
            return Settled(pixels, True)
        if now - began >= patience.limit:
            return Settled(pixels, False)


def changed_region(before: Pixels, after: Pixels) -> tuple[int, int, int, int] | None:
    """The smallest rectangle (x, y, width, height, in pixels) that holds every difference; None without one."""
    differs = before != after
    rows, columns = np.flatnonzero(differs.any(axis=1)), np.flatnonzero(differs.any(axis=0))
    if not rows.size:
        return None
    left, top = int(columns[0]), int(rows[0])
    return left, top, int(columns[-1]) - left + 1, int(rows[-1]) - top + 1
