"""A desktop of cua-bench is an environment, and a scrubjay agent lives in it as their agents do.

The session here is a real screen with a program; where their package is installed (Python 3.12), the agent is run as
they run theirs.
"""

from __future__ import annotations

import asyncio
import importlib.util
import io
import os
import sys
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PIL import Image

from scrubjay import Memory, Query
from scrubjay.environments.desktop.actions import BUTTONS
from scrubjay.environments.desktop.environment import Desktop
from scrubjay.errors import InvalidInput
from scrubjay.models.contract import Entry, Plan, Turn
from scrubjay.surfaces.cua_bench.session import SessionDesktop

pytestmark = pytest.mark.xdist_group("screens")
PROGRAM = [sys.executable, str(Path(__file__).with_name("desk_program.py"))]
HAS_THEIRS = importlib.util.find_spec("cua_bench") is not None and sys.version_info >= (3, 12)


@dataclass
class Click:
    x: int
    y: int


class RightClick(Click): ...


class DoubleClick(Click): ...


class MiddleClick(Click): ...


class MoveTo(Click): ...


@dataclass
class Drag:
    from_x: int
    from_y: int
    to_x: int
    to_y: int


@dataclass
class Scroll:
    direction: str
    amount: int


@dataclass
class Text:
    text: str


@dataclass
class Key:
    key: str


@dataclass
class Hotkey:
    keys: list[str]


@dataclass
class Wait:
    seconds: float


KINDS = SimpleNamespace(
    ClickAction=Click, RightClickAction=RightClick, DoubleClickAction=DoubleClick, MiddleClickAction=MiddleClick,
    MoveToAction=MoveTo, DragAction=Drag, ScrollAction=Scroll, TypeAction=Text, KeyAction=Key, HotkeyAction=Hotkey,
    WaitAction=Wait,
)  # fmt: skip


@dataclass
class Session:
    """What their sessions are asked for, on a screen of ours."""

    desk: Desktop
    got: list[Any] = field(default_factory=list)

    async def screenshot(self) -> bytes:
        self.desk.look()
        data = io.BytesIO()
        Image.fromarray(self.desk.render()).save(data, "PNG")
        return data.getvalue()

    async def execute_action(self, action: Any) -> None:
        self.got.append(action)
        name = type(action).__name__.removesuffix("Action")
        if name in ("Click", "DoubleClick", "RightClick"):
            button = "right" if name == "RightClick" else "left"
            self.desk.press(click={**self._at(action), "button": button, "clicks": 1 + (name == "DoubleClick")})
        elif name in ("Text", "Type"):
            self.desk.press(type={"text": action.text})
        elif name in ("Hotkey", "Key"):
            self.desk.press(key={"keys": "+".join(action.keys) if name == "Hotkey" else action.key})
        elif name == "Scroll":
            raise RuntimeError("no wheel")

    def _at(self, action: Any) -> dict[str, float]:
        height, width = self.desk.render().shape[:2]
        return {"x": action.x / (width - 1) * 1000, "y": action.y / (height - 1) * 1000}


@pytest.fixture
def session() -> Iterator[Session]:
    desk = Desktop(PROGRAM, (800, 600))
    desk.reset()
    yield Session(desk)
    desk.close()


def in_loop(
    session: Session, use: Callable[[SessionDesktop], None], kinds: Any = KINDS, patience: float = 60.0
) -> None:
    async def run() -> None:
        desktop = SessionDesktop(session, asyncio.get_running_loop(), kinds, "press", patience)
        await asyncio.to_thread(use, desktop)

    asyncio.run(run())


def test_what_is_done_reaches_the_session_and_what_it_shows_comes_back(session: Session) -> None:
    def use(desktop: SessionDesktop) -> None:
        frame, info = desktop.reset()
        assert frame.shape == (600, 800, 3)
        assert info["state"]["task"] == "press"
        desktop.step({"click": {"x": 150, "y": 120}})
        seen = desktop.step({"type": {"text": "9V"}})
        assert (seen[0] != frame).any()
        desktop.step({"key": {"keys": "ctrl+s"}})
        desktop.step({"click": {"x": 300, "y": 400, "clicks": 3}})
        assert "no wheel" in desktop.step({"scroll": {"x": 1, "y": 2, "direction": "up"}})[4]["state"]["problem"]
        assert "can't keep" in desktop.step({"key_down": {"keys": "a"}})[4]["state"]["problem"]
        sideways = {"scroll": {"x": 1, "y": 2, "direction": "left"}}
        assert "up and down alone" in desktop.step(sideways)[4]["state"]["problem"]
        right = {"drag": {"from_x": 1, "from_y": 2, "to_x": 3, "to_y": 4, "button": "right"}}
        assert "left button alone" in desktop.step(right)[4]["state"]["problem"]
        *_, terminated, _, info = desktop.step(1)
        assert (terminated, info["ending"]) == (True, "done")

    in_loop(session, use)
    assert session.desk.need_screen().windows()[0].title == "desk 9V"
    assert session.got[0] == Click(120, 72)
    assert [type(one) for one in session.got[3:5]] == [DoubleClick, Click]


