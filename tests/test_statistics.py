"""The tests of statistics: against published values, against scipy's and statsmodels' own, and in every edge case."""

from __future__ import annotations

import math
import random
import subprocess
import sys
from dataclasses import FrozenInstanceError
from itertools import product
from statistics import median

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrubjay.errors import InvalidInput
from scrubjay.statistics import (
    Result,
    binomial_test,
    fisher,
    holm,
    mcnemar,
    mean_std,
    paired_medians,
    two_proportions,
    wilson,
)


def test_wilson_gives_the_published_intervals() -> None:
    """Newcombe, Statistics in Medicine 17 (1998), table I, method 3."""
    for successes, n, low, high in ((81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611)):
        found = wilson(successes, n)
        assert found.interval == pytest.approx((low, high), abs=5e-5)
        assert (found.statistic, found.p, found.n) == (successes / n, None, n)
    assert wilson(29, 29).interval == pytest.approx((0.8830, 1.0), abs=5e-5)


def test_of_nothing_nothing_is_known() -> None:
    assert wilson(0, 0) == Result(None, None, (0.0, 1.0), 0)
    assert binomial_test(0, 0) == Result(None, None, (0.0, 1.0), 0)


def test_binomial_gives_fishers_lady_and_scipys_example() -> None:
    assert binomial_test(3, 15, 0.1, "greater").p == pytest.approx(0.18406, abs=5e-6)  # scipy's documentation
    two = binomial_test(8, 10)
    assert two.p == pytest.approx(2 * 56 / 1024)
    assert two.interval == pytest.approx((0.4439, 0.9748), abs=5e-5)  # Clopper, Pearson
    assert two.statistic == 0.8


def test_fisher_gives_the_lady_tasting_tea() -> None:
    """Fisher, The Design of Experiments (1935): three of four cups right."""
    assert fisher([[3, 1], [1, 3]], "greater").p == pytest.approx(17 / 70)
    both = fisher([[3, 1], [1, 3]])
    assert both.p == pytest.approx(34 / 70)
    assert both.statistic == 9.0
    assert both.interval == pytest.approx((0.2117329, 621.93), rel=0.01)  # R's fisher.test, which searches coarsely
    assert both.n == 8


def test_fisher_says_nothing_of_empty_margins_and_infinity_of_a_zero() -> None:
    assert fisher([[0, 0], [3, 4]]) == Result(None, 1.0, None, 7)
    assert fisher([[5, 0], [0, 5]]).statistic == math.inf
    assert fisher([[5, 0], [0, 5]]).p == pytest.approx(2 / 252)


def test_mcnemar_agrees_with_statsmodels() -> None:
    contingency = pytest.importorskip("statsmodels.stats.contingency_tables")
    for b, c in ((0, 5), (1, 9), (8, 8), (12, 4)):
        found, expected = mcnemar(b, c), contingency.mcnemar([[3, b], [c, 7]], exact=True)
        assert found.p == pytest.approx(expected.pvalue)
        assert found.statistic == expected.statistic
        assert found.n == b + c
    assert mcnemar(0, 0) == Result(0.0, 1.0, (0.0, 1.0), 0)


def test_no_pairs_make_23_against_18_of_33_significant() -> None:
    """A published p of .018 for these two rates is not possible: five tasks more, at best none lost."""
    possible = [p for lost in range(11) if (p := mcnemar(lost + 5, lost).p) is not None]
    assert min(possible) == pytest.approx(0.0625)


def test_two_proportions_agrees_with_statsmodels() -> None:
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    for a, n, b, m in ((7, 10, 3, 10), (3, 10, 7, 10), (5, 8, 20, 40), (10, 10, 4, 10)):
        found = two_proportions(a, n, b, m)
        z, p = proportion.proportions_ztest([a, b], [n, m], alternative="larger")
        assert (found.statistic, found.p) == pytest.approx((z, p))
        assert found.n == n + m


def test_two_proportions_of_ten_and_ten_fires_from_four_more_in_the_middle() -> None:
    assert not two_proportions(6, 10, 3, 10).is_below(0.05)
    found = two_proportions(7, 10, 3, 10)
    assert found.statistic == pytest.approx(0.4 / math.sqrt(0.05))
    assert found.is_below(0.05)


@pytest.mark.parametrize("count", [0, 10])
def test_two_proportions_never_fires_where_all_or_none_succeeded(count: int) -> None:
    found = two_proportions(count, 10, count, 10)
    assert found == Result(0.0, 1.0, None, 20)
    assert not found.is_below(0.05)


def test_two_proportions_of_equal_rates_is_even() -> None:
    assert two_proportions(5, 10, 5, 10) == Result(0.0, 0.5, None, 20)


@pytest.mark.parametrize(("n", "m"), [(0, 10), (10, 0), (0, 0), (9, 10), (10, 9)])
def test_two_proportions_decides_nothing_of_too_few(n: int, m: int) -> None:
    found = two_proportions(n, n, 0, m, least=10)
    assert found == Result(None, None, None, n + m)
    assert not found.is_below(0.05)


