"""A desktop is an environment: a program that is not KiCad, on a virtual screen, by mouse and keyboard alone."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded

from scrubjay import Memory, Query
from scrubjay.environments.desktop.display import Display
from scrubjay.environments.desktop.environment import Desktop
from scrubjay.environments.desktop.settling import Patience
from scrubjay.environments.recording import RecordMemory
from scrubjay.errors import InvalidInput
from scrubjay.memory.frames import screen_hash
from scrubjay.memory.jsonio import Json

pytestmark = pytest.mark.xdist_group("screens")
PROGRAM = [sys.executable, str(Path(__file__).with_name("desk_program.py"))]
FIELD, OPEN, QUIT, CANVAS = (150, 120), (470, 120), (640, 120), (300, 400)


@pytest.fixture(scope="module")
def kept() -> Iterator[Desktop]:
    desktop = Desktop(PROGRAM, (800, 600))
    yield desktop
    desktop.close()


@pytest.fixture
def desk(kept: Desktop) -> Desktop:
    kept.reset(seed=1)
    return kept


def do(desktop: Desktop, name: str, **arguments: Any) -> Json:
    return dict(desktop.step({name: arguments})[4]["state"])


def at(place: tuple[int, int], **more: Any) -> dict[str, Any]:
    return {"x": place[0], "y": place[1], **more}


def line(desktop: Desktop) -> bytes:
    """The pixels of the line in which the program says what it got."""
    return desktop.render()[300:340, 20:580].tobytes()


# --- what is seen


def test_the_first_observation_shows_the_program(desk: Desktop) -> None:
    frame, info = desk.reset(seed=1)
    state = info["state"]
    assert frame.shape == (600, 800, 3)
    assert state["active"] == {"title": "desk", "class": "Desk"}
    assert state["place"] == "desk"
    assert state["screen"] == screen_hash(frame)
    assert state["settled"]
    assert state["changed"] is None


def test_the_same_screen_is_recognised_in_another_life(desk: Desktop) -> None:
    first = do(desk, "click", **at(FIELD))["screen"]
    do(desk, "type", text="x")
    desk.reset(seed=1)
    assert do(desk, "click", **at(FIELD))["screen"] == first


def test_a_dialog_is_a_layer_of_its_own(desk: Desktop) -> None:
    state = do(desk, "click", **at(OPEN))
    assert [window["title"] for window in state["windows"]] == ["desk", "Sure?"]
    assert state["place"] == "Sure?"
    assert state["pos"][2] == desk.world.cell
    left, top, width, height = state["changed"]
    assert left < 300 < left + width
    assert top < 300 < top + height
    assert do(desk, "key", keys="Escape")["pos"][2] == 0


# --- what is done


def test_text_of_any_alphabet_is_typed_into_the_field_with_the_focus(desk: Desktop) -> None:
    do(desk, "click", **at(FIELD))
    assert do(desk, "type", text="4.7 kΩ µ+ä")["active"]["title"] == "*desk 4.7 kΩ µ+ä"
    state = do(desk, "key", keys="ctrl+s")
    assert state["active"]["title"] == "desk 4.7 kΩ µ+ä"


@pytest.mark.parametrize(
    "raw",
    [
        {"click": at(CANVAS)},
        {"click": at(CANVAS, button="right")},
        {"click": at(CANVAS, clicks=2)},
        {"click": at(CANVAS, clicks=3)},
        {"scroll": at(CANVAS, direction="down", amount=2)},
        {"drag": {"from_x": 200, "from_y": 400, "to_x": 500, "to_y": 350}},
        {"hold_key": {"keys": "F5", "seconds": 0.1}},
    ],
    ids=lambda raw: "-".join(map(str, next(iter(raw.values())).values())),
)
def test_each_way_to_press_reaches_the_program(desk: Desktop, raw: Json) -> None:
    before = line(desk)
    desk.step(raw)
    assert line(desk) != before


def test_a_key_stays_down_until_it_is_let_go(desk: Desktop) -> None:
    do(desk, "key_down", keys="F5")
    down = line(desk)
    do(desk, "key_up", keys="F5")
    assert line(desk) != down


def test_moving_and_looking_change_nothing_but_the_pointer(desk: Desktop) -> None:
    do(desk, "mouse_move", **at(CANVAS))
    before = desk.render()
    state = do(desk, "mouse_move", x=310, y=420)
    assert state["pos"][:2] == pytest.approx([310, 420], abs=1)
    assert np.array_equal(desk.render(), before)
    assert np.array_equal(desk.step(0)[0], before)
    assert do(desk, "wait", seconds=0.0)["changed"] is None


@pytest.mark.parametrize("name", ["Nonsense", "selectwindow", "version", "type"])
def test_a_key_that_there_is_not_is_told(desk: Desktop, name: str) -> None:
    """Some names are commands of the program that presses, which it would carry out instead."""
    assert f"No such key name '{name}'" in do(desk, "key", keys=name)["problem"]


def test_a_key_with_the_name_of_a_command_is_pressed(desk: Desktop) -> None:
    assert "problem" not in do(desk, "key", keys="Help")


# --- how lives end


def test_done_ends_the_life_and_the_next_one_begins_afresh(desk: Desktop) -> None:
    do(desk, "click", **at(FIELD))
    do(desk, "type", text="left over")
    _, _, terminated, truncated, info = desk.step(1)
    assert (terminated, truncated, info["ending"]) == (True, False, "done")
    with pytest.raises(ResetNeeded):
        desk.step(0)
    assert desk.reset(seed=1)[1]["state"]["active"]["title"] == "desk"


def test_a_program_that_ends_ends_the_life(desk: Desktop) -> None:
    *_, terminated, _, info = desk.step({"click": at(QUIT)})
    assert terminated
    assert info["ending"].endswith("ended with status 0")


def test_a_program_that_crashes_ends_the_life_and_the_next_one_starts_clean(desk: Desktop) -> None:
    assert desk.program is not None
    os.kill(desk.program.pid, signal.SIGKILL)
    *_, terminated, _, info = desk.step(0)
    assert terminated
    assert info["ending"].endswith("ended by signal 9")
    assert desk.reset(seed=1)[1]["state"]["active"]["title"] == "desk"


def test_the_episode_says_how_a_life_ended(desk: Desktop, tmp_path: Path) -> None:
    with Memory.create(tmp_path / "memory") as memory:
        recorded = RecordMemory(desk, memory, task="crash")
        recorded.reset(seed=1)
        assert desk.program is not None
        os.kill(desk.program.pid, signal.SIGKILL)
        *_, info = recorded.step({"key": {"keys": "F5"}})
        assert info["ending"].endswith("ended by signal 9")
        assert memory.find(Query(life=1)).rows[-1].outcome == info["ending"]
        assert memory.lives()[0].outcome == info["ending"]


def test_a_display_that_dies_ends_the_life_and_loses_no_frame(desk: Desktop) -> None:
    before = desk.render()
    assert desk.display is not None
    os.kill(desk.display.server, signal.SIGKILL)
    frame, _, terminated, _, info = desk.step({"click": at(FIELD)})
    assert terminated
    assert info["ending"] == "the display has ended"
    assert np.array_equal(frame, before)
    assert desk.reset(seed=1)[1]["state"]["active"]["title"] == "desk"


def test_a_program_that_hangs_is_ended_all_the_same(desk: Desktop) -> None:
    assert desk.program is not None
    os.kill(desk.program.pid, signal.SIGSTOP)
    assert do(desk, "click", **at(OPEN))["changed"] is None
    old = desk.program.pid
    desk.reset(seed=1)
    assert not Path(f"/proc/{old}").exists()


def test_a_length_cuts_the_life() -> None:
    desktop = Desktop(PROGRAM, (640, 480), length=1)
    try:
        desktop.reset()
        assert desktop.step(0)[2:4] == (False, True)
    finally:
        desktop.close()


@pytest.mark.parametrize("mode", ["grab", "moving"])
def test_a_window_that_grabs_the_keyboard_or_never_stands_still_is_a_screen_as_any_other(mode: str) -> None:
    desktop = Desktop([*PROGRAM, mode], (640, 480), patience=Patience(limit=1.5))
    try:
        desktop.reset()
        time.sleep(0.5)
        do(desktop, "click", x=150, y=110)
        state = do(desktop, "type", text="in")
        assert state["active"]["title"] == "*desk in"
        assert state["settled"] is (mode == "grab")
    finally:
        desktop.close()


def test_a_screen_of_4k_has_the_same_coordinates() -> None:
    desktop = Desktop(PROGRAM, (3840, 2160))
    try:
        frame, _ = desktop.reset()
        assert frame.shape == (2160, 3840, 3)
        do(desktop, "click", x=150 / 3840 * 1000, y=80 / 2160 * 1000)
        assert do(desktop, "type", text="4K")["active"]["title"] == "*desk 4K"
    finally:
        desktop.close()


def test_an_attached_display_outlives_the_environment() -> None:
    display = Display((640, 480))
    try:
        desktop = Desktop(PROGRAM, display=display.name)
        frame, _ = desktop.reset()
        assert frame.shape == (480, 640, 3)
        desktop.close()
        assert display.is_running
    finally:
        display.close()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Desktop(["no-such-program"], (640, 480)).reset(), "no-such-program' was not found"),
        (lambda: Desktop(["false"], (640, 480)).reset(), "false showed no window: false ended with status 1"),
        (lambda: Desktop([], display=":9876").reset(), "':9876' can't be opened"),
        (lambda: Desktop([], (10, 10)), "200 to 8192 pixels"),
        (lambda: Desktop([], (640, 100_000)), "200 to 8192 pixels"),
    ],
)
def test_what_can_t_start_says_why(make: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        make()


# --- what is remembered


def test_where_it_clicked_and_what_opened_is_answered_by_the_same_queries(desk: Desktop, tmp_path: Path) -> None:
    with Memory.create(tmp_path / "memory") as memory:
        recorded = RecordMemory(desk, memory, task="press")
        recorded.reset(seed=1)
        recorded.step({"click": at(OPEN)})
        recorded.step({"key": {"keys": "Escape"}})
        recorded.step({"click": {"x": 900, "y": 900, "button": "left", "clicks": 1}})
        recorded.reset(seed=1)  # ends the life
        rows = {row.action_kind: row for row in memory.find(Query(life=1)).rows}
        (opening,) = memory.find(Query(through=(470, 120), tag="opened", life=1)).rows
        assert opening.place == "desk"
        assert "opened 'Sure?'" in opening.summary
        assert rows["key"].place == "Sure?"
        assert "closed 'Sure?'" in rows["key"].summary
        (cell,) = [row for row in memory.grid().rows() if row.kind == "opened"]
        assert (cell.cell, cell.extra["what"], cell.extra["window"]) == ((9, 2, 0), "Sure?", "desk")
        hash_then = next(iter(memory.episode(opening).steps())).state["screen"]
        assert opening.id in [row.id for row in memory.find(Query(same_screen=hash_then, life=1)).rows]


@pytest.mark.parametrize(
    ("name", "outcome", "is_claimed"),
    [("click", "success", True), ("click", "failure: no", False), ("mouse_move", "success", False)],
)
def test_a_success_without_a_change_is_called_claimed(
    desk: Desktop, tmp_path: Path, name: str, outcome: str, is_claimed: bool
) -> None:
    raw = {name: {"x": 900, "y": 900}}
    do(desk, "click", **at((900, 900)))
    with Memory.create(tmp_path / "memory") as memory, memory.live("t", desk.world, deriver="desktop") as life:
        with life.episode(name, raw[name], frame=desk.render(), state=do(desk, name, x=900, y=900)) as episode:
            frame, _, _, _, info = desk.step(raw)
            episode.step(raw, frame=frame, state=info["state"])
            row = episode.finish(outcome)
        assert ("claimed_ok_state_unchanged" in row.tags) is is_claimed
        assert "the screen did not change" in row.summary
        blocked = [cell for cell in memory.grid().rows() if cell.kind == "blocked"]
        assert [cell.cell for cell in blocked] == ([(17, 17, 0)] if name == "click" else [])
        assert all(cell.extra["window"] == "desk" for cell in blocked)


def test_a_life_recovers_as_it_was_derived(desk: Desktop, tmp_path: Path) -> None:
    """The family of deriving is named in the life's row; a desktop environment names it."""
    assert desk.deriver == "desktop"
    with Memory.create(tmp_path / "memory") as memory, memory.live("t", desk.world, deriver="desktop") as life:
        frame, info = desk.reset(seed=1)
        with life.episode("click", {"x": 900, "y": 900}, frame=frame, state=info["state"]) as episode:
            frame, _, _, _, info = desk.step({"click": {"x": 900, "y": 900}})
            episode.step({"click": {"x": 900, "y": 900}}, frame=frame, state=info["state"])
            episode.finish("success")
        assert memory.find(Query(life=1)).rows[0].place == "desk"
