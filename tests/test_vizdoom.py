"""The VizDoom environment: one seed, one life; what is told is what shows; no file and no process stays behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded

from scrubjay import Memory
from scrubjay.environments.named import make_environment
from scrubjay.environments.recording import RecordMemory
from scrubjay.environments.vizdoom import VizDoom
from scrubjay.errors import InvalidInput
from scrubjay.testing import check_environment

SMALL = (160, 120)
Info = dict[str, Any]


@pytest.fixture(scope="module")
def shared() -> Iterator[VizDoom]:
    """One game for all tests here: each resets it. Its console is open, so that tests can put things in its way."""
    environment = VizDoom(size=SMALL, cheats=True)
    yield environment
    environment.close()


def play(environment: VizDoom, action: str, times: int = 1) -> Info:
    """The last info of an action repeated, or of the end of the life."""
    info: Info = {}
    for _ in range(times):
        _, _, terminated, truncated, info = environment.step(environment.actions.index(action))
        if terminated or truncated:
            break
    return info


def console(environment: VizDoom, *commands: str) -> Info:
    assert environment.game is not None
    for command in commands:
        environment.game.command(command)
    return play(environment, "noop")


def lived(environment: VizDoom, seed: int, life: int, steps: int = 80) -> list[Any]:
    frame, info = environment.reset(seed=seed, options={"life": life})
    seen = [(info["state"], frame.tobytes())]
    for n in range(steps):
        frame, _, ended, _, info = environment.step((1, 1, 8, 3, 7)[n % 5])
        seen.append((info["state"], frame.tobytes()))
        if ended:
            break
    return seen


def test_it_keeps_the_contract(shared: VizDoom) -> None:
    check_environment(shared, steps=120)


def test_one_seed_and_life_are_one_game_also_in_two_at_once(shared: VizDoom) -> None:
    first = lived(shared, 5, 2)
    other = VizDoom(size=SMALL, seed=5)
    try:
        other.reset()
        assert lived(other, 5, 2) == first
    finally:
        other.close()
    assert lived(shared, 5, 2) == first
    third = lived(shared, 5, 3)
    assert third != first
    assert third[0][0] == first[0][0]


def test_the_size_of_the_frame_changes_nothing_that_happens(shared: VizDoom) -> None:
    def happened(lives: list[Any]) -> list[Any]:
        return [(state["pos"], state["yaw"], state["health"], state["inventory"]) for state, _ in lives]

    large = VizDoom()
    try:
        assert large.reset()[0].shape == (360, 640, 3)
        assert happened(lived(large, 5, 2)) == happened(lived(shared, 5, 2))
    finally:
        large.close()


def test_a_reset_without_a_seed_is_the_next_life(shared: VizDoom) -> None:
    shared.reset(seed=5, options={"life": 1})
    _, second = shared.reset()
    assert shared._life == 2
    assert second["state"]["pos"] == [-192.0, -192.0, 0.0]
    with pytest.raises(ValueError, match="life"):
        shared.reset(options={"life": 0})


def test_pose_is_in_map_units_with_z_up(shared: VizDoom) -> None:
    shared.reset(seed=1)
    assert (shared.world.world, shared.world.up, shared.world.cell) == ("doom-map01", "z", 64.0)
    assert console(shared, "god", "notarget")["state"]["yaw"] == 0.0
    x, y, z = play(shared, "forward", 15)["state"]["pos"]
    assert x > 100
    assert (y, z) == (-192.0, -48.0)  # down the stairs to the east
    for _ in range(9):
        state = play(shared, "turn_left")["state"]
    assert state["yaw"] == pytest.approx(90, abs=0.5)
    assert state["facing"] == pytest.approx([0, 1, 0], abs=0.01)


def test_what_is_in_view_is_nearby_and_what_is_behind_is_not(shared: VizDoom) -> None:
    shared.reset(seed=1)
    console(shared, "god", "notarget", "summon BlueCard")
    state = play(shared, "turn_left")["state"]
    card = next(one for one in state["nearby"] if one["name"] == "BlueCard")
    assert card["kind"] == "key"
    assert card["bearing"] == pytest.approx(-state["yaw"], abs=0.2)
    assert card["pos"][0] == pytest.approx(state["pos"][0] + card["distance"], abs=0.1)
    assert play(shared, "turn_left", 17)["state"]["nearby"] == []


@pytest.mark.parametrize(
    ("thing", "item", "milestone"),
    [
        ("BlueCard", "blue_key", "blue_key"),
        ("RedSkull", "red_key", "red_key"),
        ("YellowCard", "yellow_key", "yellow_key"),
        ("Shotgun", "shotgun", "shotgun"),
        ("Chainsaw", "chainsaw", "chainsaw"),
        ("RocketLauncher", "rocket_launcher", "rocket_launcher"),
        ("GreenArmor", None, "armor"),
    ],
)
def test_walking_over_a_thing_carries_it(shared: VizDoom, thing: str, item: str | None, milestone: str) -> None:
    shared.reset(seed=1)
    console(shared, "god", "notarget", f"summon {thing}")
    assert play(shared, "noop")["milestones"] == []
    states = []
    for _ in range(8):
        info = play(shared, "forward")
        states.append(info["state"])
    assert sum(len(state["messages"]) for state in states) == 1
    assert item is None or states[-1]["inventory"][item] >= 1
    assert info["milestones"][0] == "pick_up"
    assert shared._reached.among((milestone,)) == [milestone]


def test_a_kill_counts_and_the_dead_lie_about(shared: VizDoom) -> None:
    shared.reset(seed=1)
    console(shared, "god", "summon Zombieman")
    info = play(shared, "attack", 12)
    assert info["milestones"] == ["kill"]
    assert info["state"]["kills"] == 1
    assert info["state"]["inventory"]["bullets"] < 50
    assert "DeadZombieman" in [one["name"] for one in info["state"]["nearby"]]


def test_monsters_that_die_by_another_hand_are_no_kills(shared: VizDoom) -> None:
    shared.reset(seed=1)
    console(shared, "god", "summon Zombieman")
    state = console(shared, "kill monsters")["state"]
    for _ in range(3):
        info = play(shared, "noop")
    assert "DeadZombieman" in [one["name"] for one in info["state"]["nearby"]]
    assert (state["kills"], info["state"]["kills"], info["milestones"]) == (0, 0, [])


def test_death_ends_the_life_with_the_frame_before(shared: VizDoom) -> None:
    frame, _ = shared.reset(seed=1)
    assert shared.game is not None
    shared.game.command("kill")
    last, _, terminated, truncated, info = shared.step(0)
    assert (terminated, truncated) == (True, False)
    assert (info["state"]["dead"], info["state"]["health"]) == (True, 0)
    assert np.array_equal(frame, last)
    with pytest.raises(ResetNeeded):
        shared.step(0)


def test_the_exit_is_a_milestone_and_ends_the_life(shared: VizDoom) -> None:
    shared.reset(seed=1)
    console(shared, "god", "notarget", "warp 216 -660")
    play(shared, "turn_left", 9)
    _, reward, terminated, _, info = shared.step(shared.actions.index("use"))
    assert terminated
    assert not info["state"]["dead"]
    assert info["milestones"] == ["exit"]
    assert reward == 1.0


@pytest.mark.parametrize(("uses", "is_open"), [(0, False), (1, True), (2, False)])
def test_use_counts_every_time(shared: VizDoom, uses: int, is_open: bool) -> None:
    """The game wants the button let go between two uses: a second one closes the door while it opens."""
    shared.reset(seed=1)
    console(shared, "god", "notarget", "warp 660 -160")
    if uses:
        play(shared, "use", uses)
    play(shared, "noop", 4)
    x = play(shared, "forward", 5)["state"]["pos"][0]
    assert (x > 704) == is_open


def test_milestones_are_those_that_the_map_can_give() -> None:
    assert "blue_key" not in VizDoom("MAP01").milestones
    assert {"blue_key", "red_key", "yellow_key", "rocket_launcher"} <= set(VizDoom("MAP03").milestones)
    assert "blue_key" in VizDoom("E1M1", wad="freedoom1").milestones
    with pytest.raises(InvalidInput, match="MAP01, MAP02"):
        VizDoom("E1M1")
    with pytest.raises(InvalidInput, match="freedoom1"):
        VizDoom(wad="doom2")


def test_a_size_that_the_game_has_not_leaves_nothing_behind() -> None:
    with pytest.raises(InvalidInput, match="640x360"):
        VizDoom(size=(123, 45)).reset()


OWNER = """
import os, signal, sys, time
from scrubjay.environments.vizdoom import VizDoom
environment = VizDoom(size=(160, 120))
environment.reset(seed=1)
print(environment.game._launch.folder, flush=True)
if sys.argv[1] == "close":
    environment.close()
