"""Worthiness: four scaled terms, their weights, and what they are measured against."""

from __future__ import annotations

import math
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from practice import WORKS, Practice, state
from scrubjay import Memory
from scrubjay.errors import InvalidInput
from scrubjay.memory.forgetting import forget
from scrubjay.parametric.categories import Categories
from scrubjay.parametric.redundancy import alike, redundancies
from scrubjay.parametric.scoring import due_skills
from scrubjay.parametric.skills import Execution, Skill, skills_of
from scrubjay.parametric.weighing import search
from scrubjay.parametric.worthiness import Scored, Terms, Weights, heuristic, score, terms_of, top

OAK = "def craft_oak():\n    obtain('oak_log', 1)\n    craft('oak_planks', 4)\n"
BIRCH = OAK.replace("oak", "birch")
ZOMBIE = "def kill_zombie():\n    equip('iron_sword')\n    attack('zombie', 1)\n"


def skill(name: str, code: str = OAK, category: str | None = "craft", runs: str = "", lives: int = 1) -> Skill:
    """A skill whose runs are written as + and -, all of life 1 and one context."""
    return Skill(name, code, category, tuple(Execution(one == "+") for one in runs), lives)


# --- redundancy


def textbook(codes: list[str], parameterised: list[str]) -> list[float]:
    """The same by the letter: grams within padded words, smoothed idf, cosine."""

    def grams(text: str) -> Counter[str]:
        words = [f" {word} " for word in text.lower().split()]
        return Counter(w[i : i + n] for w in words for n in (3, 4, 5) for i in range(len(w) - n + 1))

    documents = [grams(text) for text in [*codes, *parameterised]]
    holding = Counter(gram for one in documents for gram in one)
    idf = {gram: math.log((1 + len(documents)) / (1 + n)) + 1 for gram, n in holding.items()}
    vectors = [{gram: n * idf[gram] for gram, n in one.items()} for one in documents]

    def cosine(a: dict[str, float], b: dict[str, float]) -> float:
        norm = math.sqrt(sum(v * v for v in a.values()) * sum(v * v for v in b.values()))
        return sum(v * b.get(gram, 0.0) for gram, v in a.items()) / norm if norm else 0.0

    return [max(cosine(one, other) for other in vectors[len(codes) :]) for one in vectors[: len(codes)]]


@given(
    st.lists(st.text("abc_( \n", max_size=30), min_size=1, max_size=5),
    st.lists(st.text("abc ", max_size=20), min_size=1),
)
def test_redundancy_is_that_of_the_textbook(codes: list[str], parameterised: list[str]) -> None:
    assert redundancies(codes, parameterised) == pytest.approx(textbook(codes, parameterised), abs=1e-5)


def test_redundancy_is_that_of_the_textbook_with_thousands_of_grams() -> None:
    rng = random.Random(0)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=6)) for _ in range(600)]
    codes = [" ".join(rng.choices(words, k=60)) for _ in range(40)]
    found = redundancies([*codes, codes[3]], codes[10:] + codes[3:4])
    assert found == pytest.approx(textbook([*codes, codes[3]], codes[10:] + codes[3:4]), abs=1e-5)
    assert found[3] == found[-1] == 1.0


def test_twins_are_redundant_and_unrelated_skills_hardly() -> None:
    twin, other = redundancies([BIRCH, ZOMBIE], [OAK])
    assert twin > 0.35 > 3 * other
    assert redundancies([OAK], [OAK]) == [1.0]
    assert redundancies([OAK], []) == [0.0]
    assert redundancies(["", "é" * 30_000], [OAK]) == [0.0, 0.0]


def test_each_two_are_compared_as_one_with_the_rest() -> None:
    codes = [OAK, BIRCH, ZOMBIE]
    found = alike(codes)
    assert [found[i][i] for i in range(3)] == pytest.approx([1.0, 1.0, 1.0])
    assert found[0][1] == found[1][0] > found[0][2]
    assert alike([]) == []


# --- terms


def test_cost_is_calls_times_length_scaled_so_that_the_largest_is_one() -> None:
    often, seldom, never = terms_of([skill("a", runs="+" * 50), skill("b", runs="+"), skill("c")], [])
    assert (often.cost, never.cost) == (1.0, 0.0)
    assert 0.3 < seldom.cost < 0.8  # a fiftieth of it is not nothing


def test_calls_of_lives_long_ago_count_less() -> None:
    old = Skill("old", OAK, "craft", (Execution(True, life=1),) * 10, lives=5)
    new = Skill("new", OAK, "craft", (Execution(True, life=5),) * 10, lives=5)
    first, second = terms_of([old, new], [])
    assert first.cost < second.cost == 1.0


def test_stability_is_the_rate_less_its_variance_over_contexts() -> None:
    here, there = (Execution(True, "a"),) * 5, (Execution(False, "b"),) * 5
    split, even = Skill("split", OAK, None, here + there), skill("even", runs="+-" * 5)
    assert terms_of([split], [])[0].stability == pytest.approx(0.5 * (1 - 0.25))
    assert terms_of([even], [])[0].stability == pytest.approx(0.5)
    assert terms_of([skill("none")], [])[0].stability == 0.0


