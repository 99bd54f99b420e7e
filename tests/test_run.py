"""Living: plans become episodes, lives follow each other, and Ctrl-C loses nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from corridor import Always, Corridor
from scrubjay import Memory, Query
from scrubjay.agent.loop import Run
from scrubjay.agent.progress import Progress
from scrubjay.agent.stopping import Stop
from scrubjay.errors import InvalidInput
from scrubjay.memory import journal
from scrubjay.memory.checking import check
from scrubjay.models.contract import Entry, Plan, Turn
from scrubjay.models.named import make_model
from scrubjay.surfaces.cli import main
from test_skills import Corridors


def lived(path: Path, model: Always, steps: int, **options: Any) -> tuple[Progress, Memory, Corridor]:
    environment = Corridor()
    memory = Memory.open(path) if (path / "memory.json").exists() else Memory.create(path)
    progress = Run(environment, model, memory, task="walk", method="mfm", steps=steps, **options).run()
    return progress, memory, environment


def test_an_entry_is_an_episode_and_a_milestone_calls_for_another_look(tmp_path: Path) -> None:
    progress, memory, _ = lived(tmp_path / "m", Always(("right", 2), ("right", 5), ("wait", 3)), steps=12)
    rows = memory.find(Query(life=1)).rows
    told = [(row.kind, row.action_kind, row.first_step, row.last_step, row.outcome) for row in rows]
    assert told == [
        ("initial", None, 0, 0, None),
        ("episode", "right", 0, 2, None),
        ("episode", "right", 2, 3, "stopped"),  # the third cell is a milestone, and the rest is out of date
        ("episode", "right", 3, 5, None),
        ("episode", "right", 5, 6, "stopped"),
        ("episode", "right", 6, 8, None),
        ("episode", "right", 8, 12, "stopped"),  # the steps are spent
    ]
    assert "milestone" in rows[2].tags
    assert "milestone three" in rows[2].events
    assert [(one.milestone, one.step, one.episode) for one in progress.reached] == [
        ("three", 3, rows[2].id),
        ("six", 6, rows[4].id),
    ]
    assert (progress.step, progress.turns, progress.episodes, progress.deaths) == (12, 3, 7, ())
    assert memory.lives()[0].outcome == "budget spent"


def test_every_step_is_recorded_with_what_it_led_to(tmp_path: Path) -> None:
    _, memory, _ = lived(tmp_path / "m", Always(("right", 2)), steps=4)
    steps = list(memory.episode("ep_000002").steps())
    assert [(step.step, step.after, step.action, step.state["pos"][0]) for step in steps] == [
        (2, None, "right", 2), (3, "right", None, 3),
    ]  # fmt: skip
    assert steps[1].reward == 0.5
    assert memory.episode("ep_000002").end_frame().array()[0, 0, 0] == 3


def test_lost_health_calls_for_another_look_and_death_begins_the_next_life(tmp_path: Path) -> None:
    model = Always(("left", 9))
    progress, memory, environment = lived(tmp_path / "m", model, steps=7, seed=4)
    assert progress.deaths == (3, 6)
    assert [(life.life, life.world, life.outcome) for life in memory.lives()] == [
        (1, "corridor-4", "died"), (2, "corridor-4", "died"), (3, "corridor-4", "budget spent"),
    ]  # fmt: skip
    assert environment.resets[1:] == [{"seed": 4, "life": life} for life in (1, 2, 3)]
    outcomes = [row.outcome for row in memory.find(Query(life=1)).rows]
    assert outcomes == [None, "stopped", "died"]
    assert memory.find(Query(life=1)).rows[-1].tags == ("damage", "died")


def test_lives_are_counted_and_capped_and_a_later_run_goes_on(tmp_path: Path) -> None:
    progress, memory, _ = lived(tmp_path / "m", Always(("left", 9)), steps=100, lives=2)
    assert (len(progress.deaths), progress.step) == (2, 6)
    memory.close()
    _, memory, environment = lived(tmp_path / "m", Always(("left", 9)), steps=100, lives=1)
    assert [life.life for life in memory.lives()] == [1, 2, 3]
    assert environment.resets[-1] == {"seed": 0, "life": 3}
    memory.close()
    assert check(memory.layout).is_sound


def test_a_life_that_is_cut_by_the_environment_is_no_death(tmp_path: Path) -> None:
    progress, memory, _ = lived(tmp_path / "m", Always(("wait", 30)), steps=60)
    assert progress.deaths == ()
    assert [life.outcome for life in memory.lives()] == ["truncated", "budget spent"]


def test_a_turn_shows_the_observation_the_last_episodes_and_the_memory(tmp_path: Path) -> None:
    model = Always(("right", 1), ("right", 1))
    _, memory, _ = lived(tmp_path / "m", model, steps=4)
    first, second = model.turns[:2]
    assert (first.task, first.turn, first.step, first.steps_left, first.life) == ("walk", 1, 0, 4, 1)
    assert [row.kind for row in first.recent] == ["initial"]
    assert (second.turn, second.step, second.steps_left) == (2, 2, 2)
    assert [row.id for row in second.recent] == ["ep_000001", "ep_000002"]
    assert second.state["pos"] == [2, 0, 0]
    assert second.frame[0, 0, 0] == 2
    assert second.recall is memory


def test_every_turn_is_a_row(tmp_path: Path) -> None:
    _, memory, _ = lived(tmp_path / "m", Always(("right", 3), ("wait", 1)), steps=5)
    rows = list(journal.rows(memory.layout.turns(1)))
    assert rows[0] == {
        "turn": 1, "first_step": 0, "last_step": 3, "episodes": ["ep_000001"], "milestones": ["three"],
        "entries": [["right", 3], ["wait", 1]], "intention": "as always",
    }  # fmt: skip
    assert rows[1]["episodes"] == ["ep_000002"]


def test_a_plan_with_an_unknown_action_is_refused_and_the_life_kept(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="fly"):
        lived(tmp_path / "m", Always(("right", 1), ("fly", 1)), steps=5)
    with Memory.open(tmp_path / "m") as memory:
        assert memory.lives()[0].outcome == "interrupted"
        assert len(memory.find(Query(life=1)).rows) == 2


def test_a_plan_without_entries_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no entry"):
        lived(tmp_path / "m", Always(), steps=5)


def test_ctrl_c_ends_the_open_episode_as_interrupted(tmp_path: Path) -> None:
    class Interrupting(Corridor):
        def step(self, action: int) -> tuple[Any, float, bool, bool, Any]:
            if self._x == 1:
                signal.raise_signal(signal.SIGINT)
            return super().step(action)

    memory = Memory.create(tmp_path / "m")
    progress = Run(Interrupting(), Always(("right", 9)), memory, steps=50).run()
    assert progress.is_stopped
    assert progress.step == 2
    assert memory.lives()[0].outcome == "interrupted"
    assert memory.find(Query(life=1)).rows[-1].outcome == "interrupted"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_ctrl_c_interrupts_at_once() -> None:
    with Stop() as stop:
        signal.raise_signal(signal.SIGINT)
        assert stop.asked
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_the_command_lives_and_says_what_to_try_next(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "m")
    assert main(["run", "corridor:Corridor", "--model", "corridor:Walker", "--memory", path, "--steps", "8"]) == 0
    shown = capsys.readouterr().out
    assert "8 steps" in shown
    assert "2 of 2 milestones" in shown
    assert "three" in shown
    for command in ("episodes", "--sheet", "scrubjay map"):
        assert command in shown
    assert main(["run", "corridor:Corridor", "--model", "corridor:Walker", "--memory", path, "--steps", "2"]) == 0
    shown = capsys.readouterr().out
    assert "life 2" in shown
    assert "0 of 2 milestones, 2 with the earlier lives of this world" in shown
    assert "not reached" not in shown


def test_wrong_names_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "chess", "--memory", str(tmp_path / "m")]) == 1
    assert "crafter" in capsys.readouterr().err
    assert not (tmp_path / "m").exists()
    with pytest.raises(InvalidInput):
        make_model("scripted", "chess")


def test_sigint_to_a_real_process_leaves_a_memory_that_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "m"
    command = [sys.executable, "-m", "scrubjay", "run", "corridor:Corridor", "--model", "corridor:Walker"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    process = subprocess.Popen(
        [*command, "--memory", str(path), "--steps", "1000000"], stdout=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdout is not None
    while "three" not in process.stdout.readline():
        pass
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "goes on with a new life" in rest
    with Memory.open(path) as memory:
        assert memory.lives()[-1].outcome == "interrupted"
        assert check(memory.layout).is_sound
        count = len(memory.lives())
    again = subprocess.run([*command, "--memory", str(path), "--steps", "3"], env=environment, check=False)
    assert again.returncode == 0
    with Memory.open(path, read_only=True) as memory:
        assert len(memory.lives()) == count + 1


def test_a_seed_that_is_none_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for seed in ("-1", "x"):
        assert main(["run", "crafter", "--memory", str(tmp_path / "m"), "--seed", seed]) == 2
        assert "--seed" in capsys.readouterr().err
    assert not (tmp_path / "m").exists()


AT_ONCE = """
import pathlib, sys, time
sys.path.insert(0, sys.argv[3])
from corridor import Corridor, Walker
from scrubjay import Memory
from scrubjay.agent.loop import Run
memory, environment = Memory.open(sys.argv[1]), Corridor()
print("ready", flush=True)
sys.stdin.readline()
Run(environment, Walker(), memory, steps=300, lives=6).run()  # a life has fifty steps
print([reset["life"] for reset in environment.resets if "life" in reset])
"""


def test_of_lives_that_begin_at_once_in_one_world_no_two_are_the_same(tmp_path: Path) -> None:
    Memory.create(tmp_path / "m").close()
    command = [sys.executable, "-c", AT_ONCE, str(tmp_path / "m"), "-", str(Path(__file__).parent)]
    running = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    for process in running:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    said = [process.communicate("go\n", timeout=60)[0] for process in running]
    numbers = [number for text in said for number in eval(text)]
    assert sorted(numbers) == list(range(1, 13))
    with Memory.open(tmp_path / "m") as memory:
        assert len(memory.lives()) == 12
        assert check(memory.layout).is_sound


def test_arguments_of_entries_stand_in_the_row_of_their_turn(memory: Memory) -> None:
    class Calling(Always):
        def decide(self, turn: Turn) -> Plan:
            return Plan((Entry("walk", arguments={"x": 1}), Entry("right")), "there")

    Run(Corridors(), Calling(), memory, steps=2).run()
    (row,) = journal.rows(memory.layout.turns(1))
    assert row["entries"] == [["walk", 1, {"x": 1}], ["right", 1]]


def test_a_plan_takes_at_most_four_hundred_steps(memory: Memory) -> None:
    class Long(Corridor):
        def step(self, action: int) -> tuple[Any, float, bool, bool, Any]:
            frame, reward, terminated, _, info = super().step(action)
            return frame, reward, terminated, False, info

    Run(Long(), Always(("wait", 250), ("wait", 250), ("wait", 1)), memory, steps=450).run()
    first, second = journal.rows(memory.layout.turns(1))
    assert (first["last_step"], len(first["episodes"])) == (400, 2)
    assert second["last_step"] == 450