def test_a_session_that_gives_no_picture_any_more_is_told(session: Session) -> None:
    async def nothing() -> bytes:
        raise OSError("gone")

    def use(desktop: SessionDesktop) -> None:
        before, _ = desktop.reset()
        session.screenshot = nothing  # type: ignore[method-assign]
        frame, *_, info = desktop.step({"mouse_move": {"x": 1, "y": 1}})
        assert (frame == before).all()
        assert "gone" in info["state"]["problem"]

    in_loop(session, use)


def test_what_a_slow_program_shows_after_a_moment_is_seen(session: Session) -> None:
    """The first picture after an action may be that of before."""
    pictures = [picture(shade) for shade in (0, 0, 0, 200, 200)]

    async def next_picture() -> bytes:
        return pictures.pop(0)

    def use(desktop: SessionDesktop) -> None:
        desktop.reset()
        session.screenshot = next_picture  # type: ignore[method-assign]
        frame, *_, info = desktop.step({"mouse_move": {"x": 1, "y": 1}})
        assert info["state"]["settled"]
        assert (frame == 0).all()
        frame, *_, info = desktop.step({"mouse_move": {"x": 1, "y": 1}})
        assert info["state"]["settled"]
        assert (frame == 200).all()

    in_loop(session, use)


def picture(shade: int) -> bytes:
    data = io.BytesIO()
    Image.new("RGB", (8, 8), (shade, shade, shade)).save(data, "PNG")
    return data.getvalue()


def test_an_action_that_takes_too_long_is_not_done_later(session: Session) -> None:
    ended: list[str] = []

    async def still() -> bytes:
        return picture(0)

    async def endless(action: Any) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    def use(desktop: SessionDesktop) -> None:
        session.screenshot, session.execute_action = still, endless  # type: ignore[method-assign]
        desktop.reset()
        info = desktop.step({"mouse_move": {"x": 1, "y": 1}})[4]
        assert "did not answer within 5 s" in info["state"]["problem"]
        assert ended == ["cancelled"]

    in_loop(session, use, patience=5.0)


def test_a_session_that_is_taken_away_ends_the_life_and_what_waits_for_it(session: Session) -> None:
    async def run() -> None:
        waits = asyncio.Event()

        async def endless(action: Any) -> None:
            waits.set()
            await asyncio.Event().wait()

        desktop = SessionDesktop(session, asyncio.get_running_loop(), KINDS, "press")
        await asyncio.to_thread(desktop.reset)
        session.execute_action = endless  # type: ignore[method-assign]
        step = asyncio.create_task(asyncio.to_thread(desktop.step, {"mouse_move": {"x": 1, "y": 1}}))
        await waits.wait()
        desktop.give_up()
        frame, _, terminated, _, info = await step
        assert frame.shape == (600, 800, 3)
        assert (terminated, info["ending"]) == (True, "the session was taken away")

    asyncio.run(run())


