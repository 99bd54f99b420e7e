"""Tasks in which memory must matter, and their controls, played by the scripted player."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay import Memory
from scrubjay.agent.loop import Run
from scrubjay.environments.crafter import Crafter
from scrubjay.environments.crafter.layouts import LAYOUTS, Cell
from scrubjay.environments.tasks import TASKS, named_task
from scrubjay.errors import InvalidInput
from scrubjay.experiments.plan import experiment_of, read_experiment
from scrubjay.methods.named import make_method
from scrubjay.models.named import make_model
from scrubjay.surfaces.cli import main


def goal_step(path: Path, task: str, method: str, seed: int = 0, steps: int | None = None) -> int | None:
    """The step of the run at which a method's player reached the goal."""
    chosen, how = named_task(task), make_method(method)
    with Memory.create(path / f"{task}-{method}") as memory:
        progress = Run(
            Crafter(size=(64, 64), **chosen.arguments),
            make_model("scripted", chosen.environment),
            memory,
            task=chosen.text,
            method=method,
            seed=seed,
            steps=steps or chosen.steps,
            lives=chosen.lives,
            recall=how.recall,
        ).run()
    return next((one.step for one in progress.reached if one.milestone == chosen.goal), None)


def walkable_from(tiles: dict[Cell, str], start: Cell) -> set[Cell]:
    inside, waiting = {start}, [start]
    while waiting:
        x, z = waiting.pop()
        for cell in ((x + 1, z), (x - 1, z), (x, z + 1), (x, z - 1)):
            if cell not in inside and tiles.get(cell) == "sand":
                inside.add(cell)
                waiting.append(cell)
    return inside


@pytest.mark.parametrize("name", LAYOUTS)
@given(seed=st.integers(0, 10_000), life=st.integers(1, 3))
def test_every_layout_can_be_walked_and_lies_inside_the_world(name: str, seed: int, life: int) -> None:
    layout = LAYOUTS[name](seed, life)
    assert layout == LAYOUTS[name](seed, life)
    assert all(0 <= x < 64 and 0 <= z < 64 for x, z in layout.tiles)
    assert layout.tiles[layout.start] == "sand"
    inside = walkable_from(layout.tiles, layout.start)
    beside = {(x + i, z + j) for x, z in inside for i, j in ((1, 0), (-1, 0), (0, 1), (0, -1))}
    assert all(cell in inside or cell in beside for cell in layout.tiles)
    if name.startswith("blocked-way"):
        assert "diamond" in [layout.tiles.get((layout.start[0] + n, layout.start[1])) for n in range(-4, 5)]
    if layout.ores:
        assert [sum(ore.is_good for ore in layout.ores.values() if ore.room == room) for room in (1, 2)] == [1, 1]


@pytest.mark.parametrize("name", TASKS)
def test_a_task_asks_for_what_there_is(name: str) -> None:
    task = named_task(name)
    environment = Crafter(size=(64, 64), **task.arguments)
    assert task.goal in environment.milestones
    assert name.removesuffix("-control") in TASKS
    _, info = environment.reset(seed=3)
    assert environment.world.world == f"crafter-{name}-3"
    assert info["milestones"] == []
    again = Crafter(size=(64, 64), **task.arguments)
    _, same = again.reset(seed=3)
    assert info == same
    actions = np.random.default_rng(0).integers(0, len(environment.actions), 30)
    assert [environment.step(a)[4] for a in actions] == [again.step(a)[4] for a in actions]


def test_in_a_layout_nothing_happens_by_itself() -> None:
    environment = Crafter(size=(64, 64), layout="blocked-way")
    _, info = environment.reset(seed=0)
    for _ in range(120):
        _, _, _, _, info = environment.step(0)
    assert {info["state"][name] for name in ("health", "food", "drink", "energy")} == {9}
    assert info["state"]["daylight"] == 1
    assert {word for row in info["state"]["view"] for word in row.split()} <= {"player", "sand", "water", "diamond"}


def test_what_the_state_does_not_tell_apart_the_picture_does() -> None:
    pictures, states = [], []
    for seed in range(6):
        environment = Crafter(size=(64, 64), layout="look-alikes")
        environment.reset(seed=seed)
        for action in ("move_right",) * 3 + ("move_up",):
            frame, _, _, _, info = environment.step(environment.actions.index(action))
        pictures.append(frame.tobytes())
        states.append(info["state"])
    assert all(state == states[0] for state in states)
    assert 2 <= len(set(pictures)) <= 3


def test_a_wrong_layout_is_told() -> None:
    with pytest.raises(InvalidInput, match="'maze' is not known; there are far-resource"):
        Crafter(layout="maze")
    with pytest.raises(InvalidInput, match="'maze' is no task; there are far-resource"):
        experiment_of({"name": "a", "environment": "crafter", "methods": ["mfm"], "seeds": [0], "tasks": ["maze"]})


def test_an_experiment_names_tasks() -> None:
    given = {"name": "a", "environment": "vizdoom", "methods": ["mfm"], "seeds": [0], "steps": 7}
    experiment = experiment_of({**given, "tasks": ["second-life", {"name": "own", "text": "Walk."}]})
    named, own = experiment.trials()
    assert (named.environment, named.task.lives, named.task.steps) == ("crafter", 2, 400)
    assert named.task.goal == "collect_diamond"
    assert (own.environment, own.task.steps, own.task.goal) == ("vizdoom", 7, None)


@pytest.mark.parametrize(
    "file", sorted((Path(__file__).parent.parent / "experiments").glob("*.toml")), ids=lambda file: file.stem
)
def test_experiments_that_ship_can_be_read(file: Path) -> None:
    experiment = read_experiment(file)
    assert experiment.name == file.stem
    assert all(make_method(method).traits.name == method for method in experiment.methods)


def test_the_command_plays_a_task_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--memory", str(tmp_path / "m"), "--task", "blocked-way-control", "--seed", "1"]
    assert main(["run", "crafter", *arguments, "--steps", "12", "--set", "size=[64,64]"]) == 0
    assert "collect_diamond" in capsys.readouterr().out
    with Memory.open(tmp_path / "m", read_only=True) as memory:
        assert memory.lives()[0].world == "crafter-blocked-way-control-1"
        assert memory.lives()[0].task == named_task("blocked-way-control").text
    assert main(["run", "vizdoom", *arguments]) != 0
    assert "is of crafter, not of vizdoom" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("task", "without"),
    [("far-resource", "direct"), ("blocked-way", "direct"), ("second-life", "vista"), ("look-alikes", "mfm-no-frames")],
)
def test_memory_matters(task: str, without: str, tmp_path: Path) -> None:
    """Seed 1 of each: the player reaches the goal with the memory, and by then has not without this part of it."""
    step = goal_step(tmp_path, task, "mfm", seed=1)
    assert step is not None
    assert goal_step(tmp_path, task, without, seed=1, steps=step) is None


@pytest.mark.parametrize("task", [name for name in TASKS if name.endswith("-control")])
def test_in_a_control_it_does_not(task: str, tmp_path: Path) -> None:
    step = goal_step(tmp_path, task, "mfm", seed=1)
    assert step is not None
    assert goal_step(tmp_path, task, "direct", seed=1) is not None
