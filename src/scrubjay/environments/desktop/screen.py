"""Looking at an X display: pixels, pointer, windows. It changes nothing there.

It knows the X protocol, through xcffib. Coordinates here are pixels from the upper left corner.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from scrubjay.errors import InvalidInput

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Frame = NDArray[np.uint8]
    Pixels = NDArray[np.uint32]

__all__ = ["DisplayGone", "Screen", "Window", "frame_of"]

_HEAD = 32  # bytes of a reply before its data
_LONGEST = 1024  # words of a property
_ALL_PLANES = 0xFFFFFFFF
_SECONDS = 10.0  # a window that is dragged keeps the server to itself for less
_SILENCE = f"has not answered for {_SECONDS:g} s; a program may keep it to itself"


class DisplayGone(Exception):
    """The display no longer answers: its server ended, closed the connection, or serves another program alone."""


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
        try:
            self._xcffib: Any = importlib.import_module("xcffib")
            self._x: Any = importlib.import_module("xcffib.xproto")
        except OSError as error:  # the library beneath it
            raise InvalidInput(f"no display can be opened: {error}; on Debian: apt-get install libxcb1") from None
        self._connection: Any = self._connect()
        self._is_silent = False
        setup = self._connection.get_setup()
        root = setup.roots[0]
        depths = {one.depth: one.bits_per_pixel for one in setup.pixmap_formats}
        if root.root_depth != 24 or depths.get(24) != 32:
            self._connection.disconnect()
            raise InvalidInput(f"display {display!r} has {root.root_depth} bits of colour; 24 are needed")
        self.width, self.height = int(root.width_in_pixels), int(root.height_in_pixels)
        self._root = root.root
        self._atoms: dict[str, int] = {}

    def close(self) -> None:
        """Closes the connection. A second call does nothing."""
        with contextlib.suppress(Exception):
            self._connection.disconnect()

    def grab(self) -> Pixels:
        """The pixels of the whole screen as the server has them, `uint32 (H, W)`, without the pointer.

        They are only good for comparing; `frame_of` makes a frame of them. Raises DisplayGone.
        """
        with self._answers():
            image = self._x.ImageFormat.ZPixmap
            cookie = self._core.GetImage(image, self._root, 0, 0, self.width, self.height, _ALL_PLANES)
            # Its own reply() would make a Python list of every byte.
            reply = cookie.conn.wait_for_reply(cookie.sequence)
        count = self.width * self.height
        return np.frombuffer(bytes(reply.buf), np.uint32, count, _HEAD).reshape(self.height, self.width)

    def pointer(self) -> tuple[int, int]:
        """Where the pointer is. Raises DisplayGone."""
        with self._answers():
            found = self._core.QueryPointer(self._root).reply()
        return int(found.root_x), int(found.root_y)

    def windows(self) -> tuple[Window, ...]:
        """The windows that the window manager shows, the oldest first. Raises DisplayGone."""
        with self._answers():
            listed = self._words(self._root, "_NET_CLIENT_LIST")
        found = (self._window(one) for one in listed)
        return tuple(one for one in found if one is not None)

    def active(self) -> int:
        """The id of the window that has the focus, 0 where none has. Raises DisplayGone."""
        with self._answers():
            return next(iter(self._words(self._root, "_NET_ACTIVE_WINDOW")), 0)

    def has_manager(self) -> bool:
        """True where a window manager runs. Raises DisplayGone."""
        with self._answers():
            return bool(self._words(self._root, "_NET_SUPPORTING_WM_CHECK"))

    def _window(self, ident: int) -> Window | None:
        """The window, or None where it has closed meanwhile or is hidden."""
        with self._answers():
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

    def _connect(self) -> Any:
        """A connection. The library waits for the server without end, so another thread does that."""
        made: list[Any] = []
        late = threading.Event()

        def connect() -> None:
            try:
                made.append(self._xcffib.connect(display=self.display))
            except Exception as error:  # xcffib has one class for each way to fail
                made.append(error)
            if late.is_set():
                with contextlib.suppress(Exception):
                    made[0].disconnect()

        thread = threading.Thread(target=connect, daemon=True)
        thread.start()
        thread.join(_SECONDS)
        if not made:
            late.set()
            raise InvalidInput(f"display {self.display!r} can't be opened: it {_SILENCE}")
        if isinstance(made[0], Exception):
            raise InvalidInput(
                f"display {self.display!r} can't be opened: {type(made[0]).__name__}; is its server running?"
            )
        return made[0]

    @contextlib.contextmanager
    def _answers(self) -> Iterator[None]:
        """What is asked within is answered, or DisplayGone is raised, in time."""
        watch = threading.Timer(_SECONDS, self._hang_up)
        watch.daemon = True
        watch.start()
        try:
            yield
        except (self._xcffib.ConnectionException, ConnectionError) as error:
            raise DisplayGone(f"the display {_SILENCE if self._is_silent else 'has ended'}") from error
        finally:
            watch.cancel()

    def _hang_up(self) -> None:
        """Ends the connection under the call that waits for an answer; nothing else gets it to return."""
        self._is_silent = True
        with (
            contextlib.suppress(Exception),
            socket.socket(fileno=os.dup(self._connection.get_file_descriptor())) as end,
        ):
            end.shutdown(socket.SHUT_RDWR)
