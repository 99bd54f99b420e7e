"""Atoms of crafter: from the view alone they walk, gather, place and make, or say why not."""

from __future__ import annotations

from typing import Any

import pytest

from scrubjay.environments.atoms import FAILURE, SUCCESS, by_name, drive
from scrubjay.environments.crafter import Crafter
from scrubjay.environments.crafter.atoms import ATOMS
from scrubjay.environments.crafter.local_map import LocalMap
from scrubjay.errors import InvalidInput

NAMED = by_name(ATOMS)


class Player:
    """A world of crafter whose atoms can be called; `taken` lists the raw actions of the last call."""

    def __init__(self, seed: int) -> None:
        self.environment = Crafter(size=(18, 18))
        _, info = self.environment.reset(seed=seed)
        self.state: dict[str, Any] = info["state"]
        self.taken: list[str] = []

    def take(self, action: str) -> dict[str, Any]:
        self.taken.append(action)
        self.state = self.environment.step(self.environment.actions.index(action))[4]["state"]
        return self.state

    def call(self, name: str, **arguments: Any) -> str:
        self.taken = []
        return drive(NAMED[name].run(arguments, self.state), self.take)


def state(view: str, facing: tuple[int, int] = (0, 1), **more: Any) -> dict[str, Any]:
    """A state at (10, 10) from a drawing: `.` grass, `#` stone, `~` water, `!` lava, `T` tree, `c` cow, `@` me."""
    words = {".": "grass", "#": "stone", "~": "water", "!": "lava", "T": "tree", "c": "cow", "@": "player"}
    lines = [" ".join(words[letter] for letter in line) for line in view.split()]
    held: dict[str, Any] = {"inventory": {}, "achievements": {}}
    return {"pos": [10, 0, 10], "facing": [facing[0], 0, facing[1]], "view": lines, **held, **more}


def test_from_wood_to_a_pickaxe_and_stone() -> None:
    player = Player(seed=1)
    for _ in range(5):
        assert player.call("collect", what="wood") == SUCCESS
    assert player.state["inventory"] == {"wood": 5}
    assert player.call("make", what="wood_pickaxe").startswith("failure: no place in view that is next to table")
    assert player.call("collect", what="stone") == "failure: stone needs 1 wood_pickaxe, has 0"
    assert player.taken == []
    assert player.call("place", what="table") == SUCCESS
    assert player.call("make", what="wood_pickaxe") == SUCCESS
    assert player.call("collect", what="stone") == SUCCESS
    assert player.state["inventory"] == {"wood": 2, "stone": 1, "wood_pickaxe": 1}
    assert player.call("place", what="furnace") == "failure: a furnace needs 4 stone, has 1"


def test_a_sapling_is_searched_until_there_is_one_and_planted() -> None:
    player = Player(seed=0)
    assert player.call("collect", what="sapling") == SUCCESS
    assert player.taken.count("do") > 1
    assert player.call("place", what="plant") == SUCCESS
    assert player.state["achievements"] == {"collect_sapling": 1, "place_plant": 1}


def test_go_to_goes_far_beyond_the_view_and_back() -> None:
    player = Player(seed=1)
    assert player.call("go_to", x=10, z=10) == SUCCESS
    assert player.state["pos"] == [10, 0, 10]
    assert len(player.taken) >= 44
    assert player.call("go_to", x=10, z=10) == SUCCESS
    assert player.taken == []
    assert player.call("go_to", x=80, z=10).startswith("failure: no way to (80, 10)")


def test_go_to_a_tree_faces_it() -> None:
    player = Player(seed=0)
    known = LocalMap(player.state)
    tree = next(cell for cell, word in known.tiles.items() if word == "tree")
    assert player.call("go_to", x=tree[0], z=tree[1]) == SUCCESS
    (x, _, z), (across, _, down) = player.state["pos"], player.state["facing"]
    assert (x + across, z + down) == tree


@pytest.mark.parametrize(("direction", "facing"), [("left", [-1, 0, 0]), ("up", [0, 0, -1]), ("down", [0, 0, 1])])
def test_face(direction: str, facing: list[int]) -> None:
    player = Player(seed=3)
    assert player.call("face", direction=direction) == SUCCESS
    assert player.state["facing"] == facing
    assert len(player.taken) == (direction != "down")


def test_no_way_leads_through_lava_and_a_way_round_is_found() -> None:
    lava = state("""
        .........
        ...!!!...
        ...!.!...
        ...!@!...
        ...!!!...
        .........
        .........
    """)
    known = LocalMap(lava)
    assert known.way(lambda pose: pose[0] == (10, 13)) is None
    moves = NAMED["go_to"].run({"x": 10, "z": 13}, lava)
    with pytest.raises(StopIteration) as ended:
        next(moves)
    assert ended.value.value.startswith(f"{FAILURE}no way to (10, 13)")
    around = LocalMap(state("######### ###...### ###.#.### ###.@.### ####~#### ######### #########"))
    assert around.way(lambda pose: pose[0] == (10, 8)) == ["move_left", "move_up", "move_up", "move_right"]


def test_what_is_out_of_view_is_not_known() -> None:
    known = LocalMap(state("......... ......... ......... ....@.... ......... ......... ........."))
    assert known.way(lambda pose: pose[0] == (10, 20)) is None
    way = known.way(lambda pose: pose[0] == (10, 20), aim=(10, 20), unseen=True)
    assert way == ["move_down"] * 10
    assert known.leads(way, lambda pose: pose[0] == (10, 20))
    known.tiles[10, 15] = "water"
    assert not known.leads(way, lambda pose: pose[0] == (10, 20))


def test_the_nearest_is_taken_and_a_cow_is_followed() -> None:
    seen = state(
        "T........ ......... ......... ....@..T. ......... .......c. .........", facing=(1, 0), inventory={"wood": 0}
    )
    moves = NAMED["collect"].run({"what": "wood"}, seen)
    assert next(moves) == "move_right"
    moves = NAMED["collect"].run({"what": "cow"}, seen)
    assert next(moves) in ("move_right", "move_down")
    gone = state("......... ......... ......... ....@..T. ......... ......... .........")
    with pytest.raises(StopIteration) as ended:
        moves.send(gone)
    assert ended.value.value.startswith("failure: no cow in reach of the view")


def test_arguments_are_judged_before_the_first_step() -> None:
    player = Player(seed=0)
    for name, arguments in (
        ("go_to", {"x": 1}),
        ("face", {"direction": "north"}),
        ("place", {"what": "cow"}),
        ("make", {"what": "wood_pickaxe", "with": "table"}),
    ):
        with pytest.raises(InvalidInput, match=name):
            NAMED[name].run(arguments, player.state)
    assert player.call("collect", what="gold").startswith("failure: gold is nothing to collect; wood, tree, stone")
