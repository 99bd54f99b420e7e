"""A real KiCad: it starts and ends, tasks are solved through the screen alone, and what one taught serves the next."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scrubjay import Memory, Query
from scrubjay.agent.evaluating import evaluations
from scrubjay.agent.loop import Run
from scrubjay.agent.offer import Offer
from scrubjay.agent.toolbox import Toolbox
from scrubjay.environments.kicad.environment import KiCad
from scrubjay.environments.kicad.tasks import OWN_TASKS
from scrubjay.errors import InvalidInput, NotFound
from scrubjay.memory.checking import check as check_folder
from scrubjay.memory.jsonio import Json, dumps
from scrubjay.models.chat import ToolCall
from scrubjay.models.contract import Model, Plan, Turn
from scrubjay.models.scripted.kicad.solver import KiCadSolver
from scrubjay.surfaces.cli import main

pytestmark = pytest.mark.xdist_group("screens")
PUBLIC = Path(os.environ.get("SCRUBJAY_KICAD_TASKS", "../shared/data/kicad_tasks"))
has_public = pytest.mark.skipif(not PUBLIC.is_dir(), reason="the public tasks are not on this machine")
# Public tasks in which symbols are placed and wired.
_DRAWN = ("34877be3", "2c11fe94")
_DRAWN_LONG = ("733d278a", "a6dd38a9", "c4baee36", "ba34f1c3")
needs_kicad = pytest.mark.skipif(shutil.which("eeschema") is None, reason="KiCad is not installed")


@pytest.fixture(scope="module")
def kicad() -> Iterator[KiCad]:
    environment = KiCad("supply")
    yield environment
    environment.close()


class Refused(Exception):
    """A file was opened that the solver may not see."""


_forbidden: list[Path] = []
_is_deciding = False


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if not (_is_deciding and event in ("open", "os.listdir", "os.scandir", "subprocess.Popen", "os.exec")):
        return
    if event.startswith(("subprocess", "os.exec")):
        raise Refused(event)
    path = arguments[0]
    if isinstance(path, (str, bytes, os.PathLike)):
        at = Path(os.fsdecode(path)).absolute()
        if any(at.is_relative_to(folder) for folder in _forbidden):
            raise Refused(str(at))


sys.addaudithook(_watch)


class Blinded:
    """A model to which the folder of the project, and any other program, is out of reach while it decides.

    Every way of Python's to open or list a file raises an audit event, and the solver is Python alone; test_kicad_blind
    has the system refuse it, as another user, where the tests may become one.
    """

    def __init__(self, model: Model, environment: KiCad) -> None:
        self._model, self._environment = model, environment
        self.name = model.name

    def decide(self, turn: Turn) -> Plan:
        """What the model says, or Refused."""
        global _is_deciding
        assert self._environment.home is not None
        _forbidden[:] = [self._environment.home.root]
        _is_deciding = True
        try:
            return self._model.decide(turn)
        finally:
            _is_deciding = False


def solve(environment: KiCad, memory: Memory, task: str) -> Json:
    """The evaluator's last row of one life."""
    told = environment.choose_task(task)
    model = Blinded(KiCadSolver(), environment)
    Run(environment, model, memory, task=told, steps=100, lives=1, method="mfm").run()
    rows = list(evaluations(memory).values())[-1]
    assert rows[-1]["task"] == task
    return {**rows[-1], "noted": rows[:-1]}


def kinds(memory: Memory, life: int) -> list[str | None]:
    return [row.action_kind for row in memory.find(Query(life=life)).rows]


# --- the environment


@needs_kicad
def test_a_task_begins_the_same_every_time_and_its_crash_ends_a_life_alone(kicad: KiCad) -> None:
    kicad.choose_task("supply")
    frame, info = kicad.reset(seed=1)
    assert info["state"]["place"] == "supply — Schematic Editor"
    assert "3.3 V" in info["state"]["task"]
    assert kicad.reset(seed=1, options={"life": 1})[1]["state"]["screen"] == info["state"]["screen"]
    assert kicad.program is not None
    assert kicad.home is not None
    pid, home = kicad.program.pid, kicad.home.root
    os.kill(pid, signal.SIGSEGV)
    *_, terminated, _, crashed = kicad.step(0)
    assert terminated
    assert crashed["ending"] == "eeschema ended by signal 11"
    assert [row["event"] for row in kicad.evaluation()] == ["score"]
    again, info_again = kicad.reset(seed=1)
    assert np.array_equal(again, frame)
    assert info_again["state"]["screen"] == info["state"]["screen"]
    assert not home.exists()
    assert not Path(f"/proc/{pid}").exists()


