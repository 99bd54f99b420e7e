"""When a skill is due for an update: the paper's rule, the corrected one, and two that they are measured against.

A series is a skill's executions in order, true for success. p is the rate of failures: a skill is due when it began to
fail more than it did (our copy of the paper does not say of what p is; so rebuilt here).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Protocol

from scrubjay.errors import InvalidInput
from scrubjay.parametric.evidence_of_change import passed
from scrubjay.statistics import two_proportions

__all__ = ["STC", "TRIGGERS", "Fired", "FixedSchedule", "FixedThreshold", "SequentialSTC", "Trigger", "is_due"]


@dataclass(frozen=True, slots=True)
class Fired:
    """A trigger event: after which execution of the series (from 1), and why."""

    at: int
    why: str


class Trigger(Protocol):
    """Decides by one skill's series."""

    def last(self, series: Sequence[bool], updated: int = 0) -> Fired | None:
        """Whether the skill is due after the last execution; `updated` is how many there were at the last update."""
        ...

    def first(self, series: Sequence[bool], updated: int = 0) -> Fired | None:
        """The first execution after which it was due, where it is asked after every one."""
        ...


@dataclass(frozen=True, slots=True)
class STC:
    """The paper's rule: z = (p_recent - p_baseline) / sqrt(p (1 - p)(1/W + 1/B)) > z_(1-alpha).

    Over the last W executions and the B before them. Fewer than W + B: not due. p of 0 or 1: z has no value, nothing
    differs, not due; so a skill that always fails is never due. Asked after every execution it fires falsely in
    53 (p = 0.1) to 91 (p = 0.5) of 100 series of 100 in which nothing changed.
    """

    window: int = 10
    baseline: int = 10
    alpha: float = 0.05

    def __post_init__(self) -> None:
        if self.window < 1 or self.baseline < 1 or not 0 < self.alpha < 1:
            raise InvalidInput(f"STC: windows of 1 or more and an alpha between 0 and 1 were expected, found {self}")

    def last(self, series: Sequence[bool], updated: int = 0) -> Fired | None:
        """See Trigger. Executions before an update count like those after it: the paper says nothing else."""
        n = len(series)
        if n < self.window + self.baseline:
            return None
        recent, before = series[n - self.window :], series[n - self.window - self.baseline : n - self.window]
        failed = self.window - sum(recent), self.baseline - sum(before)
        found = two_proportions(failed[0], self.window, failed[1], self.baseline)
        if not found.is_below(self.alpha):
            return None
        return Fired(
            n, f"{failed[0]} of {self.window} failed, {failed[1]} of {self.baseline} before: z {found.statistic:.2f}"
        )

    def first(self, series: Sequence[bool], updated: int = 0) -> Fired | None:
        """See Trigger."""
        import numpy as np

        n, w, b = len(series), self.window, self.baseline
        if n < w + b:
            return None
        failed = np.concatenate(([0], np.cumsum(~np.asarray(series, bool))))
        recent = failed[w + b :] - failed[b : n + 1 - w]
        before = failed[b : n + 1 - w] - failed[: n + 1 - w - b]
        pooled = (recent + before) / (w + b)
        error = np.sqrt(pooled * (1 - pooled) * (1 / w + 1 / b))
        z = np.divide(recent / w - before / b, error, out=np.zeros(len(error)), where=error > 0)
        due = np.flatnonzero(z > NormalDist().inv_cdf(1 - self.alpha))
        due = due[due + w + b > updated]
        return None if not len(due) else self.last(series[: int(due[0]) + w + b])


