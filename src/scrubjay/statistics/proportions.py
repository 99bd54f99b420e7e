"""Tests and intervals of proportions and of counts in tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

from scrubjay.errors import InvalidInput
from scrubjay.statistics.results import Result, Sides, counts, installed, share

__all__ = ["binomial_test", "fisher", "mcnemar", "two_proportions", "wilson"]


def wilson(successes: int, n: int, level: float = 0.95) -> Result:
    """Wilson's score interval of a proportion, two-sided, without continuity correction. No hypothesis: `p` is None.

    `statistic` is the proportion. Of nothing (n = 0) the interval is all of 0 to 1.
    Source: Wilson, JASA 22 (1927); computed by scipy.
    """
    share("successes", successes, n)
    _check_level(level)
    if n == 0:
        return Result(None, None, (0.0, 1.0), 0)
    found = installed("scipy.stats").binomtest(successes, n).proportion_ci(level, method="wilson")
    return Result(successes / n, None, (float(found.low), float(found.high)), n)


def binomial_test(k: int, n: int, p: float = 0.5, sides: Sides = "two-sided", level: float = 0.95) -> Result:
    """Exact binomial test that the chance of success is `p`; two-sided by the method of small likelihoods.

    `statistic` is k/n, `interval` the exact one of Clopper and Pearson, on the same sides as the test. Of nothing
    (n = 0): no statistic, no p, all of 0 to 1. Source: Clopper, Pearson, Biometrika 26 (1934); computed by scipy.
    """
    share("k", k, n)
    _check_level(level)
    if not 0 <= p <= 1:
        raise InvalidInput(f"p: a chance from 0 to 1 was expected, found {p!r}")
    if n == 0:
        return Result(None, None, (0.0, 1.0), 0)
    found = installed("scipy.stats").binomtest(k, n, p, alternative=sides)
    interval = found.proportion_ci(level, method="exact")
    return Result(k / n, float(found.pvalue), (float(interval.low), float(interval.high)), n)


def mcnemar(b: int, c: int, level: float = 0.95) -> Result:
    """McNemar's exact test, two-sided: two methods on the same tasks, `b` solved by the first alone, `c` by the other.

    It is the binomial test of b in b + c with chance 1/2; `statistic` is the smaller of the two, `interval` that of
    b's share (Clopper, Pearson), `n` is b + c. Without a task that they differ on, p is 1.
    Source: McNemar, Psychometrika 12 (1947), exact form; the same as statsmodels' `mcnemar(exact=True)`.
    """
    counts(b=b, c=c)
    if b + c == 0:
        return Result(0.0, 1.0, (0.0, 1.0), 0)
    found = binomial_test(b, b + c, level=level)
    return Result(float(min(b, c)), found.p, found.interval, b + c)


def two_proportions(recent: int, n_recent: int, baseline: int, n_baseline: int, least: int = 1) -> Result:
    """Pooled z test that the recent proportion is above the baseline's: one-sided, without continuity correction.

    Count successes to ask whether something got better, failures to ask whether it got worse.
    z = (p_recent - p_baseline) / sqrt(p (1 - p) (1 / n_recent + 1 / n_baseline)), p the proportion of both together;
    `p` of the result is the chance of a larger z, so `is_below(alpha)` says z > z_(1-alpha). No interval is given.
    Edge cases: fewer than `least` (at least 1) on either side decide nothing, statistic and p are None. Where all of
    both succeeded or none did, the formula has no value: nothing differs, so z is 0 and p is 1 (as in the exact
    test), and it never fires.

    Source: the trigger of PEAM; the same as statsmodels' `proportions_ztest(alternative="larger")`. The normal
    approximation is rough for samples of ten. Asked after every execution, it does not keep alpha: with 10 against 10
    at 0.05, and nothing changed, about 55 of 100 series of 100 executions fire at a rate of 0.1, and 92 at 0.5.
    """
    share("recent", recent, n_recent)
    share("baseline", baseline, n_baseline)
    n = n_recent + n_baseline
    if min(n_recent, n_baseline) < max(1, least):
        return Result(None, None, None, n)
    together = recent + baseline
    if together in (0, n):
        return Result(0.0, 1.0, None, n)
    pooled = together / n
    error = math.sqrt(pooled * (1 - pooled) * (1 / n_recent + 1 / n_baseline))
    z = (recent / n_recent - baseline / n_baseline) / error
    return Result(z, NormalDist().cdf(-z), None, n)


def fisher(table: Sequence[Sequence[int]], sides: Sides = "two-sided", level: float = 0.95) -> Result:
    """Fisher's exact test of a 2 x 2 table [[a, b], [c, d]]; two-sided sums the tables that are no more likely.

    `statistic` is the sample's odds ratio ad / bc, infinite where bc is 0; `interval` is exact, of the conditional
    odds ratio, on both sides. A row or column of zeros says nothing: p is 1, statistic and interval are None.
    Source: Fisher, Statistical Methods for Research Workers (1934), section 21.02; computed by scipy.
    """
    if len(table) != 2 or any(len(row) != 2 for row in table):
        raise InvalidInput(f"table: two rows of two counts were expected, found {table!r}")
    (a, b), (c, d) = table
    counts(a=a, b=b, c=c, d=d)
    _check_level(level)
    n = a + b + c + d
    if 0 in (a + b, c + d, a + c, b + d):
        return Result(None, 1.0, None, n)
    p = float(installed("scipy.stats").fisher_exact([[a, b], [c, d]], alternative=sides).pvalue)
    found = installed("scipy.stats.contingency").odds_ratio([[a, b], [c, d]]).confidence_interval(level)
    ratio = math.inf if b * c == 0 else a * d / (b * c)
    return Result(ratio, p, (float(found.low), float(found.high)), n)


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise InvalidInput(f"level: a share between 0 and 1 was expected, found {level!r}")
