"""A connection to an X server that answers in time or says that it does not.

It knows xcffib. It asks nothing by itself.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import socket
import threading
from collections.abc import Iterator
from typing import Any

from scrubjay.errors import InvalidInput

__all__ = ["Connection", "DisplayGone", "connected", "credentials"]

_SECONDS = 10.0  # a window that is dragged keeps the server to itself for less
_SILENCE = f"has not answered for {_SECONDS:g} s; a program may keep it to itself"


class DisplayGone(Exception):
    """The display no longer answers: its server ended, closed the connection, or serves another program alone."""


class Connection:
    """A connection to a display. `core` makes requests, `x` has the protocol's names, `setup` what the server is."""

    def __init__(self, display: str) -> None:
        """Raises InvalidInput where the display can't be opened."""
        self._display = display
        try:
            self._xcffib: Any = importlib.import_module("xcffib")
            self.x: Any = importlib.import_module("xcffib.xproto")
        except OSError as error:  # the library beneath it
            raise InvalidInput(f"no display can be opened: {error}; on Debian: apt-get install libxcb1") from None
        self._connection: Any = self._connect()
        self._is_silent = False
        self.core: Any = self._connection.core
        self.setup: Any = self._connection.get_setup()

    def close(self) -> None:
        """Closes the connection. A second call does nothing."""
        with contextlib.suppress(Exception):
            self._connection.disconnect()

    def extension(self, name: str) -> Any:
        """The requests of one of the protocol's extensions, such as `xtest`."""
        return self._connection(importlib.import_module(f"xcffib.{name}").key)

    @contextlib.contextmanager
    def answers(self) -> Iterator[None]:
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

    def _connect(self) -> Any:
        """A connection. The library waits for the server without end, so another thread does that."""
        made: list[Any] = []
        late = threading.Event()

        def connect() -> None:
            try:
                made.append(self._xcffib.connect(display=self._display))
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
            raise InvalidInput(f"display {self._display!r} can't be opened: it {_SILENCE}")
        if isinstance(made[0], Exception):
            raise InvalidInput(
                f"display {self._display!r} can't be opened: {type(made[0]).__name__}; is its server running?"
            )
        return made[0]

    def _hang_up(self) -> None:
        """Ends the connection under the call that waits for an answer; nothing else gets it to return."""
        self._is_silent = True
        with (
            contextlib.suppress(Exception),
            socket.socket(fileno=os.dup(self._connection.get_file_descriptor())) as end,
        ):
            end.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def connected(display: str) -> Iterator[Connection]:
    """A connection for a moment. Raises DisplayGone also where there is no such display any more."""
    try:
        connection = Connection(display)
    except InvalidInput as error:
        raise DisplayGone(str(error)) from None
    with contextlib.closing(connection):
        yield connection


def credentials() -> dict[str, str]:
    """The environment variable by which programs with another home are let onto a display that asks who they are."""
    named = os.environ.get("XAUTHORITY") or os.path.expanduser("~/.Xauthority")
    return {"XAUTHORITY": os.path.abspath(named)} if os.path.exists(named) else {}
