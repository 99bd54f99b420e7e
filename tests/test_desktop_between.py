"""Nothing of a life is left on the display for the next one: keys, buttons, locks, the pointer, the window manager."""

from __future__ import annotations

import os
import signal
import struct
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from scrubjay.environments.desktop.display import Display
from scrubjay.environments.desktop.environment import Desktop
from scrubjay.environments.desktop.held import Held, held_on
from scrubjay.environments.desktop.processes import Program
from scrubjay.errors import InvalidInput
from scrubjay.memory.jsonio import Json

pytestmark = pytest.mark.xdist_group("screens")
PROGRAM = [sys.executable, str(Path(__file__).with_name("desk_program.py"))]


@pytest.fixture
def desk() -> Iterator[Desktop]:
    desktop = Desktop(PROGRAM, (800, 600))
    desktop.reset(seed=1)
    yield desktop
    desktop.close()


def do(desktop: Desktop, name: str, **arguments: Any) -> Json:
    return dict(desktop.step({name: arguments})[4]["state"])


def held(desktop: Desktop) -> Held:
    return held_on(desktop.need_screen().display)


@pytest.mark.parametrize(
    ("name", "keys"), [("key_down", "shift"), ("key_down", "ctrl+alt"), ("key", "Caps_Lock"), ("key", "Num_Lock")]
)
def test_a_key_that_one_life_left_down_is_up_in_the_next(desk: Desktop, name: str, keys: str) -> None:
    do(desk, name, keys=keys)
    assert held(desk) != Held()
    desk.reset(seed=1)
    assert held(desk) == Held()
    do(desk, "click", x=150, y=120)
    assert do(desk, "type", text="aB1")["active"]["title"] == "*desk aB1"


def test_a_life_begins_with_the_pointer_where_the_first_one_had_it(desk: Desktop) -> None:
    first = desk.reset(seed=1)[1]["state"]
    do(desk, "click", x=470, y=120)  # on a button, which looks otherwise under the pointer
    again = desk.reset(seed=1)[1]["state"]
    assert again["pos"] == first["pos"]
    assert again["screen"] == first["screen"]


def test_an_attached_display_is_given_back_as_it_was_found() -> None:
    display = Display((640, 480))
    try:
        host = Desktop([], display=display.name)
        host.reset()
        do(host, "key", keys="Num_Lock")
        do(host, "key_down", keys="F7")
        before = held_on(display.name)
        assert before.keys
        assert before.locks
        guest = Desktop(PROGRAM, display=display.name)
        guest.reset()
        do(guest, "key_down", keys="ctrl")
        do(guest, "key", keys="Caps_Lock")
        do(guest, "mouse_move", x=900, y=900)
        assert held_on(display.name) != before
        guest.close()
        assert held_on(display.name) == before
        host.close()
        assert held_on(display.name) == Held()
    finally:
        display.close()


def test_a_display_that_asks_who_comes_is_used_with_what_the_user_may(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the screen of a person does. Programs have another home, so the file of the user's must be named to them."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XAUTHORITY", raising=False)
    words = (b"", b"", b"MIT-MAGIC-COOKIE-1", os.urandom(16))  # of any host, for any display
    written = struct.pack(">H", 0xFFFF) + b"".join(struct.pack(">H", len(one)) + one for one in words)
    (tmp_path / ".Xauthority").write_bytes(written)
    ours, theirs = os.pipe()
    command = ["Xvfb", "-displayfd", str(theirs), "-auth", str(tmp_path / ".Xauthority"), "-nolisten", "tcp"]
    server = Program([*command, "-noreset"], tmp_path / "log", os.environ, tmp_path, keep=(theirs,))
    os.close(theirs)
    with ExitStack() as ending:
        ending.callback(os.close, ours)
        ending.callback(server.end)
        name = f":{os.read(ours, 16).decode().strip()}"
        given = {**os.environ, "DISPLAY": name}
        ending.callback(Program(["openbox", "--sm-disable"], tmp_path / "log", given, tmp_path).end)
        desktop = Desktop(PROGRAM, display=name)
        ending.callback(desktop.close)
        desktop.reset()
        size = desktop.need_screen()
        do(desktop, "click", x=150 / size.width * 1000, y=60 / size.height * 1000)
        assert do(desktop, "type", text="in")["active"]["title"] == "*desk in"
        assert do(desktop, "mouse_move", x=0, y=0)["pos"][:2] == [0, 0]
        assert do(desktop, "mouse_move", x=1000, y=1000)["pos"][:2] == [1000, 1000]


def test_a_window_manager_that_dies_ends_the_life_and_the_next_one_has_another(desk: Desktop) -> None:
    assert desk.display is not None
    os.kill(desk.display.manager, signal.SIGKILL)
    *_, terminated, _, info = desk.step({"wait": {"seconds": 0.0}})
    assert (terminated, info["ending"]) == (True, "openbox ended by signal 9")
    assert desk.reset(seed=1)[1]["state"]["active"]["title"] == "desk"


def test_a_window_manager_that_dies_while_a_program_starts_is_not_waited_for() -> None:
    desktop = Desktop([], (640, 480))
    try:
        desktop.reset()
        assert desktop.display is not None
        os.kill(desktop.display.manager, signal.SIGKILL)
        with pytest.raises(InvalidInput, match="no window: openbox ended by signal 9"):
            desktop.wait_for(lambda: False, 600.0, "no window")
    finally:
        desktop.close()


def test_what_a_program_said_is_told_whole() -> None:
    desktop = Desktop(["sh", "-c", "echo /a/path; echo; echo 'and /'; exit 3"], (640, 480))
    with pytest.raises(InvalidInput, match=r"it said: /a/path / and /$"):
        desktop.reset()
