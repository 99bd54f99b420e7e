"""Experiments: what a file asks for is done once, whatever happens on the way, and told as it was."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay import Memory, Query
from scrubjay.agent.triggers import When
from scrubjay.errors import Conflict, Damaged, InvalidInput, Locked, NotFound
from scrubjay.experiments.comparing import compare, reference_of
from scrubjay.experiments.plan import experiment_of, read_experiment
from scrubjay.experiments.results import group, read_results
from scrubjay.experiments.running import Done, Running
from scrubjay.experiments.scoring import score
from scrubjay.experiments.tables import milestones_csv, runs_csv
from scrubjay.experiments.trial_run import result_of
from scrubjay.memory.disk import lock_exclusive
from scrubjay.memory.jsonio import Json
from scrubjay.memory.procedures import Run as Call
from scrubjay.surfaces.cli import main
from test_consolidation_loop import Walks, live

SMALL: Json = {
    "name": "small",
    "environment": "corridor:Corridor",
    "methods": ["direct", "mfm"],
    "models": ["corridor:Walker"],
    "seeds": [1, 2],
    "tasks": [{"name": "walk", "text": "Walk.", "steps": 8}],
}


def with_changes(**changes: Any) -> Json:
    return {**SMALL, **changes}


def carried_out(folder: Path, given: Json = SMALL, jobs: int = 1) -> list[Done]:
    told: list[Done] = []
    Running(experiment_of(given), str(folder), jobs, told.append).run()
    return told


def as_toml(given: Json) -> str:
    def line(name: str, value: Any) -> str:
        return f"{name} = {json.dumps(value)}\n"

    tasks = given.get("tasks", [])
    text = "".join(line(name, value) for name, value in given.items() if name != "tasks")
    return text + "".join("[[tasks]]\n" + "".join(line(*both) for both in task.items()) for task in tasks)


# --- the file


def test_a_file_asks_for_every_combination(tmp_path: Path) -> None:
    path = tmp_path / "small.toml"
    path.write_text(as_toml(with_changes(frame=[64, 36], steps=20, tasks=[{"name": "a", "text": "A"}])))
    experiment = read_experiment(path)
    trials = list(experiment.trials())
    assert [(trial.seed, trial.method) for trial in trials] == [(1, "direct"), (1, "mfm"), (2, "direct"), (2, "mfm")]
    assert trials[0].name == "a--corridor-Walker--direct--seed-1"
    assert (trials[0].task.steps, trials[0].frame) == (20, (64, 36))


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"method": ["mfm"]}, "'method' is not known"),
        ({"methods": []}, "methods: a list of names"),
        ({"seeds": [1.5]}, "seeds: whole numbers"),
        ({"seeds": [1, 1]}, "two trials would have the name"),
        ({"frame": [64]}, "frame: width and height"),
        ({"name": "../x"}, "name: a short name"),
        ({"tasks": [{"name": "a", "text": "A", "step": 1}]}, "tasks: 'step' is not known"),
        ({"tasks": [{"name": "a", "text": "A", "steps": 0}]}, "tasks: steps: a count above 0"),
        ({"published": [{"method": "mfm", "measure": "milestones", "value": 3}]}, "published: source"),
    ],
)
def test_a_wrong_file_is_told(changes: Json, told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        experiment_of(with_changes(**changes))


def test_a_file_that_is_not_there_or_no_toml(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        read_experiment(tmp_path / "no.toml")
    (tmp_path / "bad.toml").write_text("name = [")
    with pytest.raises(InvalidInput, match=r"bad\.toml"):
        read_experiment(tmp_path / "bad.toml")


@given(st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=3), st.integers(0, 99))
def test_a_trial_has_a_name_that_is_one_folder(methods: list[str], seed: int) -> None:
    try:
        experiment = experiment_of(with_changes(methods=methods, seeds=[seed]))
    except InvalidInput:
        return
    for trial in experiment.trials():
        assert os.path.basename(trial.name) == trial.name
        assert trial.name not in (".", "..")
        assert "\0" not in trial.name


# --- running


def test_a_trial_leaves_a_memory_and_a_result(tmp_path: Path) -> None:
    done = carried_out(tmp_path / "e")[0]
    folder = tmp_path / "e" / done.trial.name
    result = result_of(str(folder), done.trial)
    assert result is not None
    assert result == json.loads((folder / "run.json").read_text())
    assert [(one["milestone"], one["step"]) for one in result["reached"]] == [("three", 3), ("six", 6)]
    assert (result["steps"], result["turns"], result["episodes"], result["deaths"]) == (8, 8, 9, [])
    assert result["lives"] == [{"life": 1, "outcome": "budget spent", "steps": 8, "episodes": 8}]
    assert result["use"]["steps_per_turn"] == 1
    assert result["storage"]["parts"]["episodes"]["count"] == 9
    assert result["trial"]["method"] == "direct"
    with Memory.open(folder / "memory", read_only=True) as memory:
        assert [(life.method, life.world) for life in memory.lives()] == [("direct", "corridor-1")]


def test_what_is_finished_is_not_done_again(tmp_path: Path) -> None:
    first = carried_out(tmp_path / "e", with_changes(seeds=[1]))
    second = carried_out(tmp_path / "e")
    assert [(done.trial.seed, done.is_old) for done in second] == [(1, True), (1, True), (2, False), (2, False)]
    assert [done.result for done in second[:2]] == [done.result for done in first]


def test_what_was_cut_off_is_put_aside_and_done_from_the_beginning(tmp_path: Path) -> None:
    carried_out(tmp_path / "e")
    folder = tmp_path / "e" / "walk--corridor-Walker--mfm--seed-2"
    (folder / "run.json").unlink()
    for number in (1, 2):
        told = carried_out(tmp_path / "e")
        assert sum(not done.is_old for done in told) == 1
        assert (tmp_path / "e" / f"{folder.name}.cut-{number}" / "memory" / "memory.json").exists()
        (folder / "run.json").unlink()
    carried_out(tmp_path / "e")
    assert len(read_results(str(tmp_path / "e"))) == 4


def test_other_settings_in_the_same_folder_are_refused(tmp_path: Path) -> None:
    carried_out(tmp_path / "e")
    with pytest.raises(Conflict, match="other settings"):
        carried_out(tmp_path / "e", with_changes(tasks=[{"name": "walk", "text": "Walk.", "steps": 9}]))
    result = tmp_path / "e" / "walk--corridor-Walker--mfm--seed-2" / "run.json"
    result.write_text("{")
    with pytest.raises(Damaged, match=r"run\.json"):
        carried_out(tmp_path / "e")


def test_one_process_at_a_time_works_on_a_folder(tmp_path: Path) -> None:
    (tmp_path / "e").mkdir()
    lock = lock_exclusive(str(tmp_path / "e" / ".lock"))
    assert lock is not None
    with pytest.raises(Locked):
        carried_out(tmp_path / "e")
    os.close(lock)


def test_a_trial_that_fails_is_told_and_the_others_go_on(tmp_path: Path) -> None:
    told = carried_out(tmp_path / "e", with_changes(models=["corridor:Always", "corridor:Walker"], seeds=[1]))
    assert [done.error is None for done in told] == [False, False, True, True]
    assert "no entry" in str(told[0].error)
    with pytest.raises(InvalidInput, match="no method"):
        carried_out(tmp_path / "f", with_changes(methods=["mfn"]))
    (wrong,) = carried_out(
        tmp_path / "g",
        with_changes(methods=["mfm"], seeds=[1], tasks=[{"name": "a", "text": "A", "arguments": {"x": 1}}]),
    )
    assert "unexpected keyword argument 'x'" in str(wrong.error)


def test_several_at_once_give_the_same(tmp_path: Path) -> None:
    def told(folder: Path) -> list[Any]:
        names = ("trial", "reached", "deaths", "steps", "turns", "lives")
        return [[result[name] for name in names] for result in read_results(str(folder))]

    assert all(done.result for done in carried_out(tmp_path / "two", jobs=2))
    carried_out(tmp_path / "one")
    assert told(tmp_path / "two") == told(tmp_path / "one")


ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}


def command(tmp_path: Path, *more: str) -> list[str]:
    tasks = [{"name": "short", "text": "Walk.", "steps": 4}, {"name": "long", "text": "Walk.", "steps": 100_000}]
    (tmp_path / "e.toml").write_text(as_toml(with_changes(methods=["mfm"], seeds=[1], tasks=tasks)))
    return [
        sys.executable, "-m", "scrubjay", "experiment", "run", str(tmp_path / "e.toml"),
        "--folder", str(tmp_path / "e"), *more,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("how", "jobs"), [(signal.SIGKILL, 1), (signal.SIGKILL, 2), (signal.SIGINT, 1), (signal.SIGINT, 2)]
)
def test_a_process_that_ends_midway_leaves_what_is_finished(how: signal.Signals, jobs: int, tmp_path: Path) -> None:
    process = subprocess.Popen(
        command(tmp_path, "--jobs", str(jobs)), stdout=subprocess.PIPE, text=True, env=ENVIRONMENT, bufsize=1
    )
    assert process.stdout is not None
    assert "short" in process.stdout.readline()
    long_one = tmp_path / "e" / "long--corridor-Walker--mfm--seed-1"
    while not (long_one / "memory" / "lives" / "0001" / "turns.jsonl").exists():
        time.sleep(0.02)
    process.send_signal(how)
    rest, _ = process.communicate(timeout=30)
    assert process.returncode == (-9 if how == signal.SIGKILL else 130)
    assert how == signal.SIGKILL or "goes on" in rest
    (result,) = read_results(str(tmp_path / "e"))
    assert result["trial"]["task"]["name"] == "short"
    assert not (long_one / "run.json").exists()
    time.sleep(0.5)
    with Memory.open(long_one / "memory") as memory:  # nobody lives in it any more, and it is whole
        assert memory.lives()[-1].ended is not None
        count = memory.find(Query(life="all")).total
        time.sleep(0.2)
        assert memory.find(Query(life="all")).total == count


# --- what it showed


def test_the_report_tells_who_played_and_whose_figures_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    published = [{"method": "mfm", "measure": "milestones", "value": "17.4", "source": "a paper, Table 2"}]
    given = with_changes(models=["corridor:Rules"], published=published)
    (tmp_path / "e.toml").write_text(as_toml({name: value for name, value in given.items() if name != "published"}))
    with open(tmp_path / "e.toml", "a") as file:
        file.write(
            "[[published]]\n" + "".join(f"{name} = {json.dumps(value)}\n" for name, value in published[0].items())
        )
    assert main(["experiment", "run", str(tmp_path / "e.toml"), "--folder", str(tmp_path / "e")]) == 0
    assert "[4/4] walk--corridor-Rules--mfm--seed-2: 2/2 milestones, 0 deaths" in capsys.readouterr().out
    assert main(["experiment", "report", str(tmp_path / "e"), "--experiment", str(tmp_path / "e.toml")]) == 0
    text = (tmp_path / "e" / "report.md").read_text()
    assert text in capsys.readouterr().out
    assert "## walk, scripted" in text
    assert "rules, no language model" in text
    assert "| milestones | 2 ± 0 | 2 ± 0 |" in text
    assert "| three | 3 (2/2) | 3 (2/2) |" in text
    assert "| milestones | direct | 0 | 0 to 0 | 1 | 1 | 0 : 0 of 2 | – | 1 |" in text
    assert "the paper's figure (not ours)" in text
    assert "| mfm | milestones | 17.4 | a paper, Table 2 |" in text
    assert (tmp_path / "e" / "progression-walk-corridor-Rules.png").read_bytes().startswith(b"\x89PNG")


def test_tables_for_other_programs(tmp_path: Path) -> None:
    carried_out(tmp_path / "e")
    results = read_results(str(tmp_path / "e"))
    rows = list(csv.DictReader(io.StringIO(runs_csv(results))))
    assert [(row["method"], row["seed"], row["milestones"]) for row in rows] == [
        ("direct", "1", "2"), ("direct", "2", "2"), ("mfm", "1", "2"), ("mfm", "2", "2"),
    ]  # fmt: skip
    steps = list(csv.DictReader(io.StringIO(milestones_csv(results))))
    assert {(row["milestone"], row["step"]) for row in steps} == {("three", "3"), ("six", "6")}
    assert list(group(results)) == [("walk", "corridor:Walker")]
    with pytest.raises(NotFound):
        read_results(str(tmp_path))


def test_a_stop_in_between_is_no_result(tmp_path: Path) -> None:
    told = carried_out(tmp_path / "e", with_changes(models=["corridor:Interrupting"], seeds=[1]))
    assert [(done.result, done.error) for done in told] == [(None, None)]
    with pytest.raises(NotFound):
        read_results(str(tmp_path / "e"))


def test_what_turns_and_consolidations_used_is_counted(memory: Memory) -> None:
    chat = Walks()
    live(memory, chat, When(every=4))  # six turns of one request, two consolidations of two
    use = score(memory, "corridor:Corridor")["use"]
    assert (use["turns"], use["consolidations"], use["requests"]) == (6, 2, 10)
    assert (use["input_tokens"], use["steps_per_turn"], use["cost"]) == (80, 1, None)


def test_reuse_of_procedures_is_counted(memory: Memory) -> None:
    for name in ("hop", "dig", "rest"):
        memory.procedures.create(name, f"To {name}.", code=f"def {name}() -> None:\n    pass\n")
    for name, outcome, life in (
        ("hop", "success", 1),
        ("hop", "failure", 2),
        ("dig", "success", 1),
        ("dig", "success", 1),
    ):
        memory.procedures.record(Call(name, outcome, life=life))
    assert score(memory, "corridor:Corridor")["skills"] == {
        "written": 3, "called": 4, "succeeded": 3, "reused": 2, "reused_in_later_lives": 1,
    }  # fmt: skip


def test_methods_are_compared_seed_by_seed() -> None:
    def run(milestones: int) -> Json:
        return {
            "reached": [{"milestone": str(n), "step": 1} for n in range(milestones)], "deaths": [],
            "known_milestones": [str(n) for n in range(11)], "scores": {}, "trial": {"task": {"steps": 9}},
        }  # fmt: skip

    methods = {
        "direct": {seed: run(seed) for seed in range(8)},
        "mfm": {seed: run(seed + 3) for seed in range(9)},
        "once": {0: run(1)},
    }
    first, steps, deaths = compare(methods)
    assert (steps.measure, steps.more, steps.fewer) == ("steps to a milestone", 0, 8)
    assert (first.method, first.measure, first.more, first.fewer) == ("direct", "milestones", 8, 0)
    assert (first.medians.statistic, first.medians.n) == (3, 8)
    assert (first.signs.p, first.signs_corrected) == (2 / 256, 6 / 256)
    assert (deaths.measure, deaths.more, deaths.fewer, deaths.signs.p, deaths.signs_corrected) == (
        "deaths",
        0,
        0,
        None,
        1,
    )
    assert reference_of({"a": 1, "b": 2}) == "b"
