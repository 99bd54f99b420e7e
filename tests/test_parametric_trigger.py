"""Triggers: when a skill is due for an update, and how often that is said of one that did not change."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.errors import InvalidInput
from scrubjay.parametric.evidence_of_change import change
from scrubjay.parametric.trigger import (
    STC,
    FixedSchedule,
    FixedThreshold,
    SequentialSTC,
    Trigger,
    is_due,
)

TRIGGERS: list[Trigger] = [STC(), SequentialSTC(), FixedSchedule(), FixedThreshold()]
GOOD, BAD = [True] * 20, [False] * 20


def series(text: str) -> list[bool]:
    return [one == "+" for one in text]


def test_the_papers_rule_fires_where_failures_rose() -> None:
    assert STC().last(series("+" * 10 + "-" * 3 + "+" * 7)).why.startswith("3 of 10 failed, 0 of 10 before: z 1.88")  # type: ignore[union-attr]
    assert STC().last(series("+" * 10 + "-" * 2 + "+" * 8)) is None
    assert STC().last(series("-" * 10 + "+" * 10)) is None  # it got better


def test_the_papers_rule_where_its_formula_has_no_value() -> None:
    assert STC().last(GOOD) is None
    assert STC().last(BAD) is None  # a skill that always fails is never due: its known weakness
    assert STC().last([False] * 19) is None
    assert STC().last([]) is None


@pytest.mark.parametrize("trigger", TRIGGERS, ids=lambda one: type(one).__name__)
@given(data=st.lists(st.booleans(), max_size=60), updated=st.integers(0, 30))
def test_the_first_time_is_the_first_of_all_times(trigger: Trigger, data: list[bool], updated: int) -> None:
    updated = min(updated, len(data))
    asked = (trigger.last(data[:n], updated) for n in range(updated + 1, len(data) + 1))
    first = next((one for one in asked if one is not None), None)
    found = trigger.first(data, updated)
    assert (first and first.at) == (found and found.at)
    assert first == found


def test_the_corrected_rule_keeps_alpha_however_often_it_is_asked() -> None:
    rng, rule = random.Random(0), SequentialSTC()
    for rate in (0.1, 0.3, 0.5):
        many = [[rng.random() >= rate for _ in range(200)] for _ in range(400)]
        fired = sum(one is not None for one in rule.first_of(many, [0] * len(many)))
        assert fired <= 0.05 * len(many)
        asked = sum(STC().first(one) is not None for one in many)
        assert asked > 0.5 * len(many)  # the paper's, of the same series


def test_the_corrected_rule_finds_a_change_and_a_skill_that_is_bad_from_the_start() -> None:
    changed = SequentialSTC().first(GOOD * 2 + BAD)
    assert changed is not None
    assert changed.at <= 48
    assert "more than before" in changed.why
    bad = SequentialSTC().first(BAD)
    assert bad is not None
    assert (bad.at, "above 50%" in bad.why) == (8, True)


def test_after_an_update_the_corrected_rule_cools_down_and_forgets_what_was_before() -> None:
    rule, data = SequentialSTC(), BAD + GOOD
    assert rule.last(data, updated=20) is None
    assert rule.last(BAD + [False] * 17, updated=20) is None  # 10 of them are left out
    assert rule.last(BAD + [False] * 18, updated=20) is not None


def by_the_letter(data: tuple[bool, ...]) -> float:
    """The sum over moments of change, as the rule's docstring says it."""

    def mixed(failed: int, n: int) -> float:
        return math.exp(math.lgamma(failed + 0.5) + math.lgamma(n - failed + 0.5) - math.lgamma(n + 1)) / math.pi

    n, failed, total = len(data), data.count(False), 0.0
    for nth, moment in enumerate(range(2, n, 2), 1):
        before = data[:moment].count(False)
        after = failed - before
        if after * moment > before * (n - moment):
            total += mixed(before, moment) * mixed(after, n - moment) / (nth * (nth + 1))
    rate = failed / n
    return total / (rate**failed * (1 - rate) ** (n - failed))


def test_the_evidence_of_a_change_is_what_it_is_said_to_be() -> None:
    """In every series of eight; and its mean is at most 1 where every series is as likely: a fair bet."""
    every = list(itertools.product((True, False), repeat=8))
    found = [float(np.exp(change(np.arange(1, 9), np.cumsum(~np.array(one)), 60, 2)[-1])) for one in every]
    assert found == pytest.approx([by_the_letter(one) for one in every], rel=1e-5)
    assert max(found) > 1 > sum(found) / len(found)


def test_the_evidence_is_as_exact_in_a_series_of_a_million() -> None:
    """The sums behind it are of ten millions, what is compared is of tens."""
    n = 10**6
    local = np.arange(1, n + 1)
    counted = local // 10  # every tenth fails, and at last thirty in a row
    counted[-30:] = counted[-31] + np.arange(1, 31)
    found = change(local, counted, 60, 5)[-1]
    total = 0.0
    one_rate = counted[-1] * math.log(counted[-1] / n) + (n - counted[-1]) * math.log(1 - counted[-1] / n)
    for lag in range(5, 61, 5):
        moment, before = n - lag, int(counted[-1 - lag])
        after = int(counted[-1]) - before
        parts = [
            math.lgamma(good + 0.5) + math.lgamma(bad + 0.5) - math.lgamma(good + bad + 1) - math.log(math.pi)
            for bad, good in ((before, moment - before), (after, lag - after))
        ]
        if after * moment > before * lag:
            total += math.exp(sum(parts) - one_rate) / ((moment // 5) * (moment // 5 + 1))
    assert found == pytest.approx(math.log(total), abs=1e-3)


def test_a_fixed_schedule_and_a_fixed_threshold() -> None:
    assert FixedSchedule(20).last(GOOD) is not None
    assert FixedSchedule(20).last(GOOD, updated=1) is None
    assert FixedThreshold(0.5).last(series("+" * 20 + "-" * 6)) is not None
    assert FixedThreshold(0.5).last(series("+" * 20 + "-" * 5)) is None
    assert FixedThreshold(0.5).last(series("-" * 10), updated=1) is None


def test_a_skill_is_due_only_where_it_is_worth_it() -> None:
    failing = series("+" * 10 + "-" * 10)
    assert is_due(STC(), failing, 0, True) is not None
    assert is_due(STC(), failing, 0, False) is None


def test_rules_that_are_none_are_refused() -> None:
    for make in (
        lambda: STC(window=0),
        lambda: STC(alpha=1.0),
        lambda: SequentialSTC(floor=0.9),
        lambda: SequentialSTC(every=0),
        lambda: SequentialSTC(cool_down=-1),
        lambda: FixedSchedule(0),
        lambda: FixedThreshold(window=0),
    ):
        with pytest.raises(InvalidInput):
            make()
