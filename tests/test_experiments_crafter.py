"""What crafter's stored states say of a run: needed, seen before, lost, returned to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from scrubjay import Memory
from scrubjay.experiments.crafter_scores import AHEAD, FAR, Cell, Seen, crafter_scores, needs
from scrubjay.experiments.plan import experiment_of
from scrubjay.experiments.running import Done, Running

PICK = {"stone_pickaxe": 1, "coal": 1}


def seen(
    step: int,
    here: Cell,
    world: dict[Cell, str],
    inventory: dict[str, int] | None = None,
    life: int = 1,
    made: tuple[str, ...] = (),
    **state: Any,
) -> Seen:
    """An observation on a meadow in which `world` lies."""
    x, z = here
    view = [
        " ".join("player" if (i, j) == here else world.get((i, j), "grass") for i in range(x - 4, x + 5))
        for j in range(z - 3, z + 4)
    ]
    values = {"pos": [x, 0, z], "view": view, "inventory": inventory or {}, "achievements": dict.fromkeys(made, 1)}
    return Seen(life, step, {**values, "drink": 9, "sleeping": False, **state})


def walk(first: int, cells: list[Cell], world: dict[Cell, str], **more: Any) -> list[Seen]:
    return [seen(first + nth, cell, world, **more) for nth, cell in enumerate(cells)]


IRON: dict[Cell, str] = {(0, 0): "iron"}
AWAY = [(x, 0) for x in range(1, 20)]
BACK = AWAY[::-1]


def test_what_was_never_seen_is_not_lost() -> None:
    told = needs(walk(0, [(30, 30)] * 30, IRON, inventory=PICK))
    assert (told["steps"], told["lost"], told["out_of_view"], told["returns"]) == (30, 0, 0, {})


def test_what_is_not_needed_is_not_lost() -> None:
    told = needs(walk(0, AWAY + [(19, 0)] * 20, IRON))  # no tool for it
    assert (told["lost"], told["out_of_view"]) == (0, 0)


def test_walking_away_from_what_is_needed_loses_it() -> None:
    told = needs([*walk(0, AWAY, IRON), *walk(19, [(19, 0)] * 20, IRON, inventory=PICK)])
    assert (told["lost"], told["out_of_view"]) == (20, 20)
    assert told["returns"] == {"iron": {"from": 19, "to": None}}


def test_walking_back_to_it_does_not() -> None:
    way = walk(19, BACK, IRON, inventory=PICK)
    got = seen(38, (1, 0), {(0, 0): "path"}, {**PICK, "iron": 1})
    told = needs([*walk(0, AWAY, IRON), *way, got])
    assert told["lost"] == 0
    assert told["out_of_view"] == sum(x > 4 for x, _ in BACK)
    assert told["returns"] == {"iron": {"from": 19, "to": 38}}


def test_what_was_dug_out_is_known_to_be_gone_until_the_next_life() -> None:
    gone: dict[Cell, str] = {(0, 0): "path"}
    life = [
        *walk(0, AWAY[:3], IRON),
        *walk(3, AWAY, gone, inventory=PICK),
        *walk(22, [(19, 0)] * 20, gone, inventory=PICK),
    ]
    assert needs(life)["out_of_view"] == 0
    later = walk(42, [(19, 0)] * 12, IRON, inventory=PICK, life=2)
    assert needs([*life, *later])["lost"] == 12


def test_a_sleeper_and_one_that_has_what_it_needs_lose_nothing() -> None:
    for changes in (
        {"inventory": PICK, "sleeping": True},
        {"inventory": {**PICK, "iron": 1}},
        {"inventory": PICK, "made": ("make_iron_pickaxe", "make_iron_sword")},
    ):
        told = needs([*walk(0, AWAY, IRON), *walk(19, [(19, 0)] * 20, IRON, **changes)])
        assert told["out_of_view"] == 0


def test_water_and_diamonds_are_needed_when_thirsty_and_when_they_can_be_dug() -> None:
    world: dict[Cell, str] = {(0, 0): "diamond", (0, 1): "water"}
    assert needs([*walk(0, AWAY, world), *walk(19, [(19, 0)] * 5, world, drink=3)])["lost"] == 5
    assert needs([*walk(0, AWAY, world), *walk(19, [(19, 0)] * 5, world, drink=4)])["lost"] == 0
    able = {"iron_pickaxe": 1, "iron": 1, "coal": 1}
    told = needs([*walk(0, AWAY, world), *walk(19, [(19, 0)] * 5, world, inventory=able)])
    assert told["returns"] == {"diamond": {"from": 19, "to": None}}
    told = needs([*walk(0, AWAY, world, made=("collect_diamond",)), *walk(19, [(19, 0)] * 5, world, inventory=able)])
    assert told["lost"] == 0


@given(st.lists(st.sampled_from([(1, 0), (-1, 0), (0, 1), (0, -1)]), max_size=60), st.booleans())
def test_lost_steps_are_steps_in_which_it_was_out_of_view(moves: list[Cell], has_tool: bool) -> None:
    cells = [(2, 2)]
    for x, z in moves:
        cells.append((cells[-1][0] + x, cells[-1][1] + z))
    assume((0, 0) not in cells)  # nobody stands in rock
    told = needs(walk(0, cells, IRON, inventory=PICK if has_tool else {}))
    out = sum(abs(x) > 4 or abs(z) > 3 for x, z in cells)
    assert told["out_of_view"] == (out if has_tool else 0)
    assert 0 <= told["lost"] <= told["out_of_view"] <= told["steps"] == len(cells)
    if has_tool and all(abs(x) + abs(z) < FAR for x, z in cells):
        assert told["returns"] == {}


def test_a_short_look_back_within_ten_steps_is_not_lost() -> None:
    still = walk(5, [(5, 0)] * (AHEAD - 1), IRON, inventory=PICK)
    told = needs([seen(4, (4, 0), IRON), *still, *walk(5 + AHEAD - 1, [(4, 0)], IRON, inventory=PICK)])
    assert (told["lost"], told["out_of_view"]) == (0, AHEAD - 1)


def test_a_trial_in_crafter_is_scored_and_scores_the_same_again(tmp_path: Path) -> None:
    told: list[Done] = []
    given = {
        "name": "e", "environment": "crafter", "methods": ["mfm"], "seeds": [101], "frame": [18, 18],
        "tasks": [{"name": "short", "text": "Play.", "steps": 30, "arguments": {"length": 20}}],
    }  # fmt: skip
    Running(experiment_of(given), str(tmp_path / "e"), tell=told.append).run()
    result = told[0].result
    assert result is not None
    assert [life["outcome"] for life in result["lives"]] == ["truncated", "budget spent"]
    assert result["scores"]["steps"] == 32  # of two lives, each with a first observation
    assert result["scores"]["tables_again"] == 0
    with Memory.open(tmp_path / "e" / told[0].trial.name / "memory", read_only=True) as memory:
        assert crafter_scores(memory) == result["scores"]
