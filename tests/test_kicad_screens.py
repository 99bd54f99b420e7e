"""A real KiCad on screens that are unlike others: one that dies, one of 4K; and a drag that moves what is drawn."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scrubjay import Memory, Query
from scrubjay.environments.kicad.environment import KiCad
from scrubjay.environments.kicad.sexpr import children, read
from scrubjay.environments.recording import RecordMemory
from scrubjay.memory.checking import check as check_folder
from scrubjay.models.scripted.kicad.seeing import sheet
from test_kicad import needs_kicad, solve

pytestmark = pytest.mark.xdist_group("screens")


@pytest.fixture
def divider() -> Iterator[KiCad]:
    environment = KiCad("divider")
    yield environment
    environment.close()


@pytest.fixture
def screen_of_4k() -> Iterator[KiCad]:
    environment = KiCad("supply", size=(3840, 2160))
    yield environment
    environment.close()


def saved_at(environment: KiCad, reference: str) -> tuple[float, float]:
    """Where the saved schematic has a symbol, in mils."""
    assert environment.home is not None
    (path,) = (environment.home.root / "project").rglob("*.kicad_sch")
    whole: Any = read(path.read_text(), str(path))
    for symbol in children(whole, "symbol"):
        if any(one[1:3] == ["Reference", reference] for one in children(symbol, "property")):
            (place,) = children(symbol, "at")
            return round(float(str(place[1])) / 0.0254), round(float(str(place[2])) / 0.0254)
    raise AssertionError(f"{reference} is not in {path}")


@needs_kicad
def test_one_drag_moves_a_symbol_that_was_selected(divider: KiCad) -> None:
    """The editor follows a pointer that goes there bit by bit; what was moved is what the saved file says.

    It moves things by what is left of the way once it has noticed the drag: some grid points less, of a hand as well.
    """
    frame, _ = divider.reset(seed=1)
    seen = sheet(frame)
    assert seen is not None
    assert saved_at(divider, "R2") == (5000, 3500)
    (x, y), (to_x, to_y) = seen.at(5000, 3500), seen.at(6000, 3700)
    divider.step({"click": {"x": x, "y": y}})
    state = divider.step({"drag": {"from_x": x, "from_y": y, "to_x": to_x, "to_y": to_y}})[4]["state"]
    assert state["active"]["title"].startswith("*")
    assert state["pos"][:2] == pytest.approx([to_x, to_y], abs=1)
    divider.step({"key": {"keys": "ctrl+s"}})
    assert saved_at(divider, "R2") == pytest.approx((6000, 3700), abs=300)


@needs_kicad
def test_a_display_that_dies_costs_its_life_alone_and_what_was_saved_is_judged(divider: KiCad, tmp_path: Path) -> None:
    with Memory.create(tmp_path / "memory") as memory:
        recorded = RecordMemory(divider, memory, task="draw")
        recorded.reset(seed=1)
        recorded.step({"mouse_move": {"x": 500, "y": 500}})
        assert divider.display is not None
        os.kill(divider.display.server, signal.SIGKILL)
        *_, terminated, _, info = recorded.step({"key": {"keys": "ctrl+s"}})
        assert (terminated, info["ending"]) == (True, "the display has ended")
        (row,) = divider.evaluation()
        assert (row["event"], row["score"], row["ending"]) == ("score", pytest.approx(2 / 3), "the display has ended")
        _, again = recorded.reset(seed=1)
        assert again["state"]["place"] == "divider — Schematic Editor"
        rows = memory.find(Query(life=1)).rows
        assert [one.action_kind for one in rows] == [None, "mouse_move", "key"]
        assert (rows[-1].outcome, memory.lives()[0].outcome) == ("the display has ended", "the display has ended")
        assert check_folder(memory.layout).problems == []


@needs_kicad
def test_the_editor_opens_on_a_screen_of_4k(screen_of_4k: KiCad) -> None:
    frame, info = screen_of_4k.reset(seed=1)
    assert frame.shape == (2160, 3840, 3)
    assert info["state"]["place"] == "supply — Schematic Editor"
    state = screen_of_4k.step({"key": {"keys": "ctrl+f"}})[4]["state"]
    assert [window["title"] for window in state["windows"]] == ["supply — Schematic Editor", "Find"]


@needs_kicad
@pytest.mark.long
def test_a_task_is_solved_on_a_screen_of_4k(screen_of_4k: KiCad, tmp_path: Path) -> None:
    with Memory.create(tmp_path / "memory") as memory:
        assert solve(screen_of_4k, memory, "supply")["score"] == 1.0