@needs_kicad
def test_an_editor_that_hangs_in_a_modal_dialog_is_judged_and_the_next_task_starts_clean(kicad: KiCad) -> None:
    kicad.choose_task("supply")
    kicad.reset(seed=1)
    assert kicad.program is not None
    state: Json = kicad.step({"key": {"keys": "a"}})[4]["state"]
    for _ in range(20):
        if str(state["place"]).startswith("Choose Symbol"):
            break
        state = kicad.step({"wait": {"seconds": 1.0}})[4]["state"]
    titles = [window["title"].partition(" (")[0] for window in state["windows"]]
    assert titles == ["supply — Schematic Editor", "Choose Symbol"]
    saved = kicad.step({"key": {"keys": "ctrl+s"}})[4]["state"]
    assert len(saved["windows"]) == 2
    pid = kicad.program.pid
    os.kill(pid, signal.SIGSTOP)
    hung = kicad.step({"type": {"text": "R_US"}})[4]["state"]
    assert hung["changed"] is None
    assert hung["place"].startswith("Choose Symbol")
    *_, terminated, _, info = kicad.step({"done": {}})
    assert (terminated, info["ending"]) == (True, "done")
    (row,) = kicad.evaluation()
    assert (row["event"], row["score"]) == ("score", pytest.approx(2 / 3))
    kicad.choose_task("divider")
    assert kicad.reset(seed=1)[1]["state"]["place"] == "divider — Schematic Editor"
    assert not Path(f"/proc/{pid}").exists()


