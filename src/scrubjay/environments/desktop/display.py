"""A display of our own: a virtual X server with a window manager, in a folder that goes with it.

It finds a free number itself; two of them never meet.
"""

from __future__ import annotations

import contextlib
import os
import select
import time
from collections.abc import Mapping

from scrubjay.environments.desktop.connection import credentials
from scrubjay.environments.desktop.processes import Program, end_left_over
from scrubjay.environments.desktop.screen import Screen
from scrubjay.environments.temporary import TemporaryFolder
from scrubjay.errors import InvalidInput

__all__ = ["Display", "Home"]

_SECONDS = 15.0
_POLL = 0.02
_SETTINGS = """<?xml version="1.0"?>
<openbox_config xmlns="http://openbox.org/3.4/rc">
  <focus><focusNew>yes</focusNew><focusLast>yes</focusLast></focus>
  <placement><policy>Smart</policy><center>yes</center></placement>
  <theme><name>Clearlooks</name><animateIconify>no</animateIconify></theme>
  <desktops><number>1</number></desktops>
  <mouse><context name="Client"><mousebind button="Left" action="Press"><action name="Focus"/><action name="Raise"/>
  </mousebind></context>
  <context name="Titlebar"><mousebind button="Left" action="Press"><action name="Focus"/><action name="Raise"/>
  </mousebind><mousebind button="Left" action="Drag"><action name="Move"/></mousebind></context>
  <context name="Close"><mousebind button="Left" action="Click"><action name="Close"/></mousebind></context></mouse>
</openbox_config>
"""
_STILL = "[Settings]\ngtk-cursor-blink=0\ngtk-enable-animations=0\ngtk-enable-event-sounds=0\n"


class Home:
    """A fresh home folder for programs, in which carets don't blink and nothing moves by itself."""

    def __init__(self) -> None:
        end_left_over()
        self._temporary = TemporaryFolder()
        self._folder = self._temporary.path
        self.root = self._folder / "home"  # programs show its name: it must be the same every time
        self.logs = self._folder / "logs"
        self.config = self.root / ".config"
        for folder in (self.logs, self.config / "gtk-3.0", self.config / "gtk-4.0"):
            folder.mkdir(parents=True)
        for version in ("3.0", "4.0"):
            (self.config / f"gtk-{version}" / "settings.ini").write_text(_STILL)

    def environment(self, display: str) -> dict[str, str]:
        """The environment variables of a program that runs here: no session bus, no accessibility, English."""
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LD_LIBRARY_PATH", "TZ")}
        return {
            **kept,
            **credentials(),
            "HOME": str(self.root),
            "XDG_CONFIG_HOME": str(self.config),
            "XDG_RUNTIME_DIR": str(self._folder),
            "DISPLAY": display,
            "LANG": "C.UTF-8",
            "LC_ALL": "C.UTF-8",
            "NO_AT_BRIDGE": "1",
            "GTK_A11Y": "none",
            "GTK_THEME": "Adwaita",
            "GDK_BACKEND": "x11",
            "QT_QPA_PLATFORM": "xcb",
            "DBUS_SESSION_BUS_ADDRESS": "disabled:",
        }

    def remove(self) -> None:
        """Removes it. A second call does nothing."""
        self._temporary.remove()


class Display:
    """A virtual X server and its window manager. `name` is what DISPLAY must say."""

    def __init__(self, size: tuple[int, int]) -> None:
        """Starts both and waits until they answer. Raises InvalidInput where one is missing or does not start."""
        self._programs: list[Program] = []
        self._home = Home()
        try:
            self.name = self._start_server(size, self._home)
            self._start_manager(self._home)
        except BaseException:
            self.close()
            raise

    @property
    def is_running(self) -> bool:
        """False once the server or the window manager has ended."""
        return bool(self._programs) and self.ending() is None

    def ending(self) -> str | None:
        """Which of the two has ended; None while both run."""
        ended = next((one for one in self._programs if one.status is not None), None)
        return None if ended is None else ended.ending

    @property
    def server(self) -> int:
        """The process id of the server."""
        return self._programs[0].pid

    @property
    def manager(self) -> int:
        """The process id of the window manager."""
        return self._programs[1].pid

    def close(self) -> None:
        """Ends the window manager and the server. A second call does nothing."""
        programs, self._programs = self._programs, []
        for program in reversed(programs):
            program.end()
        self._home.remove()

    def _start_server(self, size: tuple[int, int], home: Home) -> str:
        ours, theirs = os.pipe()
        screen = f"{size[0]}x{size[1]}x24"
        command = [
            "Xvfb",
            "-displayfd",
            str(theirs),
            "-screen",
            "0",
            screen,
            "-nolisten",
            "tcp",
            "-noreset",
            "-dpi",
            "96",
        ]
        try:
            server = Program(command, home.logs / "Xvfb", _plain(home), home.root, keep=(theirs,))
            self._programs.append(server)
            os.close(theirs)
            theirs = -1
            number = _line(ours, server)
        finally:
            for descriptor in (ours, theirs):
                with contextlib.suppress(OSError):
                    os.close(descriptor)
        if number is None:
            raise InvalidInput(f"Xvfb did not start with a screen of {screen}: {server.said() or 'it said nothing'}")
        return f":{number}"

    def _start_manager(self, home: Home) -> None:
        settings = home.root / "openbox.xml"
        settings.write_text(_SETTINGS)
        manager = Program(
            ["openbox", "--config-file", str(settings), "--sm-disable"],
            home.logs / "openbox",
            home.environment(self.name),
            home.root,
        )
        self._programs.append(manager)
        screen = Screen(self.name)
        try:
            deadline = time.monotonic() + _SECONDS
            while not screen.has_manager():
                if manager.status is not None or time.monotonic() > deadline:
                    raise InvalidInput(f"openbox did not start: {manager.said() or 'it said nothing'}")
                time.sleep(_POLL)
        finally:
            screen.close()


def _plain(home: Home) -> Mapping[str, str]:
    return {name: value for name, value in home.environment("").items() if name != "DISPLAY"}


def _line(descriptor: int, server: Program) -> str | None:
    """The line that the server writes once it is ready, or None where it ended or took too long."""
    said = b""
    deadline = time.monotonic() + _SECONDS
    while not said.endswith(b"\n") and time.monotonic() < deadline:
        if select.select([descriptor], [], [], 0.1)[0]:
            part = os.read(descriptor, 64)
            if not part:
                return None
            said += part
        elif server.status is not None:
            return None
    return said.decode().strip() or None
