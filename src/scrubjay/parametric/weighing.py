"""The weights of worthiness, by a grid search over what a memory's own records say came of a choice.

The records are cut in two: skills are chosen by the first part, and judged by what having them in the weights would
have saved in the second. A choice is greedy: each next skill is scored against those chosen before it.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from scrubjay.errors import InvalidInput
from scrubjay.parametric.redundancy import alike
from scrubjay.parametric.skills import Skill
from scrubjay.parametric.worthiness import Terms, Weights, terms_of

__all__ = ["GRID", "Weighed", "chosen_by", "saved", "search"]

GRID = (0.0, 0.25, 0.5, 1.0)


@dataclass(frozen=True, slots=True)
class Weighed:
    """A point of the grid. `value` is the characters of code that its choice saved, summed over cuts and sizes."""

    weights: Weights
    value: float


@dataclass(frozen=True, slots=True)
class _Problem:
    """One cut: terms of the first part without redundancy, how alike skills are, what each would save later."""

    skills: Sequence[Skill]
    terms: Sequence[Terms]
    alike: Sequence[Sequence[float]]
    gains: Sequence[float]


def search(
    skills: Sequence[Skill], size: int, cuts: Sequence[float] = (0.4, 0.5, 0.6), grid: Sequence[float] = GRID
) -> list[Weighed]:
    """Every point of the grid, the best first; of equal ones that with the smaller weights.

    `size` is how many skills are chosen, `cuts` where each skill's records are cut. Raises InvalidInput where there
    are not more skills than are chosen.
    """
    if size < 1:
        raise InvalidInput(f"{size} skills to choose: 1 or more were expected")
    if len(skills) <= size:
        raise InvalidInput(f"{len(skills)} skills and {size} to choose: there is no choice; give more skills")
    cosines = alike([one.code for one in skills])
    problems = [_problem(skills, cut, cosines) for cut in cuts]
    found = []
    for values in itertools.product(grid, repeat=4):
        weights = Weights(*values)
        total = sum(_saved(problem, _choose(problem, weights, size)) for problem in problems)
        found.append(Weighed(weights, total))
    return sorted(found, key=lambda one: (-one.value, _sum(one.weights)))


def _sum(weights: Weights) -> float:
    return weights.cost + weights.stability + weights.redundancy + weights.forgetting


def chosen_by(skills: Sequence[Skill], weights: Weights, size: int) -> list[Skill]:
    """The skills that these weights choose, one after the other, from all their records."""
    problem = _problem(skills, 1.0, alike([one.code for one in skills]))
    return [skills[i] for i in _choose(problem, weights, size)]


def saved(skills: Sequence[Skill], chosen: Sequence[Skill], cut: float) -> float:
    """What having these in the weights would have saved after the cut, in characters of code."""
    problem = _problem(skills, cut, alike([one.code for one in skills]))
    places = {one.name: i for i, one in enumerate(skills)}
    return _saved(problem, [places[one.name] for one in chosen])


def _problem(skills: Sequence[Skill], cut: float, cosines: Sequence[Sequence[float]]) -> _Problem:
    early, gains = [], []
    for one in skills:
        at = round(len(one.executions) * cut)
        early.append(replace(one, executions=one.executions[:at]))
        later = one.executions[at:]
        gains.append(float(sum(run.ok for run in later) * len(one.code)))
    return _Problem(early, terms_of(early, ()), cosines, gains)


def _choose(problem: _Problem, weights: Weights, size: int) -> list[int]:
    chosen: list[int] = []
    redundant = [0.0] * len(problem.skills)
    taken: set[str | None] = set()
    while len(chosen) < min(size, len(problem.skills)):
        best = max(
            (i for i in range(len(problem.skills)) if i not in chosen),
            key=lambda i: (
                replace(
                    problem.terms[i],
                    redundancy=redundant[i],
                    forgetting=float(problem.skills[i].category in taken),
                ).weighed(weights),
                -i,
            ),
        )
        chosen.append(best)
        taken.add(problem.skills[best].category)
        redundant = [max(a, b) for a, b in zip(redundant, problem.alike[best], strict=True)]
    return chosen


def _saved(problem: _Problem, chosen: Sequence[int]) -> float:
    """A twin of one chosen before saves only what is its own: an adapter that can write one can write the other."""
    total = 0.0
    for place, i in enumerate(chosen):
        twin = max((problem.alike[j][i] for j in chosen[:place]), default=0.0)
        total += problem.gains[i] * (1 - twin)
    return total
