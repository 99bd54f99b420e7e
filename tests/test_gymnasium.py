"""Any Gymnasium environment is recorded by a wrapper: which steps become which episodes of which lives."""

from __future__ import annotations

import enum
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded

from scrubjay import Memory, World
from scrubjay.environments.crafter import Crafter
from scrubjay.environments.raw_actions import RawAction, action_names, raw_action
from scrubjay.environments.recording import RecordMemory
from scrubjay.errors import StorageFull
from scrubjay.testing import CountingEnvironment, check_memory
from shapes import rows_of, shape_of

WAIT, RIGHT, LEFT, JUMP = range(4)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.create(tmp_path / "m") as memory:
        yield memory
    check_memory(tmp_path / "m")


def test_a_repeated_action_is_one_episode_and_another_begins_the_next(memory: Memory) -> None:
    env = RecordMemory(CountingEnvironment(), memory, task="count")
    env.reset(seed=5)
    for action in (RIGHT, RIGHT, RIGHT, WAIT, LEFT, LEFT):
        env.step(action)
    env.close()
    assert shape_of(memory) == [
        (1, None, [0]),
        (1, "right", [0, 1, 2, 3]),
        (1, "wait", [3, 4]),
        (1, "left", [4, 5, 6]),
    ]
    first, right, *_ = rows_of(memory)
    assert (first.kind, first.tags, first.world) == ("initial", ("initial",), "counting-5")
    assert right.summary == "[ACTION] {\"right\":1} x3: moved 3.0, milestone ['three']"
    assert memory.lives()[0].task == "count"
    assert memory.lives()[0].outcome == "ended"


def test_what_the_environment_gives_reaches_the_caller_unchanged(memory: Memory) -> None:
    bare, env = CountingEnvironment(length=3), RecordMemory(CountingEnvironment(length=3), memory)
    pairs: list[Any] = [(bare.reset(seed=1), env.reset(seed=1)), *((bare.step(1), env.step(1)) for _ in range(3))]
    for a, b in pairs:
        assert np.array_equal(a[0], b[0])
        assert a[1:] == b[1:]
    env.close()


def test_the_terminal_observation_is_the_last_one_and_a_reset_begins_a_new_life(memory: Memory) -> None:
    env = RecordMemory(CountingEnvironment(length=3), memory)
    for _ in range(2):
        env.reset()
        for _ in range(3):
            env.step(WAIT)
    env.close()
    assert shape_of(memory) == [
        (1, None, [0]),
        (1, "wait", [0, 1, 2, 3]),
        (2, None, [0]),
        (2, "wait", [0, 1, 2, 3]),
    ]
    last = list(memory.episode("ep_000001").steps())[-1]
    assert (last.terminated, last.reward, last.state["life"]) == (True, 3.0, 1)
    assert memory.episode("ep_000001").row.outcome == "terminated"
    assert [life.outcome for life in memory.lives()] == ["terminated", "terminated"]


def test_a_truncated_life_says_so(memory: Memory) -> None:
    env = RecordMemory(gymnasium.wrappers.TimeLimit(CountingEnvironment(), 2), memory)
    env.reset()
    env.step(WAIT)
    env.step(WAIT)
    env.close()
    assert memory.lives()[0].outcome == "truncated"
    assert [step.truncated for step in memory.episode("ep_000001").steps()] == [False, False, True]


def test_a_step_after_the_end_is_an_error_and_records_nothing(memory: Memory) -> None:
    env = RecordMemory(CountingEnvironment(length=1), memory)
    with pytest.raises(ResetNeeded, match="call reset"):
        env.step(WAIT)
    env.reset()
    env.step(WAIT)
    before = shape_of(memory)
    with pytest.raises(ResetNeeded):
        env.step(WAIT)
    assert shape_of(memory) == before
    env.close()


@pytest.mark.parametrize("inside", [True, False])
def test_an_autoreset_wrapper_inside_or_outside_gives_the_same_lives(memory: Memory, inside: bool) -> None:
    env: gymnasium.Env[Any, Any] = CountingEnvironment(length=2)
    if inside:
        env = RecordMemory(gymnasium.wrappers.Autoreset(env), memory)
    else:
        env = gymnasium.wrappers.Autoreset(RecordMemory(env, memory))
    env.reset()
    for _ in range(5):
        env.step(WAIT)
    env.close()
    assert shape_of(memory) == [
        (1, None, [0]),
        (1, "wait", [0, 1, 2]),
        (2, None, [0]),
        (2, "wait", [0, 1, 2]),
    ]


def test_a_reset_in_the_middle_ends_the_life_without_an_end_of_the_environment(memory: Memory) -> None:
    env = RecordMemory(CountingEnvironment(), memory)
    env.reset()
    env.step(WAIT)
    env.reset()
    env.close()
    assert [life.outcome for life in memory.lives()] == ["reset", "ended"]
    assert shape_of(memory) == [(1, None, [0]), (1, "wait", [0, 1]), (2, None, [0])]
    assert memory.episode("ep_000001").row.outcome is None


