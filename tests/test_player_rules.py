"""What the scripted player does in situations that can be drawn: one view, one turn."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from scrubjay import World
from scrubjay.models.contract import Plan, Turn
from scrubjay.models.scripted.crafter import CrafterPlayer
from test_player import Shelf

LETTERS = {
    ".": "grass", ",": "sand", "_": "path", "T": "tree", "~": "water", "#": "stone", "c": "coal", "i": "iron",
    "!": "lava", "t": "table", "f": "furnace", "Z": "zombie", "C": "cow", "p": "plant", "P": "ripe_plant",
    "@": "player",
}  # fmt: skip
MOVES = {"move_right": (1, 0), "move_down": (0, 1), "move_left": (-1, 0), "move_up": (0, -1)}
MEADOW = ["........."] * 7


class Nothing:
    """A memory without episodes."""

    def __init__(self) -> None:
        self.documents = Shelf()

    def find(self, query: Any) -> Any:
        return type("Found", (), {"rows": []})

    def grid(self, world: str | None = None) -> Any:
        return type("Cells", (), {"rows": list})


def turn_of(drawn: list[str], **state: Any) -> Turn:
    rows = [list(row) for row in drawn]
    rows[3][4] = "@"
    full = {
        "pos": [32, 0, 32], "facing": [0, 0, 1], "health": 9, "food": 9, "drink": 9, "energy": 9, "inventory": {},
        "daylight": 1.0, "sleeping": False, "view": [" ".join(LETTERS[c] for c in row) for row in rows], **state,
    }  # fmt: skip
    reached = tuple(state.pop("reached", ()))
    return Turn("", 1, 2, 50, 1000, World("w"), None, full, reached, (), Nothing())  # type: ignore[arg-type]


def decide(drawn: list[str], **state: Any) -> Plan:
    return CrafterPlayer().decide(turn_of(drawn, **state))


def actions(plan: Plan) -> list[str]:
    return [entry.action for entry in plan.entries for _ in range(entry.repeat)]


def with_row(number: int, row: str) -> list[str]:
    return [*MEADOW[:number], row, *MEADOW[number + 1 :]]


def test_a_zombie_at_hand_is_faced_and_hit() -> None:
    beside = with_row(3, ".....Z...")
    assert actions(decide(beside)) == ["move_right"]
    assert actions(decide(beside, facing=[1, 0, 0])) == ["do"]


def test_thirst_goes_to_water_and_fills_up() -> None:
    assert actions(decide(with_row(3, ".....~..."), facing=[1, 0, 0], drink=3)) == ["do"] * 6
    plan = decide(with_row(3, ".......~."), drink=3)
    assert set(actions(plan)) == {"move_right"}
    assert plan.intention == "drink"


def test_hunger_goes_to_the_cow() -> None:
    assert actions(decide(with_row(3, "....@..C."), food=3))[0] == "move_right"


def test_asleep_it_sleeps() -> None:
    assert set(actions(decide(MEADOW, sleeping=True))) == {"sleep"}


def test_tools_are_made_at_a_table_and_a_table_where_wood_allows() -> None:
    by_table = with_row(2, "....t....")
    state: dict[str, Any] = {"reached": ("collect_sapling", "place_plant", "eat_plant", "eat_cow", "collect_drink")}
    assert actions(decide(by_table, inventory={"wood": 1}, **state)) == ["make_wood_pickaxe"]
    assert actions(decide(MEADOW, inventory={"wood": 5}, **state)) == ["place_table"]


def plant_of_mine(turn: Turn, cell: tuple[int, int], grew: int) -> Turn:
    line = f"- plant: ({cell[0]}, {cell[1]}), seen near for {grew} steps [ep_000001]"
    turn.recall.documents.write("working/0001.md", f"# Working memory, life 1\n\n{line}\n")
    return turn


def test_the_fence_of_a_plant_is_left_alone() -> None:
    drawn = [".........", ".........", "...#.....", "..#p.....", "...#.....", ".........", "........."]
    state: dict[str, Any] = {"reached": ("eat_plant", "collect_sapling"), "inventory": {"wood_pickaxe": 1}}
    assert decide([row.replace("p", ".") for row in drawn], **state).intention == "collect stone"
    turn = plant_of_mine(turn_of(drawn, **state), (31, 32), 5)
    assert CrafterPlayer().decide(turn).intention == "search: explore"


def test_a_ripe_plant_is_eaten() -> None:
    turn = turn_of(with_row(3, ".....P..."), facing=[1, 0, 0])
    turn.recall.documents.write(
        "working/0001.md", "# Working memory\n\n- plant: (33, 32), seen near for 310 steps [ep_000001]\n"
    )
    assert actions(CrafterPlayer().decide(turn)) == ["do"]


GROUND = st.sampled_from("....__,,###T~ci!!!!tfZC")
ITEMS = st.dictionaries(
    st.sampled_from(["wood", "stone", "sapling", "coal", "iron", "wood_pickaxe", "stone_pickaxe", "wood_sword"]),
    st.integers(1, 9),
)


@settings(max_examples=150)
@given(
    st.lists(st.text(GROUND, min_size=9, max_size=9), min_size=7, max_size=7),
    ITEMS,
    st.sampled_from(sorted(MOVES.values())),
    st.tuples(*[st.integers(0, 9)] * 4),
    st.booleans(),
)
def test_it_never_walks_into_lava(
    drawn: list[str], items: dict[str, int], facing: tuple[int, int], vitals: tuple[int, ...], day: bool
) -> None:
    health, food, drink, energy = vitals
    plan = decide(
        drawn, facing=[facing[0], 0, facing[1]], inventory=items, health=health + 1, food=food, drink=drink,
        energy=energy, daylight=float(day),
    )  # fmt: skip
    ground = {(x, z): drawn[z][x] for z in range(7) for x in range(9)} | {(4, 3): "."}
    here = (4, 3)
    for action in actions(plan):
        facing = MOVES.get(action, facing)
        front = (here[0] + facing[0], here[1] + facing[1])
        if action in MOVES and ground.get(front, ".") in ".,_!":
            here = front
            assert ground.get(here) != "!", (plan, drawn)
        elif action == "do" and ground.get(front, "~") in "#Tci":
            ground[front] = "_"
        elif action == "place_stone":
            ground[front] = "#"
