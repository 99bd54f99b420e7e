"""`scrubjay procedures`: listed, shown, taken out of use and back, with the record of calls."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from corridor import Corridor
from scrubjay import Memory
from scrubjay.memory import journal
from scrubjay.memory.checking import check
from scrubjay.memory.jsonio import Json
from scrubjay.memory.procedures import Procedures, Run
from scrubjay.surfaces.cli import main
from skills import CODE


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A memory with an episode, a procedure called three times, a text, and a reflex."""
    where = str(tmp_path / "memory")
    with Memory.create(where) as memory:
        with memory.live(task="dig") as life, life.episode("wait", state={"pos": [0, 0, 0]}) as episode:
            episode.step({}, state={"pos": [0, 0, 0]})
        procedures = Procedures(memory.layout, memory.documents)
        procedures.create("cut-step", "Cut a step.", code=CODE, text="Face the wall.\n", cites=["ep_000000"])
        procedures.create("cross-water", "How to cross water.", text="Place dirt ahead.\n")
        procedures.create("flee", "Flee when hurt.", code="def main(now):\n    pass\n", kind="reflex")
        digest = procedures.get("cut-step").digest
        for outcome in ("success", "failure", "failure"):
            error = None if outcome == "success" else "Traceback\nRuntimeError: stuck"
            procedures.record(
                Run("cut-step", outcome, arguments={"heading": 90.0}, episodes=("ep_000000",), error=error,
                    digest=digest, steps=3, life=1, step=7, time="2026-11-30T12:00:00.000+00:00")
            )  # fmt: skip
    return where


