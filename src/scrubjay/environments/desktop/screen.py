"""Looking at an X display: pixels, pointer, windows. It changes nothing there.

It knows the X protocol. Coordinates here are pixels from the upper left corner.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from scrubjay.environments.desktop.connection import Connection
from scrubjay.errors import InvalidInput

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Frame = NDArray[np.uint8]
    Pixels = NDArray[np.uint32]

__all__ = ["Screen", "Window", "frame_of"]

_HEAD = 32  # bytes of a reply before its data
_LONGEST = 1024  # words of a property
_ALL_PLANES = 0xFFFFFFFF


def frame_of(pixels: Pixels) -> Frame:
    """The frame of a screen's pixels: `uint8 (H, W, 3)`, red first."""
    channels = pixels.view(np.uint8).reshape(*pixels.shape, 4)
    return np.ascontiguousarray(channels[:, :, 2::-1])


@dataclass(frozen=True, slots=True)
class Window:
    """A window with a title: its class (the program's name for its kind), its place on the screen in pixels."""

    id: int
    title: str
    kind: str
    x: int
    y: int
    width: int
    height: int


class Screen:
    """The first screen of a display."""

    def __init__(self, display: str) -> None:
        """Raises InvalidInput where the display can't be opened or has other than 24 bits of colour."""
        self.display = display
        self._connection = Connection(display)
        self._x: Any = self._connection.x
        setup = self._connection.setup
        root = setup.roots[0]
        depths = {one.depth: one.bits_per_pixel for one in setup.pixmap_formats}
        if root.root_depth != 24 or depths.get(24) != 32:
            self._connection.close()
            raise InvalidInput(f"display {display!r} has {root.root_depth} bits of colour; 24 are needed")
        self.width, self.height = int(root.width_in_pixels), int(root.height_in_pixels)
        self._root = root.root
        self._atoms: dict[str, int] = {}

    def close(self) -> None:
        """Closes the connection. A second call does nothing."""
        self._connection.close()

    def grab(self) -> Pixels:
        """The pixels of the whole screen as the server has them, `uint32 (H, W)`, without the pointer.

        They are only good for comparing; `frame_of` makes a frame of them. Raises DisplayGone.
        """
        with self._connection.answers():
            image = self._x.ImageFormat.ZPixmap
            cookie = self._core.GetImage(image, self._root, 0, 0, self.width, self.height, _ALL_PLANES)
            # Its own reply() would make a Python list of every byte.
            reply = cookie.conn.wait_for_reply(cookie.sequence)
        count = self.width * self.height
        return np.frombuffer(bytes(reply.buf), np.uint32, count, _HEAD).reshape(self.height, self.width)

    def pointer(self) -> tuple[int, int]:
        """Where the pointer is. Raises DisplayGone."""
        with self._connection.answers():
            found = self._core.QueryPointer(self._root).reply()
        return int(found.root_x), int(found.root_y)

    def windows(self) -> tuple[Window, ...]:
        """The windows that the window manager shows, the oldest first. Raises DisplayGone."""
        with self._connection.answers():
            listed = self._words(self._root, "_NET_CLIENT_LIST")
        found = (self._window(one) for one in listed)
        return tuple(one for one in found if one is not None)

    def active(self) -> int:
        """The id of the window that has the focus, 0 where none has. Raises DisplayGone."""
        with self._connection.answers():
            return next(iter(self._words(self._root, "_NET_ACTIVE_WINDOW")), 0)

    def has_manager(self) -> bool:
        """True where a window manager runs. Raises DisplayGone."""
        with self._connection.answers():
            return bool(self._words(self._root, "_NET_SUPPORTING_WM_CHECK"))

    def _window(self, ident: int) -> Window | None:
        """The window, or None where it has closed meanwhile or is hidden."""
        with self._connection.answers():
            try:
                shown = self._core.GetWindowAttributes(ident).reply().map_state
                size = self._core.GetGeometry(ident).reply()
                at = self._core.TranslateCoordinates(ident, self._root, 0, 0).reply()
                title = self._text(ident, "_NET_WM_NAME") or self._text(ident, "WM_NAME")
                kind = self._text(ident, "WM_CLASS").split("\0")
            except self._x.WindowError:
                return None
            except self._x.DrawableError:
                return None
        if shown != self._x.MapState.Viewable:
            return None
        return Window(ident, title, kind[1] if len(kind) > 1 else kind[0], at.dst_x, at.dst_y, size.width, size.height)

    def _words(self, window: int, name: str) -> list[int]:
        value = self._property(window, name)
        return [int(one) for one in np.frombuffer(value, np.uint32)] if len(value) % 4 == 0 else []

    def _text(self, window: int, name: str) -> str:
        return self._property(window, name).decode(errors="replace")

    def _property(self, window: int, name: str) -> bytes:
        anything = self._x.GetPropertyType.Any
        reply = self._core.GetProperty(False, window, self._atom(name), anything, 0, _LONGEST).reply()
        return bytes(reply.value.buf())

    def _atom(self, name: str) -> int:
        if name not in self._atoms:
            self._atoms[name] = int(self._core.InternAtom(False, len(name), name).reply().atom)
        return self._atoms[name]

    @property
    def _core(self) -> Any:
        return self._connection.core
