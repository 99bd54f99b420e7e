"""Programs that block a desktop: a modal dialog that hangs, one that takes the keyboard or the whole display."""

from __future__ import annotations

import contextlib
import importlib
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scrubjay import Memory, Query
from scrubjay.environments.desktop.actions import parse_action
from scrubjay.environments.desktop.environment import Desktop
from scrubjay.environments.desktop.input import Hands
from scrubjay.environments.desktop.screen import Screen
from scrubjay.environments.desktop.settling import Patience
from scrubjay.environments.recording import RecordMemory
from scrubjay.errors import InvalidInput
from scrubjay.memory.checking import check as check_folder
from scrubjay.memory.jsonio import Json

pytestmark = pytest.mark.xdist_group("screens")
XCFFIB: Any = importlib.import_module("xcffib")
XPROTO: Any = importlib.import_module("xcffib.xproto")
PROGRAM = [sys.executable, str(Path(__file__).with_name("desk_program.py"))]


def do(desktop: Desktop | RecordMemory, name: str, **arguments: Any) -> Json:
    return dict(desktop.step({name: arguments})[4]["state"])


def test_a_program_that_hangs_in_a_modal_dialog_costs_its_life_alone(tmp_path: Path) -> None:
    desktop = Desktop([*PROGRAM, "stuck"], (640, 480), patience=Patience(limit=1.5))
    try:
        with Memory.create(tmp_path / "memory") as memory:
            recorded = RecordMemory(desktop, memory, task="get out of it")
            recorded.reset(seed=1)
            assert do(recorded, "click", x=590, y=95)["place"] == "Sure?"
            for name, given in (("type", {"text": "x"}), ("key", {"keys": "Escape"}), ("key", {"keys": "alt+F4"})):
                state = do(recorded, name, **given)
                assert [one["title"] for one in state["windows"]] == ["desk", "Sure?"]
            do(recorded, "click", x=280, y=335)  # the button in which it hangs
            hung = do(recorded, "click", x=280, y=335)
            assert (hung["changed"], hung["place"], hung["settled"]) == (None, "Sure?", True)
            assert recorded.step({"done": {}})[4]["ending"] == "done"
            recorded.reset(seed=1)  # another life, in a program that answers
            assert do(recorded, "click", x=150, y=110)["place"] == "desk"
            assert do(recorded, "type", text="in")["active"]["title"] == "*desk in"
            kinds = [row.action_kind for row in memory.find(Query(life=1)).rows]
            assert kinds[:6] == [None, "click", "type", "key", "key", "click"]
            assert check_folder(memory.layout).problems == []
    finally:
        desktop.close()


def test_a_window_that_takes_the_keyboard_away_is_seen_by_what_did_not_change() -> None:
    """As a prompt for a password does. What it took is not typed elsewhere later; the next life has the keyboard."""
    desktop = Desktop(PROGRAM, (800, 600))
    try:
        desktop.reset(seed=1)
        do(desktop, "click", x=150, y=120)
        assert do(desktop, "type", text="a")["active"]["title"] == "*desk a"
        assert desktop.screen is not None
        other = XCFFIB.connect(display=desktop.screen.display)
        mode = XPROTO.GrabMode.Async
        root = other.get_setup().roots[0].root
        taken = other.core.GrabKeyboard(False, root, XPROTO.Time.CurrentTime, mode, mode).reply()
        assert taken.status == XPROTO.GrabStatus.Success
        do(desktop, "screenshot")  # the field is told that it has lost the focus
        state = do(desktop, "type", text="bc")
        assert (state["active"]["title"], state["changed"], state["settled"]) == ("*desk a", None, True)
        assert do(desktop, "click", x=470, y=120)["place"] == "Sure?"  # the mouse is free
        other.disconnect()
        desktop.reset(seed=1)
        do(desktop, "click", x=150, y=120)
        assert do(desktop, "type", text="x")["active"]["title"] == "*desk x"
    finally:
        desktop.close()


def test_a_program_that_keeps_the_whole_display_to_itself_costs_its_life_alone(tmp_path: Path) -> None:
    """No picture comes and no press gets through: the step ends in time and says why; the next life has a display."""
    desktop = Desktop(PROGRAM, (640, 480))
    try:
        with Memory.create(tmp_path / "memory") as memory:
            recorded = RecordMemory(desktop, memory, task="go on")
            recorded.reset(seed=1)
            do(recorded, "click", x=150, y=110)
            before = desktop.render()
            assert desktop.screen is not None
            name = desktop.screen.display
            other = XCFFIB.connect(display=name)
            other.core.GrabServer(is_checked=True).check()
            with ThreadPoolExecutor() as meanwhile:
                late = meanwhile.submit(Screen, name)
                pressed = meanwhile.submit(Hands(name, (640, 480)).do, parse_action({"key": {"keys": "a"}}))
                frame, _, terminated, _, info = recorded.step({"wait": {"seconds": 0.0}})
            assert terminated
            assert info["ending"].startswith("the display has not answered for 10 s")
            assert (info["state"]["problem"], info["state"]["settled"]) == (info["ending"], False)
            assert np.array_equal(frame, before)
            with pytest.raises(InvalidInput, match="can't be opened: it has not answered"):
                late.result()
            assert "did not end within 10 s" in str(pressed.result())
            recorded.reset(seed=1)
            do(recorded, "click", x=150, y=110)
            assert do(recorded, "type", text="in")["active"]["title"] == "*desk in"
            assert [row.action_kind for row in memory.find(Query(life=1)).rows] == [None, "click", "wait"]
            assert check_folder(memory.layout).problems == []
            with contextlib.suppress(XCFFIB.ConnectionException):
                other.disconnect()
    finally:
        desktop.close()


def test_a_display_that_a_program_keeps_to_itself_for_a_moment_is_waited_for() -> None:
    desktop = Desktop(PROGRAM, (640, 480))
    try:
        desktop.reset(seed=1)
        do(desktop, "click", x=150, y=110)
        assert desktop.screen is not None
        other = XCFFIB.connect(display=desktop.screen.display)
        other.core.GrabServer(is_checked=True).check()
        release = threading.Timer(1.0, other.disconnect)
        release.start()
        assert do(desktop, "type", text="a")["active"]["title"] == "*desk a"
        release.join()
    finally:
        desktop.close()
