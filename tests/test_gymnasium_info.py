"""What an environment says beside its observation and JSON can't hold: it is named, and the rest is recorded."""

from __future__ import annotations

from typing import Any

import gymnasium
import pytest

from scrubjay import Memory, Query
from scrubjay.environments.recording import RecordMemory
from scrubjay.testing import check_memory


class Player:
    """An object of an environment's own."""


class WithObjects(gymnasium.Env[Any, Any]):
    """Says more than JSON can hold, in its state or beside it."""

    observation_space = gymnasium.spaces.Discrete(9)
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, inside: bool) -> None:
        self._inside, self._x = inside, 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        return self._x, self._info()

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self._x += 1
        return self._x, 0.0, False, False, self._info()

    def _info(self) -> dict[str, Any]:
        itself: dict[str, Any] = {}
        itself["again"] = itself
        said = {
            "player": Player(), "ways": {1, 2}, "by_tile": {(0, 1): "grass"}, "raw": b"x", "list": [Player(), 3],
            "itself": itself, "pos": [self._x, 0, 0], "health": 9,
        }  # fmt: skip
        return {"state": said} if self._inside else said


@pytest.mark.parametrize("inside", [True, False])
def test_objects_are_named_and_the_rest_is_recorded(memory: Memory, inside: bool) -> None:
    env = RecordMemory(WithObjects(inside), memory)
    env.reset(seed=1)
    env.step(0)
    env.step(0)
    env.close()
    rows = memory.find(Query(life=1)).rows
    assert [row.kind for row in rows] == ["initial", "episode"]
    *_, last = memory.episode(rows[-1].id).steps()
    assert (last.state["pos"], last.state["health"]) == ([2, 0, 0], 9)
    if inside:
        assert last.state["player"] == {"left_out": "Player"}
        assert last.state["list"] == [{"left_out": "Player"}, 3]
        assert last.state["by_tile"] == {"(tuple)": "grass"}
        assert last.state["ways"] == {"left_out": "set"}
    else:
        kinds = {"player": "Player", "ways": "set", "by_tile": "dict", "raw": "bytes", "list": "list", "itself": "dict"}
        assert last.info == {name: {"left_out": kind} for name, kind in kinds.items()}
    check_memory(memory.root)
