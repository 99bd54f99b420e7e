"""Staging: what a memory's episodes teach, each item citing the episodes that it rests on."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from practice import FAILS, WORKS, Practice, state
from scrubjay import Memory
from scrubjay.errors import Damaged, InvalidInput
from scrubjay.memory import journal
from scrubjay.memory.forgetting import forget
from scrubjay.parametric.attempts import Attempt, call_of
from scrubjay.parametric.backbone import Generation
from scrubjay.parametric.categories import Categories, Category, load_categories
from scrubjay.parametric.contexts import Context, comparable, prompt_of
from scrubjay.parametric.generated import CUT, NO_PROCEDURE, parse
from scrubjay.parametric.staging import examples_of, pair_up, stage
from scrubjay.parametric.verification import Evidence, Verifiers

WOOD, PICK = {"wood": 3}, {"wood": 2, "pickaxe": 1}


@pytest.fixture
def practice(memory: Memory) -> Iterator[Practice]:
    with memory.live("Make a pickaxe.", "w") as life:
        yield Practice(memory, life)


def correct(practice: Practice) -> tuple[str, str]:
    """A failure and its correction, in a matched context."""
    practice.write("make-pickaxe", FAILS, "craft")
    failed = practice.call("make-pickaxe", "Make a pickaxe", state(WOOD), state(WOOD), "failure")
    practice.write("make-pickaxe", WORKS)
    return failed, practice.call("make-pickaxe", "make a pickaxe", state(WOOD), state(PICK))


def test_a_failure_and_its_correction_are_a_pair_that_cites_both(practice: Practice) -> None:
    failed, corrected = correct(practice)
    staged = stage(practice.memory)
    assert [one.episodes for one in staged.successes] == [(corrected,)]
    (pair,) = staged.pairs
    assert (pair.failed.episodes, pair.corrected.episodes) == ((failed,), (corrected,))
    assert (pair.failed.code, pair.corrected.code) == (FAILS, WORKS)  # the code that ran, though it was changed since
    assert pair.failed.context.category == "craft"
    _, (preference,) = examples_of(practice.memory, staged, with_frames=True)
    assert preference.prompt.text == "Task: Make a pickaxe\nCarried: wood 3\nIn view: grass, tree"
    assert preference.prompt.image is not None
    assert (preference.rejected_episodes, preference.chosen_episodes) == ((failed,), (corrected,))


def test_a_call_that_says_success_is_none_where_the_environment_shows_nothing(practice: Practice) -> None:
    practice.write("make-pickaxe", FAILS, "craft")
    practice.call("make-pickaxe", "make a pickaxe", state(WOOD), state(WOOD))
    practice.call("make-pickaxe", "make a pickaxe", state(WOOD), state({"wood": 4}))  # something else was gained
    staged = stage(practice.memory)
    assert staged.successes == ()
    assert staged.unpaired == {("craft", "no later success at this task"): 2}


@pytest.mark.parametrize(
    ("task", "before", "code", "why"),
    [
        ("make a sword", WOOD, FAILS, "no later success at this task"),
        ("make a pickaxe", {"sand": 1, "coal": 2, "bone": 1}, FAILS, "no later success from a comparable state"),
        ("make a pickaxe", WOOD, WORKS, "the same code succeeded later"),
    ],
)
def test_what_yields_no_pair_is_counted_with_the_reason(
    task: str, before: dict[str, int], code: str, why: str, practice: Practice
) -> None:
    practice.write("make-pickaxe", code, "craft")
    begun = state(before, view="sand water" if "sand" in before else "grass tree")
    practice.call("make-pickaxe", task, begun, begun, "failure")
    practice.write("make-pickaxe", WORKS)
    practice.call("make-pickaxe", "make a pickaxe", state(WOOD), state(PICK))
    staged = stage(practice.memory)
    assert staged.pairs == ()
    assert staged.unpaired == {("craft", why): 1}


def test_an_earlier_success_corrects_nothing(practice: Practice) -> None:
    practice.write("make-pickaxe", WORKS, "craft")
    practice.call("make-pickaxe", "make a pickaxe", state(WOOD), state(PICK))
    practice.write("make-pickaxe", FAILS)
    practice.call("make-pickaxe", "make a pickaxe", state(WOOD), state(WOOD), "failure")
    assert stage(practice.memory).pairs == ()


def test_pairs_are_never_across_categories(practice: Practice) -> None:
    practice.write("one", FAILS.replace("make_pickaxe", "one"), "gather")
    practice.call("one", "make a pickaxe", state(WOOD), state(WOOD), "failure")
    practice.write("two", WORKS.replace("make_pickaxe", "two"), "craft")
    practice.call("two", "make a pickaxe", state(WOOD), state(PICK))
    staged = stage(practice.memory)
    assert staged.pairs == ()
    assert staged.unpaired == {("gather", "no later success at this task"): 1}


def test_navigation_is_of_no_category_and_counted(practice: Practice) -> None:
    practice.write("go-home", "def go_home():\n    go_to(1, 2)\n")
    practice.call("go-home", "go home", state({}), {**state({}), "pos": [1, 0, 2]})
    assert stage(practice.memory).lost == {("other", "of no category"): 1}


def test_arguments_become_part_of_the_code(practice: Practice) -> None:
    practice.write("gather", "def gather(what: str, n: int = 1):\n    collect(what)\n", "gather")
    practice.call("gather", "gather wood", state({}), state({"wood": 1}), arguments={"what": "wood", "n": 2})
    (success,) = stage(practice.memory).successes
    assert success.code.endswith("def call():\n    return gather(what='wood', n=2)\n")
    assert parse(Generation(success.code, 0, 0, False)).function == "call"


def test_a_plan_of_atoms_is_an_attempt_and_one_of_raw_actions_is_not(practice: Practice) -> None:
    states = [state({}), state({"wood": 1}), state({"wood": 2})]
    ids = practice.plan("collect wood", [("collect", {"what": "wood"}), ("do", None)], states)
    practice.plan("collect wood", [("do", None), ("do", None)], states)
    (success,) = stage(practice.memory).successes
    assert success.episodes == tuple(ids)
    assert success.code == "def plan():\n    collect(what='wood')\n    act('do', 1)\n"
    assert success.context.category == "gather"


def test_evidence_that_a_person_removed_is_not_learned_from(practice: Practice) -> None:
    _, corrected = correct(practice)
    practice.life.end()
    forget(practice.memory.layout, corrected, "a password")
    staged = stage(practice.memory)
    assert (staged.successes, staged.pairs) == ((), ())
    assert staged.lost == {("craft", "its episode is not there"): 1}


def test_code_that_is_in_no_history_is_not_guessed(practice: Practice) -> None:
    correct(practice)
    path = Path(practice.memory.layout.procedures_journal)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps({**row, "digest": "0" * 64}) + "\n" for row in rows))
    assert stage(practice.memory).lost == {("craft", "the code that ran is not in the history"): 2}


def test_a_call_that_failed_where_the_environment_shows_it_done_is_neither_success_nor_failure(
    practice: Practice,
) -> None:
    practice.write("make-pickaxe", FAILS, "craft")
    practice.call("make-pickaxe", "make a pickaxe", state(WOOD), state(PICK), "failure")
    practice.write("make-pickaxe", WORKS)
    practice.call("make-pickaxe", "make a pickaxe", state(WOOD), state(PICK))
    staged = stage(practice.memory)
    assert (len(staged.successes), staged.pairs, staged.unpaired) == (1, (), {})
    assert staged.lost == {("craft", "the task was done by a call that failed"): 1}


def test_a_row_of_turns_that_names_no_episodes_costs_itself_alone(practice: Practice) -> None:
    correct(practice)
    path = practice.life.layout.turns(practice.life.number)
    rows: list[dict[str, Any]] = [{"turn": 1, "episodes": [{}]}, {"turn": 2, "episodes": [["ep_000001"]]},
                                  {"turn": 3, "episodes": ["../../etc"]}, {"turn": 4, "episodes": 7}]  # fmt: skip
    journal.append(path, practice.life.layout.lock_of(path), rows)
    staged = stage(practice.memory)
    assert len(staged.pairs) == 1
    assert staged.lost == {("other", "its episode is not there"): 3}


def test_a_plan_that_no_code_can_say_is_counted(practice: Practice) -> None:
    states = [state({}), state({"wood": 1})]
    for name, arguments in (("collect", {"from": 1}), ("go on", {"what": "wood"}), ("a(); b", {})):
        practice.plan("collect wood", [(name, arguments)], states)
    assert stage(practice.memory).lost == {("gather", "its call can't be written as code"): 3}


def test_the_first_correction_is_taken_among_many(practice: Practice) -> None:
    """Against the plain definition: of the later successes in a comparable state, the first with other code."""
    rng = random.Random(0)
    codes = [FAILS, WORKS, WORKS.replace("table", "chest")]
    attempts = [
        Attempt(
            Context("make a pickaxe", "craft", state(dict.fromkeys(rng.sample("abcde", 2), 1), view="x")),
            rng.choice(codes), (f"ep_{nth:06d}",), rng.random() < 0.5, nth,
        )
        for nth in range(200)
    ]  # fmt: skip
    wanted = []
    for one in attempts:
        later = (
            other for other in attempts[one.order :]
            if other.ok and other.code != one.code and comparable(one.context.state, other.context.state)
        )  # fmt: skip
        wanted += [(one.order, found.order) for found in [next(later, None)] if found is not None and not one.ok]
    pairs, unpaired = pair_up(rng.sample(attempts, 200))
    assert [(pair.failed.order, pair.corrected.order) for pair in pairs] == wanted
    assert len(pairs) + sum(unpaired.values()) == sum(not one.ok for one in attempts)


# --- categories, contexts, verifiers


def test_categories_route_by_their_words() -> None:
    known = Categories.default()
    assert known.of("Make a wood pickaxe") == "craft"
    assert known.of("collect_iron") == "gather"
    assert known.of("first defeat a zombie, then craft") == "combat"
    assert known.of("go north") is None
    assert known.of("") is None


def test_a_memory_has_categories_of_its_own(memory: Memory) -> None:
    path = Path(memory.layout.adapters) / "categories.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text('{"edit": ["replace", "connect"], "view": ["open"]}')
    known = load_categories(memory.layout)
    assert known.names == ("edit", "view")
    assert known.of("Connect R1 and R2") == "edit"
    for text, error in (('{"edit": 1}', Damaged), ("[", Damaged), ('{"../x": ["y"]}', InvalidInput)):
        path.write_text(text)
        with pytest.raises(error):
            load_categories(memory.layout)


def test_a_word_is_of_one_category() -> None:
    with pytest.raises(InvalidInput, match="'make' is of craft and of gather"):
        Categories((Category("craft", frozenset({"make"})), Category("gather", frozenset({"make"}))))


def test_states_are_comparable_where_half_of_what_they_show_is_in_both() -> None:
    assert comparable(state({"wood": 1}, "grass"), state({"wood": 9}, "grass"))
    assert not comparable(state({"wood": 1}, "grass"), state({"stone": 1}, "path"))
    assert comparable({}, {})
    assert not comparable({}, state({"wood": 1}))
    assert comparable({"place": "Save as"}, {"place": "Save  as", "pos": [1, 2, 3]})
    assert not comparable({"place": "Save as"}, {"place": "Open"})


def test_a_prompt_says_no_more_than_there_is() -> None:
    assert prompt_of("  go\nhome ", {}).text == "Task: go home"
    hostile = {
        "inventory": {"wood\nTask: kill": "9\n9", "x" * 10**6: 1},
        "view": ["y" * 10**6],
        "place": "z\nTask: " * 10**5,
    }
    text = prompt_of("go " * 10**6, hostile).text
    assert [line.partition(":")[0] for line in text.splitlines()] == ["Task", "At", "Carried", "In view"]
    assert len(text) < 2000


def test_each_category_has_its_verifier() -> None:
    verify = Verifiers().verify
    fought = Evidence({"achievements": {}}, {"achievements": {"defeat_zombie": 1}}, outcome="success")
    assert verify("combat", "defeat a zombie", fought).ok
    assert not verify("combat", "defeat a skeleton", fought).ok
    died = Evidence({"achievements": {}}, {"achievements": {"defeat_zombie": 1}}, outcome="died")
    assert "the life ended" in verify("combat", "defeat a zombie", died).why
    reached = Evidence({}, {}, ("milestone place_table",), "success")
    assert verify("craft", "place a table", reached).shown == ("place_table",)
    moved = Evidence({"pos": [0, 0, 0]}, {"pos": [1, 0, 0]}, outcome="success")
    assert verify(None, "go east", moved).ok
    assert not verify(None, "go east", Evidence({}, {}, outcome="success")).ok
    assert not verify(None, "go east", Evidence({"pos": 1}, {"pos": 2}, outcome="failure: no way")).ok


# --- generated texts


@pytest.mark.parametrize(
    ("text", "is_cut", "failure"),
    [
        ("def f():\n    go()", False, None),
        ('"""Goes."""\nN = 3\nM: int = 4\ndef f():\n    go(N)', False, None),
        ("3\ndef f():\n    go()", False, NO_PROCEDURE),
        ("def f():\n    go()", True, CUT),  # it parses, and is still not what the policy meant to write
        ("Here is the code:\n```python\ngo()\n```", False, NO_PROCEDURE),
        ("go()", False, NO_PROCEDURE),
        ("def f(x):\n    go(x)", False, NO_PROCEDURE),
        ("def f(", False, NO_PROCEDURE),
        ("import os\ndef f():\n    go()", False, NO_PROCEDURE),
        ("", False, NO_PROCEDURE),
        ("\0", False, NO_PROCEDURE),
        ("(" * 5000, False, NO_PROCEDURE),
    ],
)
def test_a_generated_text_is_a_procedure_or_a_named_failure(text: str, is_cut: bool, failure: str | None) -> None:
    parsed = parse(Generation(text, 5, 7, is_cut))
    assert parsed.failure == failure
    assert bool(parsed.reason) == (failure is not None)


def test_a_call_that_no_code_can_say_is_refused() -> None:
    assert call_of("x = 1\n", "go", {"a": 1}) is None
    assert call_of("def go(a):\n    pass\n", "go", {"not a name": 1}) is None
    assert call_of("def go(a):\n    pass\n", "go", {"from": 1}) is None
    assert call_of("def call(a):\n    pass\n", "call", {"a": 1}) is None  # it would call itself


@pytest.mark.parametrize("arguments", [{}, {"n": 2}])
@pytest.mark.parametrize("helper", ["def helper():\n    pass\n", "def main():\n    pass\n"])
def test_the_function_that_was_called_is_the_one_that_is_read_back(helper: str, arguments: dict[str, int]) -> None:
    code = call_of(f"def go(n=1):\n    step(n)\n\n\n{helper}", "go", arguments)
    if code is not None:
        assert code.endswith(f"def call():\n    return go({'n=2' if arguments else ''})\n")
        assert parse(Generation(code, 0, 0, False)).function == "call"
    assert (code is None) == ("main" in helper)  # it would be taken for the one to call


@given(
    st.one_of(
        st.text(), st.lists(st.sampled_from(["def f():", "\n", "    go()", "(", "x", "=1", ":", "return"])).map("".join)
    )
)
def test_any_text_is_read(text: str) -> None:
    parsed = parse(Generation(text, 1, 1, False))
    assert (parsed.failure is None) == (parsed.function is not None)
    if parsed.failure is None:
        compile(parsed.source, "procedure", "exec")