@dataclass(frozen=True, slots=True)
class SequentialSTC:
    """The corrected rule: a test that may be asked after every execution, a floor, and a cool-down after an update.

    It looks at the executions since the last update, the first `cool_down` of them left out where there was one. Due
    where either process of evidence passes 2 / alpha, so that with nothing changed, at whatever rate of failures, at
    most alpha of all series ever fire by the first, however long; and by the second where failures stay under `floor`.

    Change: sum over moments of change of their prior times the likelihood of two rates, one before and a higher one
    after, over the largest likelihood of one rate (universal inference: Wasserman, Ramdas, Balakrishnan, PNAS 2020).
    Rates are mixed by Krichevsky and Trofimov. Floor: the likelihood ratio of a rate of failures of 0.8 over `floor`.
    """

    alpha: float = 0.05
    cool_down: int = 10
    floor: float = 0.5
    horizon: int = 60  # executions after a moment of change in which it can be found
    every: int = 5  # moments that are looked at: after 5, 10, 15, … executions

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1 or not 0 < self.floor < 0.8 or min(self.horizon, self.every) < 1:
            raise InvalidInput(f"SequentialSTC: alpha from 0 to 1 and a floor under 0.8 were expected, found {self}")
        if self.cool_down < 0:
            raise InvalidInput(f"SequentialSTC: a cool-down of 0 or more was expected, found {self}")

    def last(self, series: Sequence[bool], updated: int = 0) -> Fired | None:
        """See Trigger. Evidence that passed once stays passed until the update."""
        return self.first(series, updated)

    def first(self, series: Sequence[bool], updated: int = 0) -> Fired | None:
        """See Trigger."""
        return self.first_of([series], [updated])[0]

    def first_of(self, many: Sequence[Sequence[bool]], updated: Sequence[int]) -> list[Fired | None]:
        """`first` of many series at once."""
        begins = [at + self.cool_down if at else 0 for at in updated]
        seen = [series[begin:] for series, begin in zip(many, begins, strict=True)]
        ends, changed, bad = passed(seen, self.floor, math.log(2 / self.alpha), self.horizon, self.every)
        return [self._told(*one) for one in zip(seen, begins, ends, changed, bad, strict=True)]

    def _told(self, seen: Sequence[bool], begin: int, end: int | None, changed: bool, bad: bool) -> Fired | None:
        if end is None:
            return None
        failed = end - sum(seen[:end])
        what = [*(["more than before"] if changed else []), *([f"above {self.floor:.0%}"] if bad else [])]
        return Fired(begin + end, f"{failed} of {end} failed since it was last looked at: {' and '.join(what)}")


@dataclass(frozen=True, slots=True)
class FixedSchedule:
    """A baseline: due after every `every` executions."""

    every: int = 20

    def __post_init__(self) -> None:
        if self.every < 1:
            raise InvalidInput(f"FixedSchedule: 1 or more executions were expected, found {self}")

    def last(self, series: Sequence[bool], updated: int = 0) -> Fired | None:
        """See Trigger."""
        return Fired(len(series), f"{self.every} executions") if len(series) - updated >= self.every else None

    def first(self, series: Sequence[bool], updated: int = 0) -> Fired | None:
        """See Trigger."""
        at = updated + self.every
        return Fired(at, f"{self.every} executions") if len(series) >= at else None


@dataclass(frozen=True, slots=True)
class FixedThreshold:
    """A baseline: due where the rate of success of the last `window` executions is under `tau`."""

    tau: float = 0.5
    window: int = 10

    def __post_init__(self) -> None:
        if self.window < 1:
            raise InvalidInput(f"FixedThreshold: a window of 1 or more was expected, found {self}")

    def last(self, series: Sequence[bool], updated: int = 0) -> Fired | None:
        """See Trigger."""
        if len(series) - updated < self.window:
            return None
        rate = sum(series[len(series) - self.window :]) / self.window
        return Fired(len(series), f"{rate:.0%} of the last {self.window} succeeded") if rate < self.tau else None

    def first(self, series: Sequence[bool], updated: int = 0) -> Fired | None:
        """See Trigger."""
        import numpy as np

        total = np.concatenate(([0], np.cumsum(np.asarray(series, bool))))
        if len(series) < self.window:
            return None
        rates = (total[self.window :] - total[: len(series) + 1 - self.window]) / self.window
        due = np.flatnonzero(rates < self.tau) + self.window
        due = due[due >= updated + self.window]
        return self.last(series[: int(due[0])], updated) if len(due) else None


def is_due(trigger: Trigger, series: Sequence[bool], updated: int, is_worth_it: bool) -> Fired | None:
    """STC whole: the trigger's condition, and worthiness at or above the (1 - q) quantile of what is scored now."""
    return trigger.last(series, updated) if is_worth_it else None


TRIGGERS: dict[str, Callable[[], Trigger]] = {"stc": STC, "sequential": SequentialSTC}
"""The paper's rule and the corrected one, by the names that commands know them by."""
