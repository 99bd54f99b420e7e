"""Methods compared with one of them, seed by seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scrubjay.experiments.results import MEASURES, Measure
from scrubjay.memory.jsonio import Json
from scrubjay.statistics import Result, holm, paired_medians

__all__ = ["Comparison", "compare", "reference_of"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """One method against the reference by one measure: reference - method over the seeds that both have."""

    method: str
    measure: str
    result: Result
    corrected: float | None


def reference_of(methods: Mapping[str, object]) -> str:
    """What the others are compared with: `mfm` where it was run, else the last method."""
    return "mfm" if "mfm" in methods else list(methods)[-1]


def compare(methods: Mapping[str, Mapping[int, Json]]) -> list[Comparison]:
    """All methods against the reference by every tested measure; p corrected (Holm) over all of these tests.

    A method that shares fewer than two seeds with the reference is not compared.
    """
    reference = reference_of(methods)
    found = [
        (method, measure.name, _tested(methods[reference], runs, measure))
        for measure in MEASURES
        if measure.is_tested
        for method, runs in methods.items()
        if method != reference
    ]
    tested = [result.p for _, _, result in found if result.p is not None]
    corrected = iter(holm(tested))
    return [
        Comparison(method, name, result, None if result.p is None else next(corrected))
        for method, name, result in found
        if result.n > 1
    ]


def _tested(reference: Mapping[int, Json], other: Mapping[int, Json], measure: Measure) -> Result:
    pairs = [
        (a, b)
        for seed in sorted(reference.keys() & other.keys())
        if (a := measure.of(reference[seed])) is not None and (b := measure.of(other[seed])) is not None
    ]
    return paired_medians([a for a, _ in pairs], [b for _, b in pairs])
