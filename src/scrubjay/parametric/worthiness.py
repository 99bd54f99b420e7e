"""Which skills are worth a place in the weights: PV, and the heuristic that it is measured against.

PV(s) = w1 U_cost + w2 U_stab - w3 P_redun - w4 R_forget (PEAM; the terms are rebuilt here from the paper's words, which
our copy has without formulas). U_cost is scaled before it is weighted: as it stands, calls times length of code, it is
hundreds of times the other terms, which are between 0 and 1.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from scrubjay.parametric.redundancy import alike, redundancies
from scrubjay.parametric.skills import Execution, Skill

__all__ = ["Scored", "Terms", "Weights", "heuristic", "score", "terms_of", "top"]

_ALPHA = 0.2  # of the moving average of calls in a life
_RATE, _RETRIEVALS = 0.8, 15


@dataclass(frozen=True, slots=True)
class Weights:
    """w1 to w4, chosen by a grid search on made records (`benchmarks/parametric.py choosing`)."""

    cost: float = 1.0
    stability: float = 0.25
    redundancy: float = 0.5
    forgetting: float = 0.25


@dataclass(frozen=True, slots=True)
class Terms:
    """The four terms, each from 0 to 1. `cost` is scaled over the skills scored together, see `terms_of`."""

    cost: float
    stability: float
    redundancy: float
    forgetting: float

    def weighed(self, weights: Weights) -> float:
        """PV."""
        gained = weights.cost * self.cost + weights.stability * self.stability
        return gained - weights.redundancy * self.redundancy - weights.forgetting * self.forgetting


@dataclass(frozen=True, slots=True)
class Scored:
    """A skill with its worthiness."""

    skill: Skill
    terms: Terms
    value: float


def terms_of(skills: Sequence[Skill], parameterised: Sequence[Skill]) -> list[Terms]:
    """The terms of each skill, against the set P of skills that are in the weights already.

    U_cost = f(s) |code(s)|, f an exponential moving average of the calls in a life (0.2 for the newest), |code| in
    characters; scaled to ln(1 + U) / ln(1 + max U), so that the largest is 1 and a tenth of it is not nothing.
    U_stab = SR(s) (1 - Var_ctx[success|s]), the variance of the success rate over contexts, at most 1/4.
    P_redun is the largest TF-IDF cosine to an element of P, R_forget is 1 where one of P has the same category; a skill
    that is in P itself is compared with the others of P.
    """
    costs = [_frequency(one) * len(one.code) for one in skills]
    scale = math.log1p(max(costs, default=0.0)) or 1.0
    redundant = redundancies([one.code for one in skills], [one.code for one in parameterised])
    among = _among(parameterised)
    taken = Counter(one.category for one in parameterised)
    return [
        Terms(
            math.log1p(cost) / scale,
            _stability(one.executions),
            among.get(one.name, also),
            float(taken[one.category] > (one.name in among)),
        )
        for one, cost, also in zip(skills, costs, redundant, strict=True)
    ]


def _among(parameterised: Sequence[Skill]) -> dict[str, float]:
    """P_redun of the elements of P, each against the others."""
    cosines = alike([one.code for one in parameterised])
    return {
        one.name: max((value for j, value in enumerate(row) if j != i), default=0.0)
        for i, (one, row) in enumerate(zip(parameterised, cosines, strict=True))
    }


def _frequency(skill: Skill) -> float:
    """The average after the last life. A life without a call counts, from the first call on."""
    calls: defaultdict[int, int] = defaultdict(int)
    for one in skill.executions:
        calls[one.life] += 1
    if not calls:
        return 0.0
    value, last = 0.0, max(skill.lives, *calls) if calls else 0
    for life in range(min(calls), last + 1):
        value = _ALPHA * calls[life] + (1 - _ALPHA) * value
    return value


def _stability(executions: Sequence[Execution]) -> float:
    if not executions:
        return 0.0
    seen: dict[str, list[int]] = {}
    for one in executions:
        counts = seen.setdefault(one.context, [0, 0])
        counts[0] += one.ok
        counts[1] += 1
    rates = [good / n for good, n in seen.values()]
    mean = sum(rates) / len(rates)
    variance = sum((rate - mean) ** 2 for rate in rates) / len(rates)
    return sum(one.ok for one in executions) / len(executions) * (1 - variance)


def score(skills: Sequence[Skill], parameterised: Sequence[Skill] = (), weights: Weights | None = None) -> list[Scored]:
    """The skills with PV, the worthiest first; equal ones in the order of names."""
    chosen = weights or Weights()
    found = [
        Scored(skill, terms, terms.weighed(chosen))
        for skill, terms in zip(skills, terms_of(skills, parameterised), strict=True)
    ]
    return sorted(found, key=lambda one: (-one.value, one.skill.name))


def top(scored: Sequence[Scored], q: float) -> list[Scored]:
    """Those at or above the (1 - q) quantile of all the values, as numpy interpolates it; ties are all in, one is in.

    q = 0.5: the better half.
    """
    values = sorted(one.value for one in scored)
    if not values:
        return []
    at = round((1 - q) * (len(values) - 1), 9)  # 0.3 * 10 is a little more than 3
    low = math.floor(at)
    high = min(low + 1, len(values) - 1)
    least = values[low] + (values[high] - values[low]) * (at - low)
    return [one for one in scored if one.value >= least]


def heuristic(skills: Sequence[Skill]) -> list[Skill]:
    """The baseline: SR of 0.8 or more, and 15 retrievals or more; a call is a retrieval."""
    return [one for one in skills if one.rate is not None and one.rate >= _RATE and len(one.executions) >= _RETRIEVALS]
