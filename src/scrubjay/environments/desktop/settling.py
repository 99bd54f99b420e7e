"""Waiting until a screen is still: what it shows then is what an action led to."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scrubjay.environments.desktop.screen import Screen

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Pixels = NDArray[np.uint32]

_BUSY = 0.4  # of the time that passes

__all__ = ["Patience", "Settled", "changed_region", "settle"]


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait, in seconds: `first` for a first change, `still` without a further one, `limit` in all."""

    first: float = 0.3
    still: float = 0.2
    limit: float = 8.0
    every: float = 0.03


@dataclass(frozen=True, slots=True)
class Settled:
    """What the screen shows; `is_still` is false where it, or the program, was at work until the limit."""

    pixels: Pixels
    is_still: bool


def settle(
    screen: Screen, patience: Patience, before: Pixels | None = None, worked: Callable[[], float] = lambda: 0.0
) -> Settled:
    """Looks until nothing has changed for a while, and the program has nothing to do.

    `before` is what was seen before an action that may take a moment to show an effect. `worked` is how many seconds
    of CPU the program has used: one that computes shows nothing new, and will. Raises DisplayGone.
    """
    pixels = screen.grab()
    began = since = last = time.monotonic()
    used = worked()
    awaits = before is not None and np.array_equal(before, pixels)
    while True:
        time.sleep(patience.every)
        newer = screen.grab()
        now, using = time.monotonic(), worked()
        is_busy = using - used > _BUSY * (now - last)
        last, used = now, using
        if not np.array_equal(newer, pixels):
            pixels, since, awaits = newer, now, False
        elif is_busy:
            since = now
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
