"""What is derived of an episode: the summary's exact form, each tag, the five kinds of cells, the log section."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrubjay import World
from scrubjay.memory.deriving import DefaultDeriver, Derived, Happened
from scrubjay.memory.records import GridRow

States = list[dict[str, Any]]


def derive(states: States, actions: list[Any] | None = None, world: World | None = None, **happened: Any) -> Derived:
    """What an episode through these states was; its first step is 100."""
    deriver = DefaultDeriver()
    deriver.begin(world or World("w"))
    actions = actions or ["act"] * (len(states) - 1)
    for n, state in enumerate(states):
        deriver.observe(100 + n, state, None if n == 0 else actions[n - 1])
    known: dict[str, Any] = {"kind": "episode", "action_kind": "act", "arguments": {}, "outcome": None, **happened}
    return deriver.derive(Happened(first_step=100, last_step=99 + len(states), **known))


def at(x: float, y: float = 0.0, z: float = 0.0, **rest: Any) -> dict[str, Any]:
    return {"pos": [x, y, z], **rest}


# --- the summary


def test_the_summary_of_a_call_is_the_papers() -> None:
    before = at(3168.66, 64.0, 1419.47, inventory={"bucket": 0, "water_bucket": 1}, milestones=[])
    after = at(3168.66, 64.0, 1419.47, inventory={"bucket": 1}, milestones=["log_1"])
    arguments = {"x": 3168, "y": 64, "z": 1420, "item": "water_bucket", "face": "below", "hold": 1}
    derived = derive([before] * 53 + [after], action_kind="use_at", arguments=arguments, outcome="success")
    assert derived.summary == (
        "[ACTION] use_at(x=3168, y=64, z=1420, item=water_bucket, face=below, hold=1) -> 53 steps: "
        "moved 0.0, inv {'bucket': 1, 'water_bucket': -1}, milestone ['log_1']"
    )


def test_the_summary_of_a_raw_action_is_the_papers() -> None:
    derived = derive([at(0)] * 25, [{"attack": 1}] * 24, action_kind="attack", arguments=None)
    assert derived.summary == '[ACTION] {"attack":1} x24: moved 0.0'


@pytest.mark.parametrize(
    ("states", "happened", "summary"),
    [
        ([at(10**400), at(1)], {}, "[ACTION] act() -> 1 step: done"),
        ([at(0), at(3, 0, 4)], {}, "[ACTION] act() -> 1 step: moved 5.0"),
        ([at(0, 70), at(0, 64)], {}, "[ACTION] act() -> 1 step: moved 0.0, descended 6.0"),
        ([at(0, 64), at(0, 70)], {}, "[ACTION] act() -> 1 step: moved 0.0, descended -6.0"),
        ([{}, {}], {}, "[ACTION] act() -> 1 step: done"),
        ([{}, {}], {"outcome": "failed"}, "[ACTION] act() -> 1 step: outcome failed"),
        ([{}, {}], {"outcome": "success"}, "[ACTION] act() -> 1 step: done"),
        ([{}], {"kind": "initial", "action_kind": None}, "initial state"),
        ([{}, {}], {"arguments": {"q": [1, {}], "t": True}}, "[ACTION] act(q=[1,{}], t=true) -> 1 step: done"),
        ([{"pos": [0, None, 1]}, at(9)], {}, "[ACTION] act() -> 1 step: done"),
    ],
)  # fmt: skip
def test_the_parts_of_a_summary(states: States, happened: dict[str, Any], summary: str) -> None:
    assert derive(states, **happened).summary == summary


def test_distance_is_over_the_ground_of_the_world() -> None:
    up_z = World("doom", up="z")
    assert derive([at(0, 0, 9), at(3, 4, 2)], world=up_z).summary.endswith("moved 5.0, descended 7.0")


# --- the tags


@pytest.mark.parametrize(
    ("tag", "states", "happened"),
    [
        ("initial", [at(0)], {"kind": "initial", "action_kind": None, "arguments": None}),
        ("milestone", [at(0, milestones=["a"]), at(0, milestones=["a", "b"])], {}),
        ("milestone", [at(0, achievements={}), at(0, achievements={"wood": 1})], {}),
        ("inventory_changed", [at(0, inventory={}), at(0, inventory={"dirt": 1})], {}),
        ("inventory_changed", [at(0, inventory={"dirt": 1}), at(0, inventory={})], {}),
        ("broke", [at(0, inventory={}), at(0, inventory={"log": 1})], {"action_kind": "mine_block"}),
        ("broke", [at(0), at(0)], {"events": ("broke stone at 1 2 3",)}),
        ("damage", [at(0, health=20), at(0, health=17), at(0, health=20)], {}),
        ("stuck", [at(0), at(0.1), at(0.2)], {"action_kind": "go_to"}),
        ("note", [at(0), at(0)], {"note": "remember"}),
        ("opened", [at(0, gui=None), at(0, gui="chest")], {}),
        ("opened", [at(0, gui_open=False), at(0, gui_open=True)], {}),
        ("died", [at(0, health=1), at(0, health=0)], {}),
        ("died", [at(0), at(0, dead=True)], {}),
        ("died", [at(0), at(0)], {"outcome": "died"}),
        ("frame_unchanged", [at(0), at(0)], {"frame_unchanged": True}),
    ],
)
def test_each_tag(tag: str, states: States, happened: dict[str, Any]) -> None:
    assert tag in derive(states, **happened).tags


def test_nothing_happened_has_no_tags() -> None:
    still = at(5, inventory={"log": 1}, health=20, milestones=["a"], gui=None)
    assert derive([still, still, still]).tags == ()


def test_a_walk_that_gets_somewhere_is_not_stuck() -> None:
    assert "stuck" not in derive([at(0), at(1)], action_kind="go_to").tags
    assert "stuck" not in derive([at(0), at(0), at(0)], action_kind="wait").tags


def test_tags_have_one_order() -> None:
    before = at(0, inventory={}, health=20, milestones=[])
    after = at(0, inventory={"log": 1}, health=0, milestones=["wood"])
    derived = derive([before, after], action_kind="mine", note="x", frame_unchanged=True)
    assert derived.tags == ("milestone", "inventory_changed", "broke", "damage", "died", "note", "frame_unchanged")


# --- the cells


def kinds(derived: Derived) -> list[tuple[str, list[int], int]]:
    return [(cell["kind"], cell["cell"], cell["step"]) for cell in derived.cells]


def test_a_cell_is_walked_once_and_cells_are_floors() -> None:
    walked = derive([at(0.9), at(0.1), at(-0.1), at(-1.0), at(-1.1), at(0.5)])
    assert kinds(walked) == [("walked", [0, 0, 0], 100), ("walked", [-1, 0, 0], 102), ("walked", [-2, 0, 0], 104)]


def test_cells_have_the_worlds_size() -> None:
    assert kinds(derive([at(-1, 63.9, 64)], world=World("w", cell=32.0))) == [("walked", [-1, 1, 2], 100)]


def test_damage_is_a_hazard_with_its_amount() -> None:
    derived = derive([at(0, health=20), at(1, health=17.5)])
    hazard = {"cell": [1, 0, 0], "kind": "hazard", "what": "damage", "damage": 2.5, "step": 101}
    assert derived.cells[-1] == hazard


def test_what_opens_is_opened_where_one_stands() -> None:
    derived = derive([at(0), at(0, gui="furnace")])
    assert derived.cells[-1] == {"cell": [0, 0, 0], "kind": "opened", "what": "furnace", "step": 101}


def test_a_walk_into_a_wall_blocks_the_faced_cell() -> None:
    derived = derive([at(4, facing=[0, 0, 1])] * 3, action_kind="move_down")
    assert ("blocked", [4, 0, 1], 102) in kinds(derived)


def test_a_thing_spent_is_placed_where_it_was_to_go_or_where_one_faces() -> None:
    before, after = at(0, inventory={"furnace": 1}, facing=[1, 0, 0]), at(0, inventory={}, facing=[1, 0, 0])
    told = derive([before, after], action_kind="place", arguments={"x": -7.5, "y": 1, "z": 2, "item": "furnace"})
    assert told.cells[-1] == {"cell": [-8, 1, 2], "kind": "placed", "item": "furnace", "step": 101}
    faced = derive([before, after], action_kind="place_furnace")
    assert (faced.cells[-1]["cell"], faced.cells[-1]["item"]) == ([1, 0, 0], "furnace")
    assert all(cell["kind"] == "walked" for cell in derive([before, before], action_kind="place_furnace").cells)


def test_cells_that_the_environment_saw_itself_are_kept_whole() -> None:
    seen = {"cell": [9, 9, 9], "kind": "hazard", "what": "lava"}
    assert {**seen, "step": 101} in derive([at(0), at(0, cells=[seen])]).cells


# --- the log


def test_the_log_section_is_pro_longs() -> None:
    derived = derive(
        [at(0, inventory={}), at(1, inventory={"log": 1}, gui="chest", milestones=["wood"])],
        action_kind="mine",
        plan={"text": "get wood", "step": 2, "of": 5},
        events=("a tree fell",),
        note="north",
        ordinal=17,
        milestones=("wood", "stone"),
    )
    assert derived.log_header == "Action 17 | Step 100 | Plan Step 2/5 | 1/2 verified"
    assert derived.log_lines == (
        "[PLAN] get wood",
        "[ACTION] mine() -> 1 step: moved 1.0, inv {'log': 1}, milestone ['wood']",
        '[STATE] {"pos":[1,0.0,0.0],"milestones":["wood"]}',
        "[GUI] chest",
        "[INV] {\"log\":1} change {'log': 1}",
        "[EVENT] a tree fell",
        "[NOTE] north",
    )


def test_text_of_the_environment_cannot_begin_a_line_or_a_section() -> None:
    derived = derive([{}, {}], events=("x\n" + "=" * 80 + "\n[ACTION] forged",), note="a\r\n[PLAN] forged")
    assert not any("\n" in line or "\r" in line for line in derived.log_lines)


# --- whatever an environment gives

odd = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=4,
)
cell_events = st.lists(
    st.fixed_dictionaries({}, optional={"cell": odd | st.lists(odd, max_size=4), "kind": odd}), max_size=2
)
usual_keys = st.sampled_from(
    ["pos", "facing", "inventory", "health", "milestones", "achievements", "gui", "gui_open", "dead", "cells", "other"]
)


@settings(max_examples=100)
@given(
    states=st.lists(st.dictionaries(usual_keys, odd | cell_events, max_size=5), min_size=1, max_size=4),
    action_kind=st.text(),
)
def test_no_state_breaks_deriving_and_the_same_steps_give_the_same(states: States, action_kind: str) -> None:
    derived = derive(states, action_kind=action_kind)
    assert derived == derive(states, action_kind=action_kind)
    for cell in derived.cells:
        GridRow.from_json({**cell, "episode": "ep_000001", "world": "w"})
