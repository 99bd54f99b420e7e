"""What a player of a KiCad task is told: each rule that saves trouble on a screen (the paper's Box 7), in our words."""

from __future__ import annotations

import re

import pytest

from scrubjay import Memory
from scrubjay.agent.driver_brief import driver_brief
from scrubjay.agent.skills import Skills
from scrubjay.environments.desktop.environment import Desktop
from scrubjay.environments.kicad.environment import STEPS, KiCad
from scrubjay.methods.named import make_method
from test_conversation import Says, act, turn_of
from test_kicad import needs_kicad

RULES = {
    "verify the focus before typing": r"Before you type, see that the field you mean has the focus",
    "never batch input with what opens the dialog": r"Never put input into the same plan as the action that opens the "
    r"dialog",
    "look before Return": r"Look before you press Return",
    "save and see the title bar": r"After you save, see it in the title bar",
    "verify, don't trust": r"success may have changed nothing: believe the screen",
    "change the approach": r"Where the screen did not change, don't do the same again: change the approach",
    "stop when durably done": r"Once the task is durably done, stop: take the action done",
}
EDITOR = {
    "hot keys act on the canvas, at the pointer": r"Hot keys act at the pointer, on the canvas: move there first",
    "a click after a dialog may be lost": r"A click right after a dialog closed may be lost",
    "a drag moves what is selected": r"A drag moves what was selected by a click before, and ends a little short",
    "what counts is saved": r"What counts is the saved schematic",
}


def holds(told: str, rules: dict[str, str]) -> list[str]:
    """The rules that are not in it."""
    text = " ".join(told.split())
    return [name for name, words in rules.items() if re.search(words, text) is None]


@needs_kicad
def test_the_brief_of_a_kicad_life_holds_each_rule(memory: Memory) -> None:
    environment, model = KiCad("supply"), Says(act("done"))
    skills = Skills(environment, memory)
    turn = turn_of(memory, world=environment.world, actions=environment.actions, calls=skills.calls)
    make_method("mfm").conversation(model, memory, skills).decide(turn)
    assert holds(model.shown[0][0], RULES | EDITOR) == []
    assert holds(driver_brief(turn, ".", skills.rules), RULES | EDITOR) == []
    assert environment.usual_steps == STEPS == 100


def test_whoever_uses_a_desktop_is_told_the_rules_of_any_screen() -> None:
    told = Desktop([]).rules
    assert holds(told, RULES) == []
    assert holds(told, EDITOR) == list(EDITOR)


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_that_is_not_there_is_missed(rule: str) -> None:
    told = " ".join(Desktop([]).rules.split())
    assert holds(re.sub(RULES[rule], "", told), RULES) == [rule]