def test_list_shows_each_with_its_record(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["procedures", path, "list"]) == 0
    assert capsys.readouterr().out == (
        "cross-water  [candidate]  How to cross water.  (never called)\n"
        "cut_step(heading: float, n: int = 2)  [candidate]  Cut a step.  (called 3, succeeded 1, the last 2 failed)\n"
        "main(now)  [reflex, candidate]  Flee when hurt.  (never called)\n"
    )
    assert main(["procedures", path, "list", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["name"] for row in rows] == ["cross-water", "cut-step", "flee"]
    assert (rows[1]["called"], rows[1]["failures_in_a_row"], rows[1]["error"][-5:]) == (3, 2, "stuck")


def test_show_prints_text_and_code(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["procedures", path, "show", "Cut Step"]) == 0
    out = capsys.readouterr().out
    assert (
        "cites [ep_000000]\n\nFace the wall.\n\n--- mine/procedures/cut-step/scripts/cut-step.py\ndef cut_step(" in out
    )
    assert main(["procedures", path, "show", "flee", "--reflex", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["source"].startswith("def main")
    assert main(["procedures", path, "show", "swim"]) == 1
    assert "there is no procedure swim; there are: cross-water, cut-step" in capsys.readouterr().err


def test_disable_needs_evidence_and_enable_takes_it_back(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["procedures", path, "disable", "cut-step", "it fails"]) == 1
    assert "Name an episode that shows it: [ep_000043]" in capsys.readouterr().err
    assert main(["procedures", path, "disable", "cut_step", "fails on ice [ep_000000]", "--author", "person"]) == 0
    assert capsys.readouterr().out == "cut-step is disabled: fails on ice [ep_000000]\n"
    main(["procedures", path, "list"])
    assert "[disabled]" in (out := capsys.readouterr().out)
    assert "\n  disabled: fails on ice [ep_000000]\n" in out
    assert main(["procedures", path, "enable", "cut-step"]) == 0
    assert capsys.readouterr().out == "cut-step is active\n"
    assert main(["check", path]) == 0


def test_runs_lists_calls_and_says_when_there_are_more(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["procedures", path, "runs", "cut_step", "--limit", "1"]) == 0
    shown = capsys.readouterr()
    assert shown.out == (
        "2026-11-30T12:00:00  life 1 step 7  cut-step(heading=90.0)  failure  3 steps  ep_000000  RuntimeError: stuck\n"
    )
    assert "earlier calls" in shown.err
    assert main(["procedures", path, "runs", "--json"]) == 0
    assert [json.loads(line)["outcome"] for line in capsys.readouterr().out.splitlines()] == [
        "success",
        "failure",
        "failure",
    ]
    assert main(["procedures", path, "runs", "cross-water"]) == 0
    assert capsys.readouterr().err == "(no calls)\n"


def test_a_flaw_is_told_and_hides_nothing(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    folder = Path(path, "mine/procedures/Cut_Step")
    folder.mkdir()
    (folder / "SKILL.md").write_text("---\nname: Cut_Step\ndescription: Again.\n---\n")
    assert main(["procedures", path, "list"]) == 0
    shown = capsys.readouterr()
    assert "Cut a step.  (called 3" in shown.out
    assert "mine/procedures/Cut_Step: is called cut-step, as mine/procedures/cut-step is" in shown.err


WALK = "def go_east(n: int = 2) -> int:\n    for i in range(n):\n        act('right')\n    return n\n"


def test_run_is_a_life_of_one_call(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = str(tmp_path / "m")
    with Memory.create(where) as memory:
        memory.procedures.create("go-east", "Goes east.", code=WALK)
    command = ["procedures", where, "run", "go_east", "n=3", "--env", "corridor:Corridor", "--seed", "4"]
    assert main([*command, "--json"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert (row["procedure"], row["outcome"], row["steps"], row["arguments"]) == ("go-east", "success", 3, {"n": 3})
    assert row["returned"] == 3
    assert main(command) == 0
    out = capsys.readouterr().out
    assert "go-east(n=3)  success  3 steps  ep_000003" in out
    assert "returned 3\n" in out
    with Memory.open(where, read_only=True) as memory:
        lives = memory.lives()
        assert [(life.world, life.model, life.outcome) for life in lives] == [("corridor-4", "person", "ended")] * 2
        assert row["episodes"] == ["ep_000001"]
        assert [step.after for step in memory.episode("ep_000001").steps()] == [None, "right", "right", "right"]
        (turn,) = journal.rows(memory.layout.turns(1))
        assert (turn["entries"], turn["milestones"]) == ([["go-east", 1, {"n": 3}]], ["three"])
        assert check(memory.layout).is_sound


def test_run_tells_failures_and_refuses_before_a_life(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = str(tmp_path / "m")
    with Memory.create(where) as memory:
        memory.procedures.create("go-east", "Goes east.", code=WALK)
        memory.procedures.create("stumble", "Falls.", code="def main() -> None:\n    act('right')\n    1 // 0\n")
    command = ["procedures", where, "run"]
    corridor = ["--env", "corridor:Corridor"]
    assert main([*command, "stumble", *corridor]) == 1
    told = capsys.readouterr()
    assert "stumble()  failure  1 steps" in told.out
    assert "ZeroDivisionError" in told.err
    assert main([*command, "go-east", "n=9", "--steps", "4", *corridor]) == 1
    assert "budget  4 steps" in capsys.readouterr().out
    for words, says in (
        (["go-east", "n=far"], "go-east"),
        (["go-west"], "there is no procedure go-west"),
        (["go-east", "--env", "chess"], "crafter"),
    ):
        assert main([*command, *words, *([] if "--env" in words else corridor)]) == 1
        assert says in capsys.readouterr().err
    for words in (["go-east"], ["go-east", "n", *corridor], ["go-east", "--seed", "-1", *corridor]):
        assert main([*command, *words]) == 2
    with Memory.open(where, read_only=True) as memory:
        assert len(memory.lives()) == 2


class Pressed(Corridor):
    """A corridor in whose second step somebody presses Ctrl-C."""

    def step(self, action: int) -> tuple[Any, float, bool, bool, Json]:
        seen = super().step(action)
        if seen[-1]["state"]["pos"][0] == 2:
            signal.raise_signal(signal.SIGINT)
        return seen


def test_run_that_is_stopped_ends_as_every_stopped_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = str(tmp_path / "m")
    with Memory.create(where) as memory:
        memory.procedures.create("go-east", "Goes east.", code=WALK)
    words = ["procedures", where, "run", "go-east", "n=9", "--env", "test_procedures_cli:Pressed"]
    assert main(words) == 130
    assert "stopped  2 steps" in capsys.readouterr().out
    with Memory.open(where, read_only=True) as memory:
        assert [life.outcome for life in memory.lives()] == ["interrupted"]
        assert check(memory.layout).is_sound