@needs_kicad
def test_what_the_evaluator_sees_is_in_no_observation(kicad: KiCad) -> None:
    """The project of the task lies in the home; its netlist's words reach neither state nor info."""
    kicad.choose_task("divider")
    _, info = kicad.reset(seed=1)
    assert info["state"]["place"] == "divider — Schematic Editor"
    _, reward, _, _, stepped = kicad.step(0)
    for seen in (info, stepped):
        said = dumps(seen).decode()
        assert "floor" not in said
        assert "score" not in said
        assert str(kicad.home.root if kicad.home else "") not in said
    assert reward == 0.0


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"task": "none"}, NotFound, "there is no task 'none'"),
        ({"tasks": "/no/such/folder"}, NotFound, "no folder of tasks"),
        ({"size": (50, 50)}, InvalidInput, "200 to 8192"),
    ],
)
@needs_kicad
def test_what_can_t_be_is_said_before_anything_starts(given: Json, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        KiCad(**given)


@needs_kicad
def test_a_task_without_a_reference_is_refused_before_it_costs_a_step(tmp_path: Path) -> None:
    (tmp_path / "tasks.json").write_text(json.dumps([{"id": "a", "description": "Draw."}]))
    (tmp_path / "a").mkdir()
    with pytest.raises(NotFound, match="a can't be scored"):
        KiCad("a", str(tmp_path))


def test_without_kicad_the_words_are_clear(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InvalidInput, match="bookworm-backports"):
        KiCad()


# --- the solver


@needs_kicad
def test_a_second_life_of_a_task_takes_fewer_steps(kicad: KiCad, tmp_path: Path) -> None:
    with Memory.create(tmp_path / "memory") as memory:
        first = solve(kicad, memory, "supply")
        assert (first["score"], first["ending"], first["floor"]) == (1.0, "done", pytest.approx(2 / 3))
        assert first["noted"][0]["changes"] == ["net +5V is now called +3V3"]
        assert memory.procedures.get("change-value").status == "candidate"
        second = solve(kicad, memory, "supply")
        assert second["score"] == 1.0
        assert second["step"] < first["step"]
        assert kinds(memory, 2)[1] == "change-value"
        _evaluation_stays_outside(memory)
        assert check_folder(memory.layout).problems == []


def _evaluation_stays_outside(memory: Memory) -> None:
    """The evaluator's words are found by no query and by no tool of a model, and stand in no log."""
    words = "is now called"
    assert memory.layout.evaluation(1).endswith("lives/0001/evaluation.jsonl")
    assert words in Path(memory.layout.evaluation(1)).read_text()
    assert not memory.find(Query(grep=words, life="all")).rows
    box = Toolbox(memory, Offer(), np.zeros((4, 4, 3), np.uint8))
    said = box.call(ToolCall("1", "episodes", {"grep": words, "life": "all"}, "")).parts
    assert said == ("(no matching episodes)",)
    assert words not in Path(memory.layout.log(1)).read_text()


@needs_kicad
def test_what_one_task_taught_serves_others_and_is_gone_where_the_memory_is_emptied(
    kicad: KiCad, tmp_path: Path
) -> None:
    """The rules checker becomes a procedure, called in two other tasks; the export is a precedent, found by cues."""
    folder = tmp_path / "memory"
    with Memory.create(folder) as memory:
        taught = solve(kicad, memory, "export")
        assert taught["score"] == 1.0
        assert "run-rules-checker" in [one.name for one in memory.procedures.list()]
        assert any(row["event"] == "exported" for row in evaluations(memory)[1])
        for life, task, added in ((2, "load", "R3 (R_US, 10k) added"), (3, "lamp", "D1 (LED, LED) added")):
            solved = solve(kicad, memory, task)
            assert solved["score"] == 1.0
            assert added in solved["noted"][-1]["changes"]
            assert kinds(memory, life).count("run-rules-checker") == 1
        followed = solve(kicad, memory, "netlist")
        assert followed["score"] == 1.0
        assert pointing(memory, 4) == ["click", "mouse_move", "click"]
        assert "reported" in memory.documents.read("notes.md")
    _empty(folder)
    with Memory.open(folder) as memory:
        assert not memory.find(Query(life="all")).rows
        alone = solve(kicad, memory, "export")
        assert alone["score"] == 1.0
        assert "run-rules-checker" not in kinds(memory, 5)
        assert pointing(memory, 5).count("mouse_move") > 1  # the entries of the menu are tried once more
        assert len(pointing(memory, 5)) >= len(pointing(memory, 1))


def pointing(memory: Memory, life: int) -> list[str | None]:
    return [one for one in kinds(memory, life) if one in ("click", "mouse_move")]


def _empty(folder: Path) -> None:
    """Takes what the agent wrote, and the index, out of a memory that was lived in; the evidence stays."""
    for one in (folder / "mine").iterdir():
        shutil.rmtree(one) if one.is_dir() else one.unlink()
    (folder / "index.jsonl").write_bytes(b"")
    shutil.rmtree(folder / ".cache", ignore_errors=True)


@needs_kicad
def test_symbols_are_placed_and_wired(kicad: KiCad, tmp_path: Path) -> None:
    with Memory.create(tmp_path / "memory") as memory:
        solved = solve(kicad, memory, "resistor")
        assert (solved["score"], solved["floor"]) == (1.0, 0.0)


@needs_kicad
@has_public
@pytest.mark.parametrize(
    "task", ["55f2eefb", *_DRAWN, *(pytest.param(one, marks=pytest.mark.long) for one in _DRAWN_LONG)]
)
def test_public_tasks_are_solved(task: str, tmp_path: Path) -> None:
    environment = KiCad(task, str(PUBLIC))
    try:
        with Memory.create(tmp_path / "memory") as memory:
            assert solve(environment, memory, task)["score"] == 1.0
    finally:
        environment.close()


def test_the_watch_over_the_solver_sees_a_file_that_is_opened(tmp_path: Path) -> None:
    (tmp_path / "project.kicad_sch").write_text("(kicad_sch)")
    with deciding(tmp_path):
        with pytest.raises(Refused):
            (tmp_path / "project.kicad_sch").read_text()
        with pytest.raises(Refused):
            os.listdir(tmp_path)


@contextmanager
def deciding(folder: Path) -> Iterator[None]:
    global _is_deciding
    _forbidden[:] = [folder]
    _is_deciding = True
    try:
        yield
    finally:
        _is_deciding = False


# --- the command


@needs_kicad
def test_the_command_runs_a_task_and_tells_its_score(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    memory = str(tmp_path / "memory")
    tasks = ["--tasks", str(OWN_TASKS), "--task", "divider"]
    assert main(["run", "kicad", *tasks, "--memory", memory, "--steps", "1"]) == 0
    said = capsys.readouterr().out
    assert "task divider: score 0.667 of 1, doing nothing 0.667" in said
    assert "1 of 1 steps" in said