elif sys.argv[1] == "stay":
    time.sleep(60)
elif sys.argv[1] == "interrupt":  # as Ctrl-C in a terminal does: to all processes of the group
    asked = []
    signal.signal(signal.SIGINT, lambda number, frame: asked.append(number))
    os.killpg(0, signal.SIGINT)
    for _ in range(5):
        time.sleep(0.02)
        environment.step(1)
    assert asked == [signal.SIGINT]
"""


def processes_in(folder: str) -> list[str]:
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline") as line:
                found += [pid] if folder in line.read() else []
        except OSError:
            continue
    return found


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="looks for processes in /proc")
@pytest.mark.parametrize("how", ["close", "leave", "stay", "interrupt"])
def test_no_process_and_no_file_stays_behind(tmp_path: Path, how: str) -> None:
    """Whether it is closed, forgotten at the end of a program, or its owner is killed; Ctrl-C is the owner's alone."""
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, how], cwd=tmp_path, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert owner.stdout is not None
    folder = owner.stdout.readline().strip()
    assert os.path.basename(folder).startswith("scrubjay-vizdoom-")
    if how == "stay":
        assert processes_in(folder)
        owner.send_signal(signal.SIGKILL)
    assert owner.wait(20) == (-signal.SIGKILL if how == "stay" else 0)
    owner.stdout.close()
    until = time.monotonic() + 10
    while (processes_in(folder) or os.path.exists(folder)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not processes_in(folder)
    assert not os.path.exists(folder)
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="looks for processes in /proc")
def test_a_game_that_broke_down_is_started_anew_by_a_reset() -> None:
    environment = VizDoom(size=SMALL)
    environment.reset(seed=1)
    try:
        assert environment.game is not None
        folder = environment.game._launch.folder
        for pid in processes_in(folder):
            os.kill(int(pid), signal.SIGKILL)
        with pytest.raises(Exception, match="ViZDoom instance"):
            play(environment, "forward", 5)
        _, info = environment.reset()
        assert info["state"]["health"] == 100
        assert not os.path.exists(folder)
    finally:
        environment.close()


def test_a_recorded_life_has_its_cells_in_three_dimensions(tmp_path: Path, shared: VizDoom) -> None:
    with Memory.create(tmp_path / "memory") as memory:
        env = RecordMemory(shared, memory, task="Find the exit")
        env.reset(seed=1)
        for action in ["noop"] + ["forward"] * 20:
            env.step(shared.actions.index(action))
        env._lives.close()
        rows = memory.grid().rows()
        assert {row.world for row in rows} == {"doom-map01"}
        walked = [row.cell for row in rows if row.kind == "walked"]
        assert (-3, -3, 0) in walked
        assert min(cell[2] for cell in walked) == -1
        assert len(json.dumps(memory.worlds()["doom-map01"].to_json())) < 300


def test_it_is_chosen_by_name() -> None:
    assert isinstance(make_environment("vizdoom", doom_map="MAP02"), VizDoom)
