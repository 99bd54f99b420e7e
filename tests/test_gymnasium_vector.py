"""Vector environments: a life for each sub-environment at a time, in every autoreset mode."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import DictInfoToList

from scrubjay import Memory
from scrubjay.environments.vector_recording import RecordVectorMemory
from scrubjay.testing import CountingEnvironment, check_memory
from shapes import rows_of, shape_of

WAIT, RIGHT, LEFT = range(3)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.create(tmp_path / "m") as memory:
        yield memory
    check_memory(tmp_path / "m")


def two(mode: AutoresetMode, kind: Any = SyncVectorEnv, **options: Any) -> Any:
    """Two counting environments that end after 2 and after 3 steps."""
    makers = [lambda: CountingEnvironment(length=2), lambda: CountingEnvironment(length=3)]
    return kind(makers, autoreset_mode=mode, **options)


def lives_of(memory: Memory) -> dict[int, list[tuple[str | None, list[int]]]]:
    """Kind and counts of every episode, by life."""
    lives: dict[int, list[tuple[str | None, list[int]]]] = {}
    for life, kind, counts in shape_of(memory):
        lives.setdefault(life, []).append((kind, counts))
    return lives


FIRST_ENDS_TWICE = {
    1: [(None, [0]), ("wait", [0, 1, 2])],
    2: [(None, [0]), ("wait", [0, 1, 2, 3])],
    3: [(None, [0]), ("wait", [0, 1, 2])],
}


@pytest.mark.parametrize("kind", [SyncVectorEnv, AsyncVectorEnv])
@pytest.mark.parametrize(("mode", "steps"), [(AutoresetMode.NEXT_STEP, 5), (AutoresetMode.SAME_STEP, 4)])
def test_lives_end_with_their_terminal_frame(memory: Memory, kind: Any, mode: AutoresetMode, steps: int) -> None:
    venv = RecordVectorMemory(two(mode, kind), memory, task="count")
    venv.reset(seed=1)
    for _ in range(steps):
        venv.step(np.array([WAIT, WAIT]))
    venv.close()
    found = lives_of(memory)
    # Processes don't tell the names of their actions.
    kinds = {life: [(k and "wait", counts) for k, counts in episodes] for life, episodes in found.items()}
    began = {life: kinds[life] for life in (1, 2, 3)}
    assert began == FIRST_ENDS_TWICE
    assert [life.outcome for life in memory.lives()][:3] == ["terminated"] * 3
    last = list(memory.episode(max(r.id for r in rows_of(memory) if r.life == 2)).steps())[-1]
    assert (last.state["count"], last.terminated, last.reward) == (3, True, 3.0)


def test_a_vector_step_returns_what_the_environment_returned(memory: Memory) -> None:
    bare, venv = two(AutoresetMode.SAME_STEP), RecordVectorMemory(two(AutoresetMode.SAME_STEP), memory)
    bare.reset(seed=1), venv.reset(seed=1)
    for _ in range(4):
        a, b = bare.step(np.array([RIGHT, WAIT])), venv.step(np.array([RIGHT, WAIT]))
        assert all(np.array_equal(x, y) for x, y in zip(a[:4], b[:4], strict=True))
        assert a[4].keys() == b[4].keys()
    venv.close()


def test_without_autoreset_only_the_masked_ones_begin_anew(memory: Memory) -> None:
    venv = RecordVectorMemory(two(AutoresetMode.DISABLED), memory)
    with pytest.raises(ResetNeeded, match="never reset"):
        venv.step(np.array([WAIT, WAIT]))
    venv.reset(seed=[4, 9])
    for _ in range(2):
        _, _, terminations, _, _ = venv.step(np.array([WAIT, WAIT]))
    before = lives_of(memory)
    with pytest.raises(ResetNeeded, match=r"sub-environments \[0\] have ended"):
        venv.step(np.array([WAIT, WAIT]))
    assert lives_of(memory) == before
    venv.reset(options={"reset_mask": terminations})
    venv.step(np.array([WAIT, WAIT]))
    venv.close()
    assert lives_of(memory) == {
        1: [(None, [0]), ("wait", [0, 1, 2])],
        2: [(None, [0]), ("wait", [0, 1, 2, 3])],
        3: [(None, [0]), ("wait", [0, 1])],
    }
    assert [row.world for row in rows_of(memory) if row.kind == "initial"] == ["counting-4", "counting-9", "counting-4"]


def test_infos_given_as_a_list_are_read_as_well(memory: Memory) -> None:
    venv = RecordVectorMemory(DictInfoToList(two(AutoresetMode.SAME_STEP)), memory)
    venv.reset(seed=1)
    venv.step(np.array([RIGHT, LEFT]))
    venv.close()
    ends = sorted(row.end for row in rows_of(memory) if row.kind == "episode" and row.end)
    assert ends == [(-1.0, 0.0, 0.0), (1.0, 0.0, 0.0)]


class Rendering(CountingEnvironment):
    """Observes its count; the picture comes from render() alone."""

    def __init__(self, length: int) -> None:
        super().__init__(length)
        self.observation_space = gymnasium.spaces.Discrete(99)  # type: ignore[assignment]
        self.render_mode = "rgb_array"

    def reset(self, **options: Any) -> Any:
        return self._count, super().reset(**options)[1]

    def step(self, action: int) -> Any:
        result = super().step(action)
        return (self._count, *result[1:])


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_frames_that_are_rendered_are_never_those_of_the_next_life(memory: Memory, mode: AutoresetMode) -> None:
    venv = RecordVectorMemory(SyncVectorEnv([lambda: Rendering(2)], autoreset_mode=mode), memory)
    venv.reset(seed=1)
    for _ in range(3):
        venv.step(np.array([WAIT]))
    venv.close()
    steps = list(memory.episode("ep_000001").steps())
    assert [step.state["count"] for step in steps] == [0, 1, 2]
    if mode is AutoresetMode.SAME_STEP:
        assert steps[-1].missing == "reset in the same step, before its last frame could be rendered"
        assert next(memory.episode("ep_000002").steps()).state["count"] == 0
    else:
        assert steps[-1].frames[""] is not None


def test_an_environment_of_gymnasium_made_as_a_vector(memory: Memory) -> None:
    venv = RecordVectorMemory(gymnasium.make_vec("CartPole-v1", num_envs=3, vectorization_mode="sync"), memory)
    venv.reset(seed=7)
    for _ in range(12):
        venv.step(np.ones(3, np.int64))
    venv.close()
    rows = rows_of(memory)
    assert {row.world for row in rows if row.life <= 3} == {f"CartPole-v1-seed-{n}" for n in (7, 8, 9)}
    assert len(memory.lives()) == 6
    assert sum(row.outcome == "terminated" for row in rows) == 3


def test_the_vector_environment_that_cartpole_brings_itself(memory: Memory) -> None:
    venv = RecordVectorMemory(
        gymnasium.make_vec("CartPole-v1", num_envs=2, vectorization_mode="vector_entry_point"), memory
    )
    venv.reset(seed=7)
    for _ in range(12):
        venv.step(np.ones(2, np.int64))
    venv.close()
    assert len(memory.lives()) == 4
    assert [life.outcome for life in memory.lives()] == ["terminated", "terminated", "ended", "ended"]
