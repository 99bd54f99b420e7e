"""What a test gives, and what it asks of its input.

It knows no test.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from scrubjay.errors import InvalidInput

__all__ = ["Result", "Sides", "counts", "finite", "installed", "share"]

Sides = Literal["two-sided", "greater", "less"]


@dataclass(frozen=True, slots=True)
class Result:
    """What a test found. `n` is how many observations it rests on; what the others mean is said by the test.

    None stands for what the observations cannot give: no statistic of nothing, no `p` where no hypothesis was tested
    or too few were seen to test it.
    """

    statistic: float | None
    p: float | None
    interval: tuple[float, float] | None
    n: int

    def is_below(self, alpha: float) -> bool:
        """True where the hypothesis is refused at this level; an absent `p` refuses nothing."""
        return self.p is not None and self.p < alpha


def installed(name: str) -> Any:
    """A module of scipy or statsmodels. Raises InvalidInput, saying what brings it, where it is not installed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise InvalidInput(
            f"this test needs the module {error.name}, which is not installed; "
            "pip install 'scrubjay[experiments]' brings it"
        ) from None


def counts(**values: int) -> None:
    """Raises InvalidInput for a value that is no count: whole, 0 or more."""
    for name, value in values.items():
        if isinstance(value, bool) or not hasattr(value, "__index__") or value < 0:
            raise InvalidInput(f"{name}: a whole number of 0 or more was expected, found {value!r}")


def share(name: str, successes: int, n: int) -> None:
    """Raises InvalidInput where `successes` of `n` is not possible."""
    counts(**{name: successes, "n": n})
    if successes > n:
        raise InvalidInput(f"{name}: {successes} of {n} is more than all of them")


def finite(name: str, values: Iterable[float]) -> list[float]:
    """The values as floats. Raises InvalidInput for one that is not finite."""
    found = [float(value) for value in values]
    for value in found:
        if not math.isfinite(value):
            raise InvalidInput(f"{name}: finite numbers were expected, found {value!r}")
    return found
