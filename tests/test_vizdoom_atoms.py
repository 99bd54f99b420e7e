"""Atoms of VizDoom in the real game: they reach, collect, open and shoot, or say why not, and can be interrupted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from scrubjay.environments.atoms import SUCCESS, by_name, drive
from scrubjay.environments.vizdoom import VizDoom
from scrubjay.errors import InvalidInput


class Player:
    """A game whose atoms can be called; `taken` lists the raw actions of the last call."""

    def __init__(self, environment: VizDoom) -> None:
        self.environment = environment
        self.atoms = by_name(environment.atoms)
        self.taken: list[str] = []
        self.state: dict[str, Any] = {}

    def begin(self, *commands: str) -> None:
        _, info = self.environment.reset(seed=1)
        assert self.environment.game is not None
        for command in ("god", "notarget", *commands):
            self.environment.game.command(command)
        self.state = info["state"]
        self.take("noop")

    def take(self, action: str) -> dict[str, Any]:
        self.taken.append(action)
        self.state = self.environment.step(self.environment.actions.index(action))[4]["state"]
        return self.state

    def call(self, name: str, **arguments: Any) -> str:
        self.taken = []
        return drive(self.atoms[name].run(arguments, self.state), self.take)


@pytest.fixture(scope="module")
def player() -> Iterator[Player]:
    environment = VizDoom(size=(160, 120), cheats=True)
    yield Player(environment)
    environment.close()


@pytest.mark.parametrize("yaw", [0, 137, -90, 359, 725])
def test_turn_to_is_at_most_half_a_turn_off(player: Player, yaw: float) -> None:
    player.begin()
    assert player.call("turn_to", yaw=yaw) == SUCCESS
    assert abs((player.state["yaw"] - yaw + 180) % 360 - 180) <= 5.2
    assert len(player.taken) <= 18


def test_look_around_ends_where_it_began(player: Player) -> None:
    player.begin()
    assert player.call("look_around") == SUCCESS
    assert player.taken == ["turn_left"] * 36
    assert min(player.state["yaw"], 360 - player.state["yaw"]) < 1.5


def test_go_to_arrives_also_behind_a_door(player: Player) -> None:
    player.begin()
    assert player.call("go_to", x=760, y=-160) == SUCCESS
    x, y, z = player.state["pos"]
    assert ((x - 760) ** 2 + (y + 160) ** 2) ** 0.5 <= 48
    assert z == -64.0
    assert "use" in player.taken


def test_go_to_gives_up_behind_a_wall_and_says_where(player: Player) -> None:
    player.begin()
    outcome = player.call("go_to", x=-192, y=-3000)
    assert outcome.startswith("failure: stuck at (")
    assert len(player.taken) < 230


def test_collect_takes_what_lies_in_view_by_name_or_kind(player: Player) -> None:
    for what in ("key", "bluecard"):
        player.begin("summon BlueCard")
        assert player.call("collect", what=what) == SUCCESS
        assert player.state["inventory"]["blue_key"] == 1
    assert player.call("collect", what="key").startswith("failure: no key in view")


def test_collect_says_what_is_no_use(player: Player) -> None:
    player.begin("summon Stimpack")
    assert player.call("collect", what="health").startswith("failure: walked over the Stimpack and it stays")


def test_attack_kills_the_nearest(player: Player) -> None:
    player.begin("summon Zombieman")
    player.call("turn_to", yaw=30)
    assert player.call("attack") == SUCCESS
    assert player.state["kills"] == 1
    player.begin()
    assert player.call("attack") == "failure: no monster in view: nothing"
    assert player.taken == []


def test_use_opens_a_door_and_tells_what_a_locked_one_needs(player: Player) -> None:
    player.begin("warp 660 -160")
    assert player.call("use") == SUCCESS
    assert player.call("go_to", x=760, y=-160) == SUCCESS
    locked = VizDoom("E1M1", wad="freedoom1", size=(160, 120), cheats=True)
    try:
        other = Player(locked)
        other.begin("warp 832 1450")
        other.call("turn_to", yaw=90)
        assert other.call("use") == "failure: Blue key needed for this door."
    finally:
        locked.close()


def test_arguments_are_judged_before_the_first_step(player: Player) -> None:
    player.begin()
    for name, arguments in (("go_to", {"x": 1}), ("go_to", {"x": "1", "y": 2}), ("use", {"now": True})):
        with pytest.raises(InvalidInput, match=name):
            player.atoms[name].run(arguments, player.state)


def test_whoever_takes_the_steps_can_interrupt(player: Player) -> None:
    player.begin()
    moves = player.atoms["go_to"].run({"x": 760, "y": -160}, player.state)

    def three_steps(action: str) -> dict[str, Any]:
        if len(player.taken) == 3:
            raise TimeoutError
        return player.take(action)

    player.taken = []
    with pytest.raises(TimeoutError):
        drive(moves, three_steps)
    assert len(player.taken) == 3
    with pytest.raises(StopIteration):
        next(moves)