def test_a_jump_of_the_position_closes_the_episode(memory: Memory) -> None:
    class Teleporting(CountingEnvironment):
        def step(self, action: int) -> Any:
            return super().step(JUMP if self._count == 6 else action)

    env = RecordMemory(Teleporting(length=99), memory)
    env.reset()
    for _ in range(9):
        env.step(RIGHT)
    env.close()
    assert shape_of(memory)[1:] == [(1, "right", [0, 1, 2, 3, 4, 5, 6, 7]), (1, "right", [7, 8, 9])]
    assert memory.episode("ep_000001").row.events == ("position jumped 100.0",)


def test_fast_and_steady_is_no_jump(memory: Memory) -> None:
    env = RecordMemory(CountingEnvironment(length=99), memory)
    env.reset()
    for _ in range(9):
        env.step(JUMP)
    env.close()
    assert len(shape_of(memory)) == 2


def test_four_hundred_steps_are_the_longest_episode(memory: Memory) -> None:
    env = RecordMemory(CountingEnvironment(length=999, size=(16, 16)), memory)
    env.reset()
    for _ in range(450):
        env.step(WAIT)
    env.close()
    assert [(row.first_step, row.last_step) for row in rows_of(memory)] == [(0, 0), (0, 400), (400, 450)]


def test_an_environment_that_writes_every_frame_into_one_buffer(memory: Memory) -> None:
    env = RecordMemory(CountingEnvironment(reuse=True), memory)
    env.reset()
    for _ in range(6):
        env.step(WAIT)
    env.close()
    assert shape_of(memory)[1][2] == [0, 1, 2, 3, 4, 5, 6]


def test_an_environment_that_raises_leaves_an_interrupted_episode_and_may_go_on(memory: Memory) -> None:
    class Faulty(CountingEnvironment):
        def step(self, action: int) -> Any:
            if action == JUMP:
                raise KeyboardInterrupt
            return super().step(action)

    env = RecordMemory(Faulty(), memory)
    env.reset()
    env.step(WAIT)
    with pytest.raises(KeyboardInterrupt):
        env.step(JUMP)
    env.step(WAIT)
    env.close()
    assert shape_of(memory)[1:] == [(1, "wait", [0, 1]), (1, "wait", [1, 2])]
    assert memory.episode("ep_000001").row.outcome == "interrupted"
    assert memory.episode("ep_000001").row.events == ("the environment raised KeyboardInterrupt",)


def test_a_world_given_goes_before_the_environments_own(memory: Memory) -> None:
    env = RecordMemory(CountingEnvironment(), memory, world=World("here", cell=2.0))
    env.reset(seed=1)
    env.close()
    assert rows_of(memory)[0].world == "here"
    assert memory.worlds()["here"].cell == 2.0


def test_cartpole_without_a_screen(memory: Memory) -> None:
    env = RecordMemory(gymnasium.make("CartPole-v1"), memory)
    env.reset(seed=7)
    ended = False
    while not ended:
        observation, _, terminated, truncated, _ = env.step(1)
        ended = terminated or truncated
    env.close()
    _, row = rows_of(memory)
    assert (row.world, row.action_kind, row.outcome) == ("CartPole-v1-seed-7", "action_1", "terminated")
    assert row.summary == f"[ACTION] 1 x{row.last_step}: outcome terminated"
    last = list(memory.episode(row).steps())[-1]
    assert np.allclose(last.state["observation"], observation)
    assert last.missing == "the observation is no image and the environment does not render rgb_array"


def test_taxi_whose_observation_is_a_number(memory: Memory) -> None:
    env = RecordMemory(gymnasium.make("Taxi-v4"), memory)
    observation, _ = env.reset(seed=7)
    env.step(0)
    env.close()
    state = memory.episode("ep_000001").record["start"]["state"]
    assert state["observation"] == observation
    assert state["prob"] == 1.0


class Parts(gymnasium.Env[Any, Any]):
    """A dictionary of observations, with two pictures, and actions of several keys."""

    observation_space = gymnasium.spaces.Dict(
        {
            "front": gymnasium.spaces.Box(0, 255, (20, 30, 3), np.uint8),
            "depth map": gymnasium.spaces.Box(0, 255, (20, 30), np.uint8),
            "pos": gymnasium.spaces.Box(-9, 9, (3,), np.float32),
            "stack": gymnasium.spaces.Box(0, 1, (4, 64, 64), np.float32),
        }
    )
    action_space = gymnasium.spaces.Dict({"attack": gymnasium.spaces.Discrete(2), "jump": gymnasium.spaces.Discrete(2)})

    def _seen(self) -> Any:
        return {
            "front": np.full((20, 30, 3), 7, np.uint8),
            "depth map": np.full((20, 30), 9, np.uint8),
            "pos": np.array([1.5, -2.0, np.nan], np.float32),
            "stack": np.zeros((4, 64, 64), np.float32),
        }

    def reset(self, **_: Any) -> Any:
        return self._seen(), {"note": "hello", "engine": object()}

    def step(self, action: Any) -> Any:
        return self._seen(), np.float32(0.5), np.bool_(False), np.bool_(False), {"score": np.int64(3)}