def test_forgetting_is_risked_where_the_category_has_one_in_the_weights() -> None:
    known = [skill("known", OAK, "craft")]
    found = terms_of([skill("a", BIRCH, "craft"), skill("b", ZOMBIE, "combat")], known)
    assert [one.forgetting for one in found] == [1.0, 0.0]
    assert found[0].redundancy > found[1].redundancy


def test_a_skill_in_the_weights_is_compared_with_the_others_there() -> None:
    known = [skill("oak", OAK, "craft"), skill("zombie", ZOMBIE, "combat")]
    oak, birch = terms_of([known[0], skill("birch", BIRCH, "craft")], known)
    assert oak.redundancy < 0.2 < birch.redundancy
    assert (oak.forgetting, birch.forgetting) == (0.0, 1.0)


def test_worthiness_weighs_the_terms_and_orders_equal_ones_by_name() -> None:
    found = score([skill("b", runs="++"), skill("a", runs="++"), skill("c", runs="--")], weights=Weights(1, 1, 1, 1))
    assert [one.skill.name for one in found] == ["a", "b", "c"]
    assert found[0].value == pytest.approx(2.0)
    assert score([]) == []


@given(st.lists(st.sampled_from([0.1, 0.4, 0.5, 0.9]), max_size=12), st.sampled_from([0.1, 0.25, 0.5, 1.0]))
def test_the_upper_share_is_by_the_quantile_with_ties_in(values: list[float], q: float) -> None:
    scored = [score([skill(f"s{i}", runs="+")])[0] for i in range(len(values))]
    scored = [type(one)(one.skill, one.terms, value) for one, value in zip(scored, values, strict=True)]
    chosen = top(scored, q)
    assert (
        [one.value for one in chosen] == [v for v in values if v >= np.quantile(values, 1 - q) - 1e-12]
        if values
        else not chosen
    )
    assert bool(chosen) == bool(values)  # one candidate is in, whatever its value


def test_the_one_that_stands_at_the_quantile_is_in() -> None:
    scored = [Scored(skill(f"s{i:02d}"), Terms(0, 0, 0, 0), float(i)) for i in range(11)]
    assert [one.value for one in top(scored, 0.7)] == [3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]


def test_the_heuristic_asks_for_four_in_five_and_fifteen_calls() -> None:
    runs = {"yes": "+" * 12 + "---", "few": "+" * 14, "bad": "+" * 11 + "----", "none": ""}
    assert [one.name for one in heuristic([skill(name, runs=one) for name, one in runs.items()])] == ["yes"]


# --- weights


def test_a_grid_search_finds_that_what_is_called_is_worth_it() -> None:
    rng = random.Random(0)
    skills = [
        skill(
            f"s{i:02d}", OAK.replace("oak", f"{chr(97 + i)}{i}{i * 7}"), rng.choice(["craft", "gather"]), "+" * (2 * i)
        )
        for i in range(12)
    ]
    best, *_, worst = search(skills, 4)
    assert best.weights.cost > 0
    assert best.value > worst.value
    assert len(search(skills, 4, grid=(0.0, 1.0))) == 16


def test_there_is_nothing_to_search_where_there_is_no_choice() -> None:
    with pytest.raises(InvalidInput, match="no choice"):
        search([skill("a")], 1)


# --- over a memory


def test_skills_are_read_with_their_calls(memory: Memory) -> None:
    with memory.live("t", "w") as life:
        practice = Practice(memory, life)
        practice.write("make-pickaxe", WORKS)
        for outcome, carried in (("success", {"pickaxe": 1}), ("failure", {}), ("stopped", {})):
            practice.call("make-pickaxe", "make a pickaxe", state({}), state(carried), outcome)
    (found,) = skills_of(memory, Categories.default())
    assert (found.category, [one.ok for one in found.executions]) == ("craft", [True, False])
    (due,) = due_skills(memory)
    assert due.is_worth_it
    assert due.fired is None
    assert "make-pickaxe (craft)" in str(due)
    assert due.to_json()["executions"] == 2


def test_a_call_that_says_it_succeeded_and_brought_nothing_failed(memory: Memory) -> None:
    with memory.live("t", "w") as life:
        practice = Practice(memory, life)
        practice.write("collect-item", "def collect_item(item):\n    collect(item)\n", "gather")
        practice.write("go-home", "def go_home():\n    go_to(1, 2)\n")
        for carried in ({}, {"coal": 1}, {"sapling": 1}, {}):
            last = practice.call("collect-item", "on", state({}), state(carried), arguments={"item": "coal"})
        practice.call("go-home", "go home", state({}), state({}))
    forget(memory.layout, last, "a test")
    collect, home = skills_of(memory, Categories.default())
    assert [one.ok for one in collect.executions] == [False, True, False, True]  # of the last nothing can be seen
    assert [one.ok for one in home.executions] == [True]  # no verifier knows such a skill
