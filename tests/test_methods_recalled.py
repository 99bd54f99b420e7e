"""Memories that put something before a model in each turn: lessons, skills, plans, recipes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corridor import Always, Corridor
from scrubjay import Memory
from scrubjay.agent.loop import Run
from scrubjay.agent.skills import Skills
from scrubjay.memory.jsonio import Json
from scrubjay.memory.procedures import Run as Call
from scrubjay.methods.jarvis1 import Jarvis1
from scrubjay.methods.likeness import likeness
from scrubjay.methods.named import make_method
from scrubjay.methods.optimus1 import Optimus1
from scrubjay.methods.reflexion import Reflexion
from scrubjay.methods.voyager import Voyager
from scrubjay.methods.worked import goal_of, past_plans, recipes
from test_conversation import Says, act, turn_of


class Workshop(Corridor):
    """The corridor, in which reaching a milestone takes wood, and the second one a three as well."""

    def _info(self) -> Json:
        info = super()._info()
        reached = len(self._reached)
        carried = {"wood": 5 - reached, "three": int(reached == 1), "six": int(reached == 2)}
        info["state"]["inventory"] = {item: count for item, count in carried.items() if count}
        return info


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    """A life that reached both milestones and went on, and one that died."""
    memory = Memory.create(tmp_path_factory.mktemp("worked") / "m")
    Run(Workshop(), Always(("right", 3)), memory, steps=9).run()
    Run(Workshop(), Always(("left", 3)), memory, steps=3).run()
    return memory


def turn(memory: Memory, **changes: Any) -> Any:
    values: Json = {"known_milestones": ("three", "six"), "milestones": (), "life": 3, "task": "Walk.", **changes}
    return turn_of(memory, **values)


def test_plans_and_recipes_are_what_the_environment_verified(worked: Memory) -> None:
    plans = list(past_plans(worked))
    assert [(plan.life, plan.milestones) for plan in plans] == [
        (1, ("three",)), (1, ("six",)), (1, ()), (2, ()), (2, ()),
    ]  # fmt: skip
    assert plans[0].line() == "reached three: as always: right x3 [ep_000001]"
    assert {name: one.took for name, one in recipes(worked).items()} == {
        "three": (("wood", 1),),
        "six": (("three", 1), ("wood", 1)),
    }
    assert goal_of(turn(worked, milestones=("three",))) == "six Walk."


def test_optimus_tells_the_way_to_the_goal(worked: Memory) -> None:
    told = Optimus1().recalled(worked, turn(worked, milestones=("three",)))
    assert told[0].startswith("recipe six took three 1, wood 1 [ep_")
    assert told[1] == "plan that worked, reached six: as always: right x3 [ep_000002]"
    assert Optimus1().recalled(worked, turn(worked, known_milestones=("nine",))) == []


def test_jarvis_tells_plans_of_the_same_goal_and_look_first(worked: Memory) -> None:
    goal_six = Jarvis1().recalled(worked, turn(worked, milestones=("three",), frame=np.zeros((4, 6, 3), np.uint8)))
    assert [line.split(":")[0] for line in goal_six] == ["reached six", "reached three"]
    goal_three = Jarvis1().recalled(worked, turn(worked))
    assert goal_three[0].startswith("reached three")


def test_jarvis_has_nothing_to_tell_at_first(tmp_path: Path) -> None:
    memory = Memory.create(tmp_path / "m")
    assert Jarvis1().recalled(memory, turn(memory)) == []


def test_reflexion_asks_for_a_lesson_and_shows_the_last_three(tmp_path: Path) -> None:
    memory = Memory.create(tmp_path / "m")
    assert Reflexion().recalled(memory, turn(memory, life=1)) == []
    Run(Corridor(), Always(("left", 3)), memory, steps=3).run()
    (asked,) = Reflexion().recalled(memory, turn(memory, life=2))
    assert "life 1 ended (died) after reaching nothing" in asked
    memory.documents.append("lessons.md", "# Lessons\n- life 1: left kills; go right.\n")
    assert Reflexion().recalled(memory, turn(memory, life=2)) == ["lesson - life 1: left kills; go right."]
    memory.documents.append("lessons.md", "".join(f"- life 1: {n}\n" for n in range(5)))
    assert [line[-1] for line in Reflexion().recalled(memory, turn(memory, life=2))] == ["2", "3", "4"]


def test_voyager_shows_skills_that_worked_nearest_first(tmp_path: Path) -> None:
    memory = Memory.create(tmp_path / "m")
    names = {"dig": "Digs stone.", "chop": "Chops a tree for wood.", "swim": "Swims.", "fail": "Gets wood, or fails."}
    for name, description in names.items():
        memory.procedures.create(name, description, code=f"def {name}() -> None:\n    pass\n")
        outcome = "failure" if name == "fail" else "success"
        memory.procedures.record(Call(name, outcome, arguments={}, episodes=(), steps=1, seconds=0.1))
    told = Voyager().recalled(memory, turn(memory, task="Get wood from a tree."))
    assert told[0] == "skill chop(): Chops a tree for wood."
    assert sorted(told[1:]) == ["skill dig(): Digs stone.", "skill swim(): Swims."]
    Run(Corridor(), Always(("wait", 1)), memory, steps=1).run()
    memory.procedures.disable("chop", "it failed [ep_000001]")
    assert len(Voyager().recalled(memory, turn(memory))) == 2


@pytest.mark.parametrize("name", ["jarvis1", "optimus1"])
def test_what_is_recalled_stands_in_the_block(name: str, worked: Memory) -> None:
    model = Says(act("wait"))
    method = make_method(name)
    method.conversation(model, worked, Skills(Corridor(), worked)).decide(turn(worked, actions=("wait",)))
    text = str(model.shown[0][1][0].parts[0])
    assert "[RECALLED] from earlier" in text
    assert "reached three: as always: right x3 [ep_000001]" in text


@given(st.text(max_size=30), st.lists(st.text(max_size=30), max_size=5))
def test_likeness_is_between_nothing_and_the_same(query: str, texts: list[str]) -> None:
    values = likeness(query, texts)
    assert len(values) == len(texts)
    assert all(0 <= value <= 1 for value in values)
    words = [word for word in query.replace("_", " ").split() if word.isalnum()]
    if words:
        assert likeness(query, [query])[0] == pytest.approx(1)
    assert likeness("make a stone_pickaxe", ["stone pickaxe", "wood"])[1] == 0
