"""Evidence, gathered one execution after the other, that a rate of failures rose, or is above a floor.

Two processes of numbers on series of successes and failures, for many series at once; what is done about it is the
trigger's business. Both are fair bets under their hypothesis: the chance that one ever passes 1 / alpha is at most
alpha, however long it is watched.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Counts = NDArray[np.int64]

__all__ = ["change", "passed"]

_BAD = 0.8  # the rate of failures that the floor is tested against


def passed(
    many: Sequence[Sequence[bool]], floor: float, limit: float, horizon: int, every: int
) -> tuple[list[int | None], list[bool], list[bool]]:
    """For each series: after which execution (from 1) the logarithm of one of its evidences first passed `limit`.

    And which did there: that of a change, that of a rate above `floor`.
    """
    import numpy as np

    lengths = np.array([len(one) for one in many], np.int64)
    starts = np.concatenate(([0], np.cumsum(lengths)[:-1])).astype(np.int64)
    flat = np.concatenate([np.asarray(one, bool) for one in many]) if lengths.sum() else np.zeros(0, bool)
    local = np.arange(len(flat), dtype=np.int64) - np.repeat(starts, lengths) + 1
    failed = _within(~flat, starts, lengths).astype(np.int64)
    changed = change(local, failed, horizon, every) >= limit
    gain, loss = math.log(_BAD / floor), math.log((1 - _BAD) / (1 - floor))
    bad = failed * gain + (local - failed) * loss >= limit
    where = np.flatnonzero(changed | bad)
    owner = np.repeat(np.arange(len(many)), lengths)[where]
    first = dict(zip(owner[::-1].tolist(), where[::-1].tolist(), strict=True))
    ends = [int(local[first[i]]) if i in first else None for i in range(len(many))]
    return (
        ends,
        [i in first and bool(changed[first[i]]) for i in range(len(many))],
        [i in first and bool(bad[first[i]]) for i in range(len(many))],
    )


def _within(values: Any, starts: Counts, lengths: Counts) -> Any:
    """Sums from the start of each series on."""
    import numpy as np

    total = np.concatenate(([0], np.cumsum(values)))
    return total[1:] - np.repeat(total[starts], lengths)


def change(local: Counts, failed: Counts, horizon: int, every: int) -> Floats:
    """ln of: the sum over moments m of their prior times the likelihood of two rates, the later one higher, over the
    largest likelihood of one rate.

    After each execution: `local` counts the executions of its series up to it, `failed` the failures among them.
    Moments are multiples of `every`, at most `horizon` back; leaving others out makes the evidence smaller, never
    larger. The prior of the k-th is 1 / (k (k + 1)). Rates are mixed by Krichevsky and Trofimov.
    """
    import numpy as np

    longest = int(local.max(initial=0))
    steps = np.arange(1, longest + 1)
    # In 32 bits the sums of a million executions are wrong by more than 1.
    half = np.concatenate(([0.0], np.cumsum(np.log(steps - 0.5))))
    whole = np.concatenate(([0.0], np.cumsum(np.log(steps))))
    one_rate = _entropy(failed, local)
    total = np.zeros(len(local), np.float64)
    of_residue = [np.flatnonzero(local % every == residue) for residue in range(every)]
    for lag in range(1, min(horizon, longest - 1) + 1):
        at = of_residue[lag % every]
        at = at[local[at] > lag]
        moment, before = local[at] - lag, failed[at - lag]
        after = failed[at] - before
        rose = after * moment > before * lag
        at, moment, before, after = at[rose], moment[rose], before[rose], after[rose]
        value = half[before] + half[moment - before] - whole[moment] + half[after] + half[lag - after] - whole[lag]
        nth = moment // every
        total[at] += np.exp(np.minimum(value - one_rate[at], 300.0)) / (nth * (nth + 1))
    with np.errstate(divide="ignore"):
        found: Floats = np.log(total)
    return found


def _entropy(failed: Counts, n: Counts) -> Floats:
    """ln of the largest likelihood that one rate gives these failures among n."""
    import numpy as np

    good = n - failed
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.where(failed, failed * np.log(failed / n), 0.0) + np.where(good, good * np.log(good / n), 0.0)
    found: Floats = value
    return found
