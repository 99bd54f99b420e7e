"""Methods compared with one of them, seed by seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scrubjay.experiments.results import MEASURES, Measure
from scrubjay.memory.jsonio import Json
from scrubjay.statistics import Result, binomial_test, holm, paired_medians

__all__ = ["Comparison", "compare", "reference_of"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """One method against the reference by one measure: reference - method over the seeds that both have.

    `more` and `fewer` count the seeds in which the reference has more and less of it. `medians` is the permutation test
    of the median difference, `signs` the exact binomial test of those counts; each p is corrected over all comparisons.
    With few pairs the first can't give a small p, whatever the data: 0.06 with 8, 0.03 with 10, 0.001 with 20.
    """

    method: str
    measure: str
    more: int
    fewer: int
    medians: Result
    signs: Result
    medians_corrected: float | None
    signs_corrected: float | None


def reference_of(methods: Mapping[str, object]) -> str:
    """What the others are compared with: `mfm` where it was run, else the last method."""
    return "mfm" if "mfm" in methods else list(methods)[-1]


def compare(methods: Mapping[str, Mapping[int, Json]]) -> list[Comparison]:
    """All methods against the reference by every tested measure; p corrected (Holm) over all of these.

    A method that shares fewer than two seeds with the reference is not compared.
    """
    reference = reference_of(methods)
    pairs = {
        (method, measure.name): _pairs(methods[reference], runs, measure)
        for measure in MEASURES
        if measure.is_tested
        for method, runs in methods.items()
        if method != reference
    }
    found = {key: values for key, values in pairs.items() if len(values) > 1}
    medians = [paired_medians([a for a, _ in values], [b for _, b in values]) for values in found.values()]
    more = [sum(a > b for a, b in values) for values in found.values()]
    fewer = [sum(a < b for a, b in values) for values in found.values()]
    signs = [binomial_test(a, a + b) for a, b in zip(more, fewer, strict=True)]
    corrected = zip(_corrected(medians), _corrected(signs), strict=True)
    return [
        Comparison(*key, *counts, *results, *both)
        for key, counts, results, both in zip(
            found, zip(more, fewer, strict=True), zip(medians, signs, strict=True), corrected, strict=True
        )
    ]


def _pairs(reference: Mapping[int, Json], other: Mapping[int, Json], measure: Measure) -> list[tuple[float, float]]:
    return [
        (a, b)
        for seed in sorted(reference.keys() & other.keys())
        if (a := measure.of(reference[seed])) is not None and (b := measure.of(other[seed])) is not None
    ]


def _corrected(results: list[Result]) -> list[float | None]:
    """Each p corrected over all that there are; a comparison without a p (no seed differs) counts as 1."""
    return list(holm([1.0 if result.p is None else result.p for result in results]))
