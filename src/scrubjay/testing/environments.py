"""The conformance suite for an Environment: Gymnasium's contract, and the few facts more that a memory needs."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from scrubjay.errors import InvalidInput
from scrubjay.memory.jsonio import Json, dumps
from scrubjay.memory.records import World, is_number

if TYPE_CHECKING:
    from scrubjay.environments.contract import Environment

__all__ = ["check_environment"]


def check_environment(environment: Environment, *, steps: int = 60, seed: int = 7) -> None:
    """Asserts that an environment keeps the contract of `scrubjay.environments.contract`.

    Lives twice with the same seed and the same random actions, with extra renders the second time, and wants the
    same states. The environment is left as it is then; it is not closed.
    """
    _check_names(environment)
    first = _live(environment, seed, steps, renders=False)
    second = _live(environment, seed, steps, renders=True)
    for n, (a, b) in enumerate(zip(first, second, strict=False)):
        assert a == b, (
            f"step {n}: the same seed and actions gave another state the second time, or a render changed it: "
            f"{_difference(a, b)}; draw all chance from the seed of reset(), and render from a copy"
        )
    assert len(first) == len(second), f"the same seed and actions gave lives of {len(first)} and {len(second)} steps"


def _check_names(environment: Environment) -> None:
    assert isinstance(environment.world, World), f"world: a World was expected, found {environment.world!r}"
    for what in ("actions", "milestones"):
        names = getattr(environment, what)
        assert isinstance(names, tuple), f"{what}: a tuple of names was expected, found {type(names).__name__}"
        assert all(isinstance(name, str) and name for name in names), f"{what}: every name is a text, found {names!r}"
        assert len(set(names)) == len(names), f"{what}: a name stands twice in {names!r}"
    assert environment.actions, "actions: at least one was expected"
    count = getattr(getattr(environment, "action_space", None), "n", None)
    assert count in (None, len(environment.actions)), (
        f"action_space has {count} actions, `actions` names {len(environment.actions)}"
    )


def _live(environment: Environment, seed: int, steps: int, renders: bool) -> list[Json]:
    chance = random.Random(seed)
    frame, info = _pair(environment.reset(seed=seed, options={"life": 1}))
    reached: list[str] = []
    seen = [_check_observation(environment, "reset", frame, info, reached)]
    for n in range(steps):
        if renders:
            shown = environment.render()
            assert (shown == frame).all(), f"step {n}: render() shows another picture than the observation"
        frame, info, ended = _step(environment, n, chance.randrange(len(environment.actions)))
        seen.append(_check_observation(environment, f"step {n + 1}", frame, info, reached))
        if ended:
            break
    return seen


def _pair(result: Any) -> tuple[Any, Json]:
    assert isinstance(result, tuple), f"reset() must return (frame, info), it returned {type(result).__name__}"
    assert len(result) == 2, f"reset() must return (frame, info), it returned {len(result)} values"
    return result[0], result[1]


def _step(environment: Environment, n: int, action: int) -> tuple[Any, Json, bool]:
    result = environment.step(action)
    assert len(result) == 5, f"step() must return frame, reward, terminated, truncated, info: {len(result)} values came"
    frame, reward, terminated, truncated, info = result
    assert float(reward) == float(reward), f"step {n + 1}: the reward is NaN"
    for name, value in (("terminated", terminated), ("truncated", truncated)):
        assert isinstance(value, bool), f"step {n + 1}: {name} must be a bool, it is {type(value).__name__}"
    return frame, info, terminated or truncated


def _check_observation(environment: Environment, where: str, frame: Any, info: Json, reached: list[str]) -> Json:
    dtype, shape = str(getattr(frame, "dtype", type(frame).__name__)), tuple(getattr(frame, "shape", ()))
    assert dtype == "uint8", f"{where}: the frame must be uint8, it is {dtype}"
    assert len(shape) == 3, f"{where}: the frame must be (H, W, 3), it is {shape}"
    assert shape[2] == 3, f"{where}: the frame must have 3 channels, it is {shape}"
    assert isinstance(info.get("state"), dict), f"{where}: info['state'] must be a dict"
    state: Json = info["state"]
    try:
        dumps(state)
    except InvalidInput as error:
        raise AssertionError(
            f"{where}: info['state'] must be strict JSON ({error}); turn NumPy values into numbers, NaN into null"
        ) from None
    _check_position(where, state.get("pos"))
    _check_milestones(environment, where, info.get("milestones"), reached)
    return state


def _check_position(where: str, pos: Any) -> None:
    if pos is None:
        return
    assert isinstance(pos, list), f"{where}: state['pos'] must be [x, y, z], it is {pos!r}"
    assert len(pos) == 3, f"{where}: state['pos'] must be [x, y, z], it is {pos!r}"
    assert all(map(is_number, pos)), f"{where}: state['pos'] must hold three numbers, it is {pos!r}"


def _check_milestones(environment: Environment, where: str, milestones: Any, reached: list[str]) -> None:
    assert isinstance(milestones, list), f"{where}: info['milestones'] must list those reached, it is {milestones!r}"
    unknown = [name for name in milestones if name not in environment.milestones]
    assert not unknown, f"{where}: info['milestones'] has {unknown}, which `milestones` does not name"
    lost = [name for name in reached if name not in milestones]
    assert not lost, f"{where}: the milestones {lost} were reached before and are gone; they stay for a whole life"
    ordered = [name for name in environment.milestones if name in milestones]
    assert milestones == ordered, f"{where}: info['milestones'] must be in the order of `milestones`"
    reached[:] = milestones


def _difference(a: Json, b: Json) -> str:
    keys = [key for key in {**a, **b} if a.get(key) != b.get(key)]
    return ", ".join(f"{key}: {a.get(key)!r:.60} and {b.get(key)!r:.60}" for key in keys[:3])
