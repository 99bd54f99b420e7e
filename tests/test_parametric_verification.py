"""Verifiers: what the environment shows against what the task asks for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from practice import WORKS, Practice, state
from scrubjay import Memory
from scrubjay.errors import InvalidInput
from scrubjay.parametric.categories import Categories, Category, load_categories, words_of
from scrubjay.parametric.contexts import normal
from scrubjay.parametric.skills import skills_of
from scrubjay.parametric.verification import Evidence, Verifiers


def is_done(category: str, task: str, *, carried: str = "", reached: str = "") -> bool:
    """With one thing more carried, one achievement more reached."""
    after = {"inventory": {carried: 1} if carried else {}, "achievements": {reached: 1} if reached else {}}
    return Verifiers().verify(category, task, Evidence({}, after, outcome="success")).ok


@pytest.mark.parametrize(
    ("category", "task", "carried", "reached"),
    [
        ("craft", "make wood pickaxe", "wood", ""),  # a material is not the thing
        ("craft", "make stone pickaxe", "stone", "collect_stone"),
        ("craft", "make stone pickaxe", "", "place_stone"),
        ("craft", "make a pickaxe from wood", "wood", ""),
        ("craft", "place stone", "stone", "collect_stone"),  # the same thing, and another deed
        ("gather", "collect sapling", "", "place_sapling"),
        ("gather", "collect iron", "42", ""),  # a name without a word is in no task
        ("gather", "collect iron", "_", ""),
        ("gather", "挖铁", "木材", ""),
        ("combat", "defeat the zombie with a sword", "sword", "make_sword"),
    ],
)
def test_something_else_that_the_task_has_words_of_does_not_do_it(
    category: str, task: str, carried: str, reached: str
) -> None:
    assert not is_done(category, task, carried=carried, reached=reached)


@pytest.mark.parametrize(
    ("category", "task", "carried", "reached"),
    [
        ("craft", "make a wood_pickaxe", "wood_pickaxe", ""),
        ("craft", "Make a pickaxe, out of wood.", "pickaxe", ""),
        ("craft", "make a table and a pickaxe", "", "make_pickaxe"),
        ("craft", "place table", "", "place_table"),
        ("gather", "go to the tree and collect wood for a table", "wood", ""),
        ("gather", "gather 3 oak log", "oak_log", ""),
        ("gather", "drink water", "", "collect_drink"),
        ("gather", "Hole Äpfel: collect äpfel", "Äpfel", ""),
        ("combat", "kill 2 zombie", "", "defeat_zombie"),
    ],
)
def test_what_the_task_asks_for_does_it(category: str, task: str, carried: str, reached: str) -> None:
    assert is_done(category, task, carried=carried, reached=reached)


def test_tasks_that_differ_by_a_number_or_are_in_other_letters_are_not_the_same() -> None:
    assert normal("Make_a wood-Pickaxe!") == normal("make wood pickaxe")
    assert normal("place R1") != normal("place R2")
    assert normal("收集木材") != normal("挖铁") != ""
    assert words_of("Löffel") == ["löffel"]


def test_words_of_a_category_are_words_as_tasks_have_them(memory: Memory) -> None:
    path = Path(memory.layout.adapters) / "categories.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"edit": ["Replace"]}))
    assert load_categories(memory.layout).of("replace a resistor") == "edit"
    with pytest.raises(InvalidInput, match="'pick up': one word"):
        Categories((Category("edit", frozenset({"pick up"})),))


def test_what_a_call_is_for_is_read_from_its_plan_whatever_its_description_says(memory: Memory) -> None:
    with memory.live("Make things.", "w") as life:
        practice = Practice(memory, life)
        memory.procedures.create(
            "do-it",
            "Make it for whoever stands near a tree",
            code=WORKS.replace("make_pickaxe", "do_it"),
            category="craft",
        )
        practice.call("do-it", "make a pickaxe", state({}), state({"pickaxe": 1}))
        practice.call("do-it", "make a pickaxe", state({}), state({"tree": 1}))
    (skill,) = skills_of(memory, Categories.default())
    assert [one.ok for one in skill.executions] == [True, False]


def test_of_all_achievements_of_crafter_each_does_its_own_task_alone() -> None:
    from crafter import constants

    names = list(constants.achievements)
    for task in names:
        said = task.replace("_", " ")
        category = Categories.default().of(said)
        if category is not None:  # but waking up
            assert [one for one in names if is_done(category, said, reached=one)] == [task]
            carried = [one for one in constants.items if is_done(category, said, carried=one)]
            assert carried in ([], [task.partition("_")[2]])
