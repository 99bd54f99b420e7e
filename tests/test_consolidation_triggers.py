"""When it is time to consolidate: each reason at its edge, and the loop's hook over a real memory."""

from __future__ import annotations

from typing import Any

import pytest

from conftest import live_some
from scrubjay import Memory
from scrubjay.agent.consolidation import Consolidation, Outcome
from scrubjay.agent.consolidation_turns import ConsolidationTurns
from scrubjay.agent.expectations import Expectation
from scrubjay.agent.triggers import Calls, Signals, When, failing, has_died, reason_of
from scrubjay.errors import InvalidInput, ModelUnavailable
from scrubjay.memory import journal
from scrubjay.memory.jsonio import Json
from scrubjay.memory.lives import Life
from scrubjay.memory.procedures import Procedures, Run
from scrubjay.memory.records import Row
from scrubjay.models.consolidating import Evidence, Judge, Proposal

# --- pure


def test_every_so_many_turns() -> None:
    when = When(every=5)
    assert reason_of(when, Signals(turn=4)) is None
    assert reason_of(when, Signals(turn=5)) == "5 turns"
    assert reason_of(when, Signals(turn=9, last=5)) is None
    assert reason_of(when, Signals(turn=10, last=5)) == "5 turns"
    assert reason_of(When(every=None), Signals(turn=1000)) is None


def test_death_comes_first_and_each_reason_can_be_left_out() -> None:
    signals = Signals(1, 0, died=True, contradictions=("health: 3",), failing=("dig",))
    assert reason_of(When(), signals) == "death"
    assert reason_of(When(on_death=False), signals) == "contradicted: health: 3"
    assert reason_of(When(on_death=False, on_contradiction=False), signals) == "failing: dig"
    assert reason_of(When(on_death=False, on_contradiction=False, on_failures=False), signals) is None


@pytest.mark.parametrize("wrong", [{"every": 0}, {"alpha": 0.0}, {"alpha": 1.0}])
def test_a_rule_that_makes_no_sense_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        When(**wrong)


def test_a_procedure_that_fails_more_than_it_did() -> None:
    def found(history: Calls, recent: Calls) -> tuple[str, ...]:
        return failing(When(), {"dig": history}, {"dig": recent})

    assert found(Calls(10, 1), Calls(4, 4)) == ("dig",)
    assert found(Calls(10, 1), Calls(4, 0)) == ()
    assert found(Calls(10, 9), Calls(4, 4)) == ()  # it always failed
    assert found(Calls(10, 0), Calls(2, 2)) == ()  # too few to say
    assert found(Calls(2, 0), Calls(10, 10)) == ()
    assert failing(When(), {}, {"new": Calls(10, 10)}) == ()  # no history to exceed


def test_a_death_is_a_tag_or_an_outcome() -> None:
    assert has_died([Row("ep_000001", "x"), Row("ep_000002", "x", tags=("died",))])
    assert has_died([Row("ep_000001", "x", outcome="died")])
    assert not has_died([Row("ep_000001", "x", tags=("damage",))])


@pytest.mark.parametrize(
    ("expected", "state", "told"),
    [
        ('{"health": ">= 5"}', {"health": 5}, ()),
        ('{"health": ">= 5"}', {"health": 4.5}, ("health: >= 5 was expected, found 4.5",)),
        ('{"health": "> 5"}', {"health": True}, ("health: > 5 was expected, found True",)),
        ('{"inventory.wood": 3}', {"inventory": {"wood": 3}}, ()),
        ('{"inventory.wood": 0}', {"inventory": {}}, ()),
        ('{"inventory.wood": "< 1"}', {}, ()),
        ('{"gui": "chest", "dead": false}', {"gui": "chest", "dead": False}, ()),
        ('{"gui": "chest"}', {"gui": None}, ("gui: chest was expected, found None",)),
        ('{"a.b": 1}', {"a.b": 1}, ()),
    ],
)
def test_a_prediction_is_compared_with_the_end(expected: str, state: Json, told: tuple[str, ...]) -> None:
    expectation = Expectation.of(f"go to the table; expect: {expected} then rest")
    assert expectation is not None
    assert expectation.contradictions(state) == told


@pytest.mark.parametrize("intention", ["", "I expect: rain", "expect: {", 'expect: {"a"}', "expect: {}", "expect: []"])
def test_what_predicts_nothing_contradicts_nothing(intention: str) -> None:
    assert Expectation.of(intention) is None


