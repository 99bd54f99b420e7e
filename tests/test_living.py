"""A run put together from names: what a method has besides acting turns, and coding agents in experiments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agents import agent
from corridor import Corridor
from scrubjay import Memory, Query
from scrubjay.errors import InvalidInput
from scrubjay.experiments.plan import Task, Trial, experiment_of
from scrubjay.experiments.running import Done, Running
from scrubjay.memory import journal
from scrubjay.methods.living import Setting, living
from scrubjay.methods.named import make_method

FLEE = "def main(now):\n    if now['pos'][0] == 2:\n        return {'stop': True}\n"
WORKS = """
if "Consolidate now" in prompt:
    claim = {"document": "notes.md", "operation": "add", "claim": "Right", "cites": ["ep_000001"]}
    pathlib.Path("mine/updates.json").write_text(json.dumps({"items": [{"update": claim}]}))
elif "workshop turn" in prompt:
    pathlib.Path("mine/GUIDE.md").write_text("Go on (hypothesis).")
else:
    act([{"action": "left", "repeat": 3}])
"""


@pytest.mark.parametrize(("name", "is_watched"), [("mfm", True), ("direct", False), ("mfm-no-procedures", False)])
def test_reflexes_are_asked_where_the_method_has_procedures(tmp_path: Path, name: str, is_watched: bool) -> None:
    with Memory.create(tmp_path / "m") as memory:
        memory.procedures.create("flee", "Flees.", code=FLEE, kind="reflex")
        setting = Setting("corridor:Corridor", "corridor:Walker", steps=4)
        with living(setting, Corridor(), make_method(name), memory) as ready:
            ready.run.run()
        said = [event for row in memory.find(Query(life=1)).rows for event in row.events if "flee" in event]
        assert bool(said) is is_watched


def test_later_lives_have_a_workshop_and_the_run_says_who_played(tmp_path: Path) -> None:
    with Memory.create(tmp_path / "m") as memory:
        setting = Setting("corridor:Corridor", "corridor:Rules", steps=2)
        with living(setting, Corridor(), make_method("mfm"), memory):
            pass  # a run that was put together and not begun leaves nothing
        assert memory.lives() == []
        for name in ("mfm", "mfm", "direct"):
            with living(setting, Corridor(), make_method(name), memory) as ready:
                ready.run.run()
        kinds = [[row.get("kind") for row in journal.rows(memory.layout.turns(life))] for life in (1, 2, 3)]
        assert kinds == [[None, None], ["consolidation", "workshop", None, None], [None, None]]
        assert [life.method for life in memory.lives()] == ["mfm", "mfm", "direct"]


def test_a_coding_agent_takes_part_in_an_experiment(tmp_path: Path) -> None:
    command = agent(tmp_path, WORKS)
    told: list[Done] = []
    experiment = experiment_of(
        {
            "name": "agents", "environment": "corridor:Corridor", "methods": ["mfm"], "models": [f"driver:{command}"],
            "seeds": [1], "tasks": [{"name": "walk", "text": "Walk.", "steps": 4}],
        }
    )  # fmt: skip
    assert Running(experiment, str(tmp_path / "e"), 1, told.append).run()
    (done,) = told
    assert done.result is not None
    assert done.result["model"]["is_scripted"] is False
    assert done.result["model"]["name"].startswith("driver:python")
    assert done.result["deaths"] == [3]
    use = done.result["use"]
    assert (use["workshops"], use["consolidations"] >= 1) == (1, True)
    with Memory.open(tmp_path / "e" / done.trial.name / "memory", read_only=True) as memory:
        assert memory.documents.read("GUIDE.md") == "Go on (hypothesis)."
        assert "- Right [ep_000001]" in memory.documents.read("notes.md")


def test_a_command_sees_the_whole_memory_and_so_has_one_method(tmp_path: Path) -> None:
    with Memory.create(tmp_path / "m") as memory:
        for model, method, says in (
            ("driver:python3", "direct", "whole memory"),
            ("driver:no-such-command", "mfm", "not a command"),
            ("driver:", "mfm", "not a command"),
        ):
            ready = living(Setting("corridor:Corridor", model), Corridor(), make_method(method), memory)
            with pytest.raises(InvalidInput, match=says), ready:
                pass


def test_names_of_trials_are_names_of_folders_however_long_the_command() -> None:
    def name(model: str) -> str:
        return Trial("crafter", Task("walk", "Walk."), model, "mfm", 1).name

    long = "driver:claude -p --output-format json --append-system-prompt " + "please " * 90
    assert len(name(long)) < 120
    assert name(long) != name(long + "once more")
    assert name("scripted") == "walk--scripted--mfm--seed-1"


def test_what_a_run_holds_is_let_go_when_it_fails(tmp_path: Path) -> None:
    class Broken(Corridor):
        def step(self, action: int) -> Any:
            raise OSError("the game is gone")

    with Memory.create(tmp_path / "m") as memory:
        memory.procedures.create("flee", "Flees.", code=FLEE, kind="reflex")
        setting = Setting("corridor:Corridor", "corridor:Walker", steps=4)
        with pytest.raises(OSError, match="gone"), living(setting, Broken(), make_method("mfm"), memory) as ready:
            ready.run.run()
        assert memory.lives()[0].outcome == "interrupted"