def test_observations_and_actions_with_several_parts(memory: Memory) -> None:
    env = RecordMemory(Parts(), memory)
    env.reset()
    env.step({"attack": np.int64(1), "jump": np.int64(0)})
    env.close()
    episode = memory.episode("ep_000001")
    assert (episode.row.action_kind, episode.row.summary) == ("attack", '[ACTION] {"attack":1,"jump":0} x1: done')
    first, last = episode.steps()
    assert set(first.frames) == {"front", "depth_map"}
    assert (episode.frame(1, "depth_map").array() == 9).all()
    assert first.state == {"note": "hello", "pos": [1.5, -2.0, None], "stack": {"left_out": "float32 (4, 64, 64)"}}
    assert last.state["score"] == 3
    assert last.reward == 0.5


class Rendered(CountingEnvironment):
    """Observes its count, and renders the picture."""

    observation_space = gymnasium.spaces.Discrete(99)  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__()
        self.observation_space = gymnasium.spaces.Discrete(99)
        self.render_mode = "rgb_array"

    def reset(self, **options: Any) -> Any:
        return self._count, super().reset(**options)[1]

    def step(self, action: int) -> Any:
        return (self._count, *super().step(action)[1:])


def test_a_frame_is_rendered_where_the_observation_is_none(memory: Memory) -> None:
    env = RecordMemory(Rendered(), memory)
    env.reset()
    env.step(WAIT)
    env.step(WAIT)
    env.close()
    assert shape_of(memory)[1] == (1, "wait", [0, 1, 2])


def test_a_grey_observation_is_kept_as_a_picture(memory: Memory) -> None:
    class Grey(CountingEnvironment):
        def _picture(self) -> Any:
            return super()._picture()[:, :, 0]

    env = RecordMemory(Grey(), memory)
    observation, _ = env.reset()
    env.close()
    stored = memory.episode("ep_000000").start_frame().array()
    assert (stored == observation[:, :, None]).all()


class Moves(enum.IntEnum):
    turn = 0
    go = 1


def test_what_raw_actions_are_called() -> None:
    assert action_names(Moves, 2) == ("turn", "go")
    assert action_names(["NOOP", "FIRE"], 2) == ("NOOP", "FIRE")
    assert action_names(["NOOP", "FIRE"], 3) == action_names(None, 2) == ()
    assert raw_action(np.int64(1), ("turn", "go")) == RawAction("go", {"go": 1})
    assert raw_action(np.int64(7)) == RawAction("action_7", 7)
    assert raw_action({"attack": 1, "camera": [0.0, 1.5], "jump": 0}).kind == "attack+camera"
    assert raw_action({"jump": 0}).kind == "none"
    assert raw_action(np.array([0.25, -1.0], np.float32)) == RawAction("action", [0.25, -1.0])


def test_crafter_is_recorded_with_its_names_world_and_milestones(memory: Memory) -> None:
    env = RecordMemory(Crafter(size=(64, 36)), memory)
    env.reset(seed=7)
    walk = [env.unwrapped.actions.index(name) for name in ("move_right", "move_right", "move_up", "noop")]  # type: ignore[attr-defined]
    for action in walk:
        frame, _, _, _, info = env.step(action)
    env.close()
    rows = rows_of(memory)
    assert [row.action_kind for row in rows] == [None, "move_right", "move_up", "noop"]
    assert {row.world for row in rows} == {"crafter-7"}
    assert "place_table" in memory.lives()[0].extra["milestones"]
    last = list(memory.episode(rows[-1]).steps())[-1]
    assert last.state == info["state"]
    assert np.array_equal(memory.episode(rows[-1]).end_frame().array(), frame)


def test_a_full_disk_is_told_and_no_step_is_lost(memory: Memory) -> None:
    env = RecordMemory(CountingEnvironment(), memory)
    env.reset()
    env.step(WAIT)
    steps = os.path.join(memory.layout.episode("ep_000001"), "steps.jsonl")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (os.path.getsize(steps) + 10, limits[1]))
    try:
        with pytest.raises(StorageFull):
            env.step(WAIT)
        with pytest.raises(StorageFull):
            env.step(WAIT)  # refused before the environment moves
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    env.step(WAIT)
    env.close()
    assert shape_of(memory)[1] == (1, "wait", [0, 1, 2, 3])


UNCLOSED = """
import sys
from scrubjay import Memory
from scrubjay.environments.crafter import Crafter
from scrubjay.environments.raw_actions import RawAction, action_names, raw_action
from scrubjay.environments.recording import RecordMemory
from scrubjay.testing import CountingEnvironment
env = RecordMemory(CountingEnvironment(), Memory.create(sys.argv[1]))
env.reset()
for _ in range(4):
    env.step(1)
"""


def test_a_program_that_never_closes_its_environment_loses_nothing(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-W", "error", "-c", UNCLOSED, str(tmp_path / "m")], check=True)
    with Memory.open(tmp_path / "m", read_only=True) as memory:
        assert memory.lives()[0].outcome == "ended"
        assert shape_of(memory) == [(1, None, [0]), (1, "right", [0, 1, 2, 3, 4])]
