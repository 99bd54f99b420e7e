"""The crafter environment: one seed, one life, whatever process, frame size or looks; and nothing beyond the view."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import crafter
import numpy as np
import pytest
from crafter import constants, engine

from scrubjay.environments.crafter import Crafter
from scrubjay.environments.named import load, make_environment
from scrubjay.errors import InvalidInput
from scrubjay.testing import check_environment

SMALL = (18, 18)

# Walks and digs into the first night, long enough for chunks to be balanced and for noise to be drawn.
LIFE = """
import hashlib, json, sys
from scrubjay.environments.crafter import Crafter
size, looks, filler = json.loads(sys.argv[1])
keep = [object() for _ in range(filler)]  # other memory addresses
environment = Crafter(size=tuple(size))
_, info = environment.reset(seed=3, options={"life": 2})
states = [info["state"]]
terminated = False
while not terminated and len(states) < 300:
    for _ in range(looks):
        environment.render()
    _, _, terminated, _, info = environment.step((5, 1, 5, 4, 5, 3, 5, 2)[len(states) // 3 % 8])
    states.append(info["state"])
assert len(states) > 200
print(len(states), hashlib.sha256(json.dumps(states).encode()).hexdigest())
"""


def lived(hash_seed: str, size: tuple[int, int] = SMALL, looks: int = 0, filler: int = 0) -> str:
    """What another process says of 400 steps of one life, nights included."""
    result = subprocess.run(
        [sys.executable, "-c", LIFE, json.dumps([size, looks, filler])],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    )
    return result.stdout


def test_one_seed_is_one_life_whatever_process_frame_size_and_further_looks() -> None:
    lives = {
        "as it is": lived("0"),
        "other hashes and addresses": lived("271", filler=9973),
        "another frame size": lived("0", size=(90, 54)),
        "two looks more at every step": lived("0", looks=2),
    }
    assert len(set(lives.values())) == 1, lives


@pytest.fixture(scope="module")
def shared() -> Crafter:
    """One environment for all tests here: each resets it, as a run does."""
    return Crafter(size=SMALL)


def states(environment: Crafter, options: dict[str, Any], steps: int = 60) -> list[dict[str, Any]]:
    _, info = environment.reset(**options)
    found = [info["state"]]
    for step in range(steps):
        found.append(environment.step((1, 3, 2, 4)[step // 9 % 4])[4]["state"])
    return found


def test_a_later_life_has_the_same_terrain_and_other_chances(shared: Crafter) -> None:
    first = states(shared, {"seed": 5})
    second_by_default = states(shared, {})
    second = states(shared, {"seed": 5, "options": {"life": 2}})
    assert second == second_by_default
    assert first[0] == second[0]
    assert first != second


def test_the_frame_is_that_of_the_package_and_night_noise_stands_still() -> None:
    environment = Crafter(seed=1)
    frame, _ = environment.reset()
    assert frame.shape == (360, 640, 3)
    assert frame.dtype == np.uint8
    assert np.array_equal(frame, environment.render())
    original = crafter.Env(seed=1, size=(640, 360))
    assert np.array_equal(frame, original.reset())


def test_the_state_says_what_the_view_shows_and_no_more(shared: Crafter) -> None:
    _, info = shared.reset(seed=3)
    state = info["state"]
    assert state["pos"] == [32, 0, 32]
    assert (state["facing"], state["yaw"], state["inventory"], state["sleeping"]) == ([0, 0, 1], 90.0, {}, False)
    assert [state[name] for name in ("health", "food", "drink", "energy")] == [9, 9, 9, 9]
    view = [row.split() for row in state["view"]]
    assert [len(row) for row in view] == [9] * 7
    assert view[3][4] == "player"
    assert "semantic" not in info
    assert len(json.dumps(state)) < 1000


def test_beyond_the_edge_of_the_world_is_said(shared: Crafter) -> None:
    shared.reset(seed=3)
    shared._game.player.world.move(shared._game.player, (0, 63))
    view = [row.split() for row in shared.step(0)[4]["state"]["view"]]
    assert all(word == "edge" for row in view for word in row[:4])
    assert all(word == "edge" for row in view[4:] for word in row)
    assert view[3][4] == "player"


def test_actions_milestones_and_world_have_names(shared: Crafter) -> None:
    assert len(shared.actions) == 17
    assert len(shared.milestones) == 22
    shared.reset(seed=3)
    assert (shared.world.world, shared.world.up, shared.world.cell) == ("crafter-3", "y", 1.0)


def test_a_milestone_is_seen_when_reached(shared: Crafter) -> None:
    shared.reset(seed=3)
    shared._game.player.inventory["wood"] = constants.place["table"]["uses"]["wood"]
    *_, info = shared.step(shared.actions.index("place_table"))
    assert info["milestones"] == ["place_table"]
    assert info["state"]["achievements"] == {"place_table": 1}
    assert info["state"]["inventory"] == {}


def test_a_life_ends_by_death_or_by_length(shared: Crafter) -> None:
    short = Crafter(seed=3, size=SMALL, length=3)
    short.reset()
    assert [short.step(0)[2:4] for _ in range(3)] == [(False, False), (False, False), (False, True)]
    shared.reset(seed=3)
    shared._game.player.health = 0
    assert shared.step(0)[2:4] == (True, False)


def test_it_keeps_the_contract(shared: Crafter) -> None:
    check_environment(shared, steps=120)


def test_the_package_itself_is_left_as_it_was(shared: Crafter) -> None:
    assert type(shared._game._world) is not engine.World
    published = crafter.Env(seed=1)
    assert type(published._world) is engine.World
    assert published._world._chunks.default_factory is set


def test_a_choice_is_a_name_or_a_path() -> None:
    assert isinstance(make_environment("crafter", size=SMALL), Crafter)
    assert isinstance(make_environment("scrubjay.environments.crafter:Crafter", size=SMALL), Crafter)
    for wrong in ("chess", "scrubjay.environments.crafter:Chess", "no.such.module:Env"):
        with pytest.raises(InvalidInput):
            load(wrong, {"crafter": "scrubjay.environments.crafter:Crafter"}, "environment")