# --- the hook


class Quiet:
    """Proposes nothing, and keeps why it was asked; an outage is raised where it has one."""

    name = "quiet"

    def __init__(self) -> None:
        self.reasons: list[str] = []
        self.outage = False

    def propose(self, evidence: Evidence, judge: Judge) -> Proposal:
        if self.outage:
            raise ModelUnavailable("out")
        self.reasons.append(evidence.reason)
        return Proposal()


def a_turn(memory: Memory, life: Life, number: int, intention: str = "", **state: Any) -> tuple[Json, list[Row]]:
    with life.episode("go", state={"pos": [0, 0, 0], "health": 9}) as episode:
        episode.step("go", state={"pos": [0, 0, 0], "health": 9, **state})
        row = episode.finish("success")
    turn: Json = {"turn": number, "episodes": [row.id], "intention": intention}
    journal.append(memory.layout.turns(life.number), memory.layout.lock_of(memory.layout.turns(life.number)), [turn])
    return turn, [row]


def test_turns_are_counted_from_the_last_one_also_by_another_process(memory: Memory) -> None:
    quiet = Quiet()
    done: list[int] = []
    with memory.live("walk", "w") as life:
        for number in range(1, 8):
            turns = ConsolidationTurns(memory, Consolidation(memory, quiet), When(every=3))
            if turns.after_turn(life.number, *a_turn(memory, life, number)):
                done.append(number)
        assert done == [3, 6]
        assert turns.at_end(life.number, "budget spent")
        assert not turns.at_end(life.number, "budget spent")
    assert quiet.reasons == ["3 turns", "3 turns", "end of life 1: budget spent"]


def test_death_and_contradiction_do_not_wait(memory: Memory) -> None:
    quiet, outcomes = Quiet(), list[Outcome]()
    turns = ConsolidationTurns(memory, Consolidation(memory, quiet), When(), outcomes.append)
    with memory.live("walk", "w") as life:
        turn, _ = a_turn(memory, life, 1, 'rest expect: {"health": ">= 5"}', health=6)
        assert not turns.after_turn(life.number, turn)
        turn, _ = a_turn(memory, life, 2, 'rest expect: {"health": ">= 5"}', health=4)
        assert turns.after_turn(life.number, turn)
        assert turns.after_turn(life.number, *a_turn(memory, life, 3, health=0))
    assert quiet.reasons == ["contradicted: health: >= 5 was expected, found 4", "death"]
    assert [outcome.done.turn for outcome in outcomes] == [2, 3]


def test_a_procedure_that_fails_more_is_looked_at_once(memory: Memory) -> None:
    quiet, procedures = Quiet(), Procedures(memory.layout, memory.documents)
    for outcome in ("success", "success", "success", "stopped", "success", "success", "success"):
        procedures.record(Run("dig", outcome))
    live_some(memory, 1)
    Consolidation(memory, quiet).run("asked for")
    turns = ConsolidationTurns(memory, Consolidation(memory, quiet), When(every=None))
    with memory.live("walk", "w") as life:
        fired = []
        for number in range(1, 6):
            procedures.record(Run("dig", "failure"))
            fired.append(turns.after_turn(life.number, *a_turn(memory, life, number)))
    assert fired == [False, False, True, False, False]
    assert quiet.reasons[1] == "failing: dig"


def test_what_fails_is_asked_for_again_after_as_many_turns_as_always(memory: Memory) -> None:
    quiet, done = Quiet(), list[int]()
    turns = ConsolidationTurns(memory, Consolidation(memory, quiet), When(every=3))
    with memory.live("walk", "w") as life:
        quiet.outage = True
        for number in range(1, 10):
            if number == 4:
                quiet.outage = False  # between the times at which it is asked for
            if turns.after_turn(life.number, *a_turn(memory, life, number)):
                done.append(number)
    assert done == [6, 9]
    assert quiet.reasons == ["6 turns", "3 turns"]


def test_an_outage_costs_the_consolidation_and_not_the_life(memory: Memory) -> None:
    quiet = Quiet()
    turns = ConsolidationTurns(memory, Consolidation(memory, quiet), When(every=1))
    with memory.live("walk", "w") as life:
        quiet.outage = True
        assert not turns.after_turn(life.number, *a_turn(memory, life, 1))
        quiet.outage = False
        assert turns.after_turn(life.number, *a_turn(memory, life, 2))
    assert quiet.reasons == ["2 turns"]
