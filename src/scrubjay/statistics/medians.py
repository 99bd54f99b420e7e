"""Paired samples compared by the median of their differences."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from statistics import median

from scrubjay.errors import InvalidInput
from scrubjay.statistics.results import Result, finite, installed

__all__ = ["paired_medians"]

_EXACT = 13  # pairs, of which all 2^13 assignments of signs are tried


def paired_medians(
    first: Iterable[float], second: Iterable[float], level: float = 0.95, resamples: int = 9999, seed: int = 0
) -> Result:
    """Permutation test, two-sided, that signs of paired differences are chance: `first[i]` and `second[i]` are a pair.

    `statistic` is the median of first - second. `p`: how often signs drawn anew give a median as far from 0; all
    assignments are tried for up to 13 pairs, else `resamples` are drawn (the smallest p is then 1 / (resamples + 1)).
    `interval` is the percentile bootstrap of that median over pairs. `n` is the number of pairs. Fewer than two pairs:
    no p, no interval. The same seed gives the same result.

    Values must be finite: a milestone never reached has no number of steps; give the budget, and say so.
    Source: Efron, Tibshirani, An Introduction to the Bootstrap (1993), chapters 13 and 15; computed by scipy.
    """
    a, b = finite("first", first), finite("second", second)
    if len(a) != len(b):
        raise InvalidInput(f"first and second: pairs were expected, found {len(a)} and {len(b)} values")
    if not 0 < level < 1:
        raise InvalidInput(f"level: a share between 0 and 1 was expected, found {level!r}")
    differences = [x - y for x, y in zip(a, b, strict=True)]
    n = len(differences)
    if n < 2:
        return Result(differences[0] if n else None, None, None, n)
    middle = median(differences)
    return Result(
        middle, _permuted(differences, resamples, seed), _bootstrapped(differences, level, resamples, seed), n
    )


def _permuted(differences: list[float], resamples: int, seed: int) -> float:
    numpy, stats = installed("numpy"), installed("scipy.stats")

    def distance(values: object, axis: int) -> object:
        return abs(numpy.median(values, axis=axis))

    drawn = max(resamples, 2 ** len(differences)) if len(differences) <= _EXACT else resamples
    found = stats.permutation_test(
        (differences,), distance, permutation_type="samples", n_resamples=drawn, alternative="greater", rng=seed
    )
    return float(found.pvalue)


def _bootstrapped(differences: list[float], level: float, resamples: int, seed: int) -> tuple[float, float]:
    numpy, stats = installed("numpy"), installed("scipy.stats")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of differences that are all the same; the interval is that value
        found = stats.bootstrap(
            (differences,),
            numpy.median,
            confidence_level=level,
            n_resamples=resamples,
            method="percentile",
            rng=seed,
        )
    low, high = found.confidence_interval
    return (float(low), float(high))