@pytest.mark.skipif(HAS_THEIRS, reason="cua-bench is installed")
def test_without_their_package_the_words_are_clear(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUA_TELEMETRY", "1")
    with pytest.raises(InvalidInput, match=r"pip install 'scrubjay\[cua-bench\]'"):
        importlib.import_module("scrubjay.surfaces.cua_bench.agent")
    assert os.environ["CUA_TELEMETRY"] == "0"


class Typist:
    """Clicks the field, types, saves, stops."""

    name = "typist"

    def decide(self, turn: Turn) -> Plan:
        """One entry a turn."""
        entries = (
            Entry("click", arguments={"x": 150, "y": 120}),
            Entry("type_text", arguments={"text": "5V"}),
            Entry("key", arguments={"keys": "ctrl+s"}),
            Entry("done"),
        )
        return Plan((entries[turn.turn - 1],))


@pytest.mark.skipif(not HAS_THEIRS, reason="cua-bench is not installed: it needs Python 3.12")
def test_each_action_is_one_of_theirs(session: Session) -> None:
    theirs = importlib.import_module("cua_bench.types")
    at = {"x": 250, "y": 500}
    raws: list[Any] = [
        *({"click": {**at, "button": button, "clicks": clicks}} for button in BUTTONS for clicks in (1, 2, 3)),
        {"mouse_move": at},
        {"drag": {"from_x": 0, "from_y": 0, "to_x": 1000, "to_y": 1000}},
        {"scroll": {**at, "direction": "down", "amount": 1}},
        {"type": {"text": "9V"}},
        {"key": {"keys": "Escape"}},
        {"key": {"keys": "ctrl+s"}},
        {"wait": {"seconds": 0.0}},
    ]

    async def take(action: Any) -> None:
        session.got.append(action)

    def use(desktop: SessionDesktop) -> None:
        desktop.reset()
        session.execute_action = take  # type: ignore[method-assign]
        for raw in raws:
            assert "problem" not in desktop.step(raw)[4]["state"]

    in_loop(session, use, theirs)
    kinds = typing.get_args(theirs.Action)
    assert kinds
    assert all(isinstance(one, kinds) for one in session.got)
    assert len(session.got) > len(raws)


@pytest.mark.skipif(not HAS_THEIRS, reason="cua-bench is not installed: it needs Python 3.12")
@pytest.mark.parametrize(("most", "mode"), [(4, "none"), (3, "max_steps_exceeded")])
def test_a_task_that_is_done_with_its_last_step_is_done(session: Session, tmp_path: Path, most: int, mode: str) -> None:
    module = importlib.import_module("scrubjay.surfaces.cua_bench.agent")
    agent = module.ScrubjayAgent(model="test_cua_bench:Typist", max_steps=most)
    result = asyncio.run(agent.perform_task("Type 5V and save.", session, logging_dir=tmp_path))
    assert result.failure_mode.value == mode


@pytest.mark.skipif(not HAS_THEIRS, reason="cua-bench is not installed: it needs Python 3.12")
def test_a_task_that_is_cancelled_presses_nothing_any_more(session: Session, tmp_path: Path) -> None:
    module = importlib.import_module("scrubjay.surfaces.cua_bench.agent")

    async def run() -> None:
        waits = asyncio.Event()

        async def endless(action: Any) -> None:
            session.got.append(action)
            waits.set()
            await asyncio.Event().wait()

        session.execute_action = endless  # type: ignore[method-assign]
        agent = module.ScrubjayAgent(model="test_cua_bench:Typist", max_steps=20)
        task = asyncio.create_task(agent.perform_task("Type 5V and save.", session, logging_dir=tmp_path))
        await waits.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())  # waits for the thread as well
    assert len(session.got) == 1
    with Memory.open(tmp_path / "memory", read_only=True) as memory:
        assert memory.lives()[0].outcome == "the session was taken away"


@pytest.mark.skipif(not HAS_THEIRS, reason="cua-bench is not installed: it needs Python 3.12")
def test_their_runner_runs_our_agent(session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CI", "DO_NOT_TRACK", "CUA_TELEMETRY_ENABLED"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CUA_TELEMETRY", "1")
    telemetry = importlib.import_module("cua_bench.telemetry")
    assert telemetry.is_telemetry_enabled()
    monkeypatch.delitem(sys.modules, "scrubjay.surfaces.cua_bench.agent", raising=False)
    module = importlib.import_module("scrubjay.surfaces.cua_bench.agent")
    base = importlib.import_module("cua_bench.agents")
    agent_class = base.load_agent_from_path("scrubjay.surfaces.cua_bench.agent:ScrubjayAgent")
    assert agent_class is module.ScrubjayAgent
    assert not telemetry.is_telemetry_enabled()
    agent = agent_class(model="test_cua_bench:Typist", max_steps=20)
    result = asyncio.run(agent.perform_task("Type 5V and save.", session, logging_dir=tmp_path))
    assert result.failure_mode.value == "none"
    assert session.desk.need_screen().windows()[0].title == "desk 5V"
    with Memory.open(tmp_path / "memory", read_only=True) as memory:
        kinds = [row.action_kind for row in memory.find(Query()).rows]
        assert kinds == [None, "click", "type_text", "key", "done"]
        assert memory.lives()[0].outcome == "done"
