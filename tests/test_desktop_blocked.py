"""Programs that block a desktop: a modal dialog that hangs, a window that takes the keyboard. Each a clear result."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

from scrubjay import Memory, Query
from scrubjay.environments.desktop.environment import Desktop
from scrubjay.environments.desktop.settling import Patience
from scrubjay.environments.recording import RecordMemory
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
