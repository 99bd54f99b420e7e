"""The structured part of an observation of a desktop: pointer, windows, what changed.

`pos` is the pointer from 0 to 1000 each way, and how many windows were there before the active one, in cells: a
dialog over the main window is a layer of its own, so that a place on the screen is a place in a window. `place` is
the title of the active window, without the star that marks unsaved changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from scrubjay.environments.desktop.screen import Window
from scrubjay.memory.jsonio import Json
from scrubjay.memory.records import World

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Frame = NDArray[np.uint8]

__all__ = ["CELL", "desktop_world", "state_of"]

CELL = 50.0
_MOST_WINDOWS = 20
_MOST_TITLE = 160

Region = tuple[int, int, int, int]


def desktop_world(name: str) -> World:
    """The world of a screen: x to the right, y downwards, z counts layers of windows."""
    return World(name, up="z", unit="thousandth of the screen", cell=CELL, yaw="none: a screen has no directions")


def state_of(
    size: tuple[int, int],
    pointer: tuple[int, int],
    windows: Sequence[Window],
    active: int,
    screen: str,
    changed: Region | None,
    is_still: bool,
) -> Json:
    """The state as JSON. Regions are [x, y, width, height] from 0 to 1000, `screen` the hash of the settled frame."""
    shown = list(windows[-_MOST_WINDOWS:])
    focused = next((one for one in windows if one.id == active), None)
    layer = 0 if focused is None else windows.index(focused)
    state: Json = {
        "pos": [*_normal(size, *pointer), layer * CELL],
        "place": None if focused is None else _title(focused).lstrip("*") or focused.kind,
        "active": None if focused is None else {"title": _title(focused), "class": focused.kind},
        "windows": [
            {"title": _title(one), "class": one.kind, "region": _region(size, (one.x, one.y, one.width, one.height))}
            for one in shown
        ],
        "screen": screen,
        "changed": None if changed is None else _region(size, changed),
        "settled": is_still,
    }
    return {key: value for key, value in state.items() if value is not None or key in ("active", "changed")}


def _title(window: Window) -> str:
    return window.title[:_MOST_TITLE]


def _normal(size: tuple[int, int], x: float, y: float) -> list[float]:
    return [round(x / max(1, size[0] - 1) * 1000, 1), round(y / max(1, size[1] - 1) * 1000, 1)]


def _region(size: tuple[int, int], region: Region) -> list[Any]:
    x, y, width, height = region
    return [*_normal(size, x, y), round(width / size[0] * 1000, 1), round(height / size[1] * 1000, 1)]
