"""Several values in one number, and several tests on one claim."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from scrubjay.errors import InvalidInput
from scrubjay.statistics.results import finite, installed

__all__ = ["MeanStd", "holm", "mean_std"]


@dataclass(frozen=True, slots=True)
class MeanStd:
    """Mean and sample standard deviation of `n` values; `std` is None for a single one."""

    mean: float
    std: float | None
    n: int

    def __str__(self) -> str:
        return f"{self.mean:.3g}" if self.std is None else f"{self.mean:.3g} ± {self.std:.2g}"


def mean_std(values: Iterable[float]) -> MeanStd:
    """Mean ± standard deviation with n - 1 in the denominator, as over seeds. Raises InvalidInput for no value."""
    found = finite("values", values)
    if not found:
        raise InvalidInput("values: at least one was expected")
    return MeanStd(statistics.fmean(found), statistics.stdev(found) if len(found) > 1 else None, len(found))


def holm(ps: Iterable[float]) -> list[float]:
    """Holm's step-down correction: each p as it is to be compared with alpha, in the order given; none above 1.

    Keeps the chance of any false alarm below alpha whatever the tests depend on. Of no test: an empty list.
    Source: Holm, Scandinavian Journal of Statistics 6 (1979); computed by statsmodels.
    """
    found = finite("ps", ps)
    if any(not 0 <= p <= 1 for p in found):
        raise InvalidInput(f"ps: values from 0 to 1 were expected, found {found!r}")
    if not found:
        return []
    corrected = installed("statsmodels.stats.multitest").multipletests(found, method="holm")[1]
    return [float(p) for p in corrected]
