"""Figures and tables of real experiments: a language model on a server of this machine, and a player of rules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from model_servers import OPENAI, Answer, openai_reply, serving, set_keys
from scrubjay import Memory
from scrubjay.experiments.axes import _apart
from scrubjay.experiments.figures import draw_figures
from scrubjay.experiments.plan import experiment_of
from scrubjay.experiments.report import report
from scrubjay.experiments.rescoring import score_again
from scrubjay.experiments.results import read_results
from scrubjay.experiments.running import Running
from scrubjay.memory.jsonio import Json
from scrubjay.surfaces.cli import main


def plan(*actions: str) -> Json:
    return {"plan": [{"action": action} for action in actions], "intention": "go on"}


def turns(count: int) -> list[Answer]:
    """So many turns: each looks at the first episode, then goes on, now a step and now two."""
    found = []
    for number in range(count):
        found.append(openai_reply(calls=[("c1", "look", {"references": ["ep_000000"], "reference": "ep_000000"})]))
        found.append(openai_reply(calls=[("c2", "act", plan(*["right"] * (1 + number % 2)))]))
    return [Answer(one) for one in found]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two methods with a language model, five turns each."""
    path = tmp_path_factory.mktemp("figures") / "e"
    with pytest.MonkeyPatch.context() as monkeypatch, serving(*turns(40)) as server:
        set_keys(monkeypatch)
        given: dict[str, Any] = {
            "name": "figures",
            "environment": "corridor:Corridor",
            "methods": ["vista", "mfm-no-consolidation"],
            "models": [OPENAI.choice(server)],
            "seeds": [1, 2],
            "tasks": [{"name": "walk", "text": "Walk.", "steps": 7, "goal": "six"}],
        }
        told: list[str | None] = []
        assert Running(experiment_of(given), str(path), 1, lambda done: told.append(done.error)).run(), told
    return path


def test_every_figure_of_a_language_model_is_drawn(folder: Path, tmp_path: Path) -> None:
    names = draw_figures(read_results(str(folder)), str(tmp_path))
    assert sorted({name.partition("-")[0] for name in names}) == ["lags", "overhead", "progression", "turns"]
    for name in names:
        with Image.open(tmp_path / name) as picture:
            assert picture.width > 600
            assert len(set(picture.convert("L").tobytes())) > 50  # something is drawn


def test_what_a_turn_used_and_looked_at_is_in_the_report(folder: Path) -> None:
    results = read_results(str(folder))
    assert {result["use"]["requests"] for result in results} == {10}
    assert results[0]["use"]["turn_lengths"] == [[1, 3], [2, 2]]
    assert results[0]["inspection"]["lags"] in ([0, 1, 3, 4, 6], [0, 2, 3, 5, 6])
    text = report(results, "T")
    for title in (
        "### Milestones (Tables 2 and 3)",
        "### Cost (Table 9)",
        "### Storage (Table 8)",
        "### What looking back led to (A.4, Figure 16)",
    ):
        assert title in text
    assert "The goal is six." in text
    assert "| reached the goal, % | 100 ± 0 | 100 ± 0 |" in text
    assert "| requests per turn | 2 ± 0 | 2 ± 0 |" in text


def test_what_an_evaluator_gave_stands_beside_what_doing_nothing_gets(folder: Path) -> None:
    results = read_results(str(folder))
    assert "by their evaluator" not in report(results, "T")
    lives = [
        {"life": 1, "task": "lamp", "score": 1.0, "floor": 0.5, "steps": 12},
        {"life": 2, "task": "load", "score": None, "floor": 0.0, "steps": None},
    ]
    given = {"reward": 0.75, "floor": 0.25, "tasks": lives}
    judged = [{**result, "scores": {**result["scores"], **given}} for result in results]
    text = report(judged, "T")
    assert "| lamp | 0.50 | 1.00 (12) | 1.00 (12) |\n| load | 0.00 | – | – |" in text
    assert "### Tasks, by their evaluator" in text
    assert "| reward | 0.75 ± 0 | 0.75 ± 0 |" in text
    assert "| reward of doing nothing | 0.25 ± 0 | 0.25 ± 0 |" in text


def test_a_world_without_milestones_has_no_table_of_them(folder: Path) -> None:
    bare = [{**result, "known_milestones": [], "reached": [], "deaths": []} for result in read_results(str(folder))]
    bare = [
        {**result, "trial": {**result["trial"], "task": {**result["trial"]["task"], "goal": None}}} for result in bare
    ]
    assert "Milestones" not in report(bare, "T")


def test_a_finished_trial_is_scored_again(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = read_results(str(folder))
    assert score_again(str(folder)) == 0
    name = sorted(path.name for path in folder.iterdir() if path.is_dir())[0]
    run = folder / name / "run.json"
    run.write_text(run.read_text().replace('"requests": 10', '"requests": 99'))
    assert main(["experiment", "score", str(folder)]) == 0
    assert f"{name}: use\n" in capsys.readouterr().out
    assert read_results(str(folder)) == before
    with Memory.open(folder / name / "memory", read_only=True) as memory:
        assert memory.lives()


def test_a_folder_without_trials_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["experiment", "score", str(tmp_path / "nothing")]) != 0
    assert "holds no finished trial" in capsys.readouterr().err


def test_ablations_are_told_against_the_whole(tmp_path: Path) -> None:
    given = {
        "name": "ablations",
        "environment": "corridor:Corridor",
        "methods": ["mfm", "mfm-no-frames"],
        "models": ["corridor:Rules"],
        "seeds": [1, 2],
        "tasks": [{"name": "walk", "text": "Walk.", "steps": 8}],
    }
    assert Running(experiment_of(given), str(tmp_path / "e")).run()
    text = report(read_results(str(tmp_path / "e")), "T")
    assert "### Ablations (Table 4)\n\n| measure | mfm-no-frames |" in text
    assert "| milestones | 0 ± 0 |" in text


def test_names_at_the_ends_of_curves_stand_apart() -> None:
    names = [(height, name, "#000000") for height, name in ((1.0, "a"), (0.99, "b"), (0.98, "c =\nd"), (0.0, "e"))]
    heights = {name: height for height, name, _ in _apart(names)}
    assert heights["a"] - heights["b"] >= 0.05
    assert heights["b"] - heights["c =\nd"] >= 0.08
    assert max(heights.values()) <= 1.03
    assert min(heights.values()) >= 0