def test_two_proportions_of_one_each_is_defined() -> None:
    assert two_proportions(1, 1, 0, 1).statistic == pytest.approx(math.sqrt(2))
    assert two_proportions(0, 1, 1, 1).statistic == pytest.approx(-math.sqrt(2))


@pytest.mark.parametrize(("rate", "share"), [(0.1, 0.55), (0.5, 0.92)])
def test_two_proportions_asked_after_every_execution_often_fires_for_nothing(rate: float, share: float) -> None:
    """The weakness that its docstring names."""
    chance, fired, series = random.Random(1), 0, 200
    for _ in range(series):
        went = [chance.random() < rate for _ in range(100)]
        fired += any(
            two_proportions(sum(went[n - 10 : n]), 10, sum(went[n - 20 : n - 10]), 10).is_below(0.05)
            for n in range(20, 101)
        )
    assert fired / series == pytest.approx(share, abs=0.08)


@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 12), st.integers(0, 12))
def test_two_proportions_is_a_p_or_nothing(n: int, m: int, a: int, b: int) -> None:
    found = two_proportions(min(a, n), n, min(b, m), m)
    assert (found.p is None) == (n == 0 or m == 0)
    assert found.p is None or 0 < found.p <= 1


def exact_p(differences: list[float]) -> float:
    seen = abs(median(differences))
    flipped = [
        abs(median([sign * value for sign, value in zip(signs, differences, strict=True)]))
        for signs in product((1, -1), repeat=len(differences))
    ]
    return sum(value >= seen - 1e-12 for value in flipped) / len(flipped)


def test_paired_medians_tries_every_sign() -> None:
    first = [890.0, 700, 1200, 950, 610, 800, 1020, 760]
    second = [232.0, 300, 410, 980, 200, 250, 333, 240]
    differences = [a - b for a, b in zip(first, second, strict=True)]
    found = paired_medians(first, second)
    assert found.statistic == median(differences)
    assert found.p == pytest.approx(exact_p(differences))
    assert found.interval is not None
    assert min(differences) <= found.interval[0] <= median(differences) <= found.interval[1] <= max(differences)
    assert paired_medians(first, second) == found
    mirrored = paired_medians(second, first)
    assert (mirrored.statistic, mirrored.p) == (-median(differences), found.p)


@settings(max_examples=15)
@given(st.lists(st.integers(-5, 5), min_size=2, max_size=7))
def test_paired_medians_is_exact_for_few_pairs(differences: list[int]) -> None:
    values = [float(value) for value in differences]
    found = paired_medians(values, [0.0] * len(values), resamples=99)
    assert found.p == pytest.approx(exact_p(values))


def test_paired_medians_of_equal_or_single_or_no_pairs() -> None:
    same = paired_medians([3, 3, 3], [3, 3, 3])
    assert same == Result(0.0, 1.0, (0.0, 0.0), 3)
    assert paired_medians([4], [1]) == Result(3.0, None, None, 1)
    assert paired_medians([], []) == Result(None, None, None, 0)
    many = paired_medians(range(40), [0] * 40, resamples=999)
    assert many.p == pytest.approx(1 / 1000)


def test_mean_and_standard_deviation() -> None:
    found = mean_std([2, 4, 4, 4, 5, 5, 7, 9])
    assert (found.mean, found.n) == (5.0, 8)
    assert found.std == pytest.approx(math.sqrt(32 / 7))
    assert str(found) == "5 ± 2.1"
    assert (mean_std([3]).std, str(mean_std([3]))) == (None, "3")


def test_holm_gives_the_textbook_values_in_the_order_given() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.9]) == [1.0, 1.0]
    assert holm([0.04]) == [0.04]
    assert holm([]) == []


def test_input_that_makes_no_sense_is_refused() -> None:
    for wrong in (
        lambda: wilson(3, 2),
        lambda: wilson(-1, 2),
        lambda: wilson(1, 2, level=1.0),
        lambda: wilson(1.5, 2),  # type: ignore[arg-type]
        lambda: binomial_test(1, 2, p=1.5),
        lambda: two_proportions(3, 2, 0, 1),
        lambda: fisher([[1, 2, 3], [4, 5, 6]]),
        lambda: mcnemar(-1, 2),
        lambda: holm([0.1, 1.2]),
        lambda: holm([math.nan]),
        lambda: mean_std([]),
        lambda: mean_std([math.inf]),
        lambda: paired_medians([1], [1, 2]),
        lambda: paired_medians([math.nan], [1]),
        lambda: paired_medians([1, 2], [1, 2], level=0),
    ):
        with pytest.raises(InvalidInput):
            wrong()


def test_results_are_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        wilson(1, 2).p = 0.01  # type: ignore[misc]


def test_the_test_an_agent_asks_needs_no_package() -> None:
    code = (
        "import sys; from scrubjay.statistics import two_proportions; two_proportions(7, 10, 3, 10); "
        "print([m for m in ('numpy', 'scipy', 'statsmodels') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
