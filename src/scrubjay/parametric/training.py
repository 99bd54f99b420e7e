"""The update of one adapter: a small loop over D_succ and D_cpair, with the reference computed once.

It changes the weights it is handed and nothing else; where they come from, and whether the result is kept, it does not
know.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from scrubjay.errors import InvalidInput, TrainingFailed
from scrubjay.parametric.backbone import Backbone
from scrubjay.parametric.examples import Example, Preference
from scrubjay.parametric.objective import cloning, preference

__all__ = ["Loss", "Recipe", "Trained", "margins", "train"]

_CHUNK = 8  # sequences at once where nothing is learned


@dataclass(frozen=True, slots=True)
class Recipe:
    """How an update is made. `cloning` and `preferring` weigh the two losses; `preferring` is the paper's lambda, 1.

    `beta` is not given in the paper; 0.1 is that of the DPO paper. `batch` is how many successes, and how many pairs,
    go into a step. The rate rises over the first tenth and falls to a tenth of `rate`.
    """

    steps: int = 60
    rate: float = 1e-3
    batch: int = 8
    cloning: float = 1.0
    preferring: float = 1.0
    beta: float = 0.1
    seed: int = 0

    def __post_init__(self) -> None:
        if self.steps < 1 or self.batch < 1:
            raise InvalidInput(f"steps and batch: 1 or more were expected, found {self.steps} and {self.batch}")
        if not 0 < self.rate < math.inf or not 0 < self.beta < math.inf:
            raise InvalidInput(f"rate and beta: numbers above 0 were expected, found {self.rate} and {self.beta}")


@dataclass(frozen=True, slots=True)
class Loss:
    """The loss of a step and its parts; a part that was not asked for, or had no data, is None."""

    total: float
    cloning: float | None
    preferring: float | None


@dataclass(frozen=True, slots=True)
class Trained:
    """What an update did. `margins` are the mean log-ratio of chosen over rejected against the reference, after it."""

    losses: tuple[Loss, ...]
    margin: float | None
    cpu_seconds: float


@dataclass(frozen=True, slots=True)
class _Reference:
    chosen: list[float]
    rejected: list[float]


def train(
    backbone: Backbone,
    weights: Sequence[Any],
    successes: Sequence[Example],
    pairs: Sequence[Preference],
    recipe: Recipe,
    penalty: Callable[[], Any] | None = None,
) -> Trained:
    """Updates `weights` in place. The policy as it is when called is the reference of the preferences.

    `penalty` is added to every loss. Raises TrainingFailed where there is nothing to learn from, or a loss or a
    weight is no number; the weights are then what the steps so far made of them, and the caller puts the old ones back.
    """
    import torch

    cloned = list(successes) if recipe.cloning else []
    preferred = list(pairs) if recipe.preferring else []
    if not cloned and not preferred:
        raise TrainingFailed("nothing to learn from: no verified success and no pair of a failure and its correction")
    began, rng = time.process_time(), random.Random(recipe.seed)
    reference = _reference(backbone, preferred)
    optimiser = torch.optim.AdamW(weights, lr=recipe.rate, weight_decay=0.0)
    losses: list[Loss] = []
    for step in range(recipe.steps):
        for group in optimiser.param_groups:
            group["lr"] = recipe.rate * _scale(step, recipe.steps)
        total, parts = _loss(backbone, cloned, preferred, reference, recipe, rng)
        if penalty is not None:
            total = total + penalty()
        losses.append(Loss(float(total.detach()), *parts))
        if not math.isfinite(losses[-1].total):
            raise TrainingFailed(f"the loss of step {step + 1} is {losses[-1].total}: lower the rate ({recipe.rate})")
        total.backward()
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimiser.step()
        optimiser.zero_grad()
    if not all(bool(torch.isfinite(one).all()) for one in weights):
        raise TrainingFailed(f"weights are no numbers after step {recipe.steps}: lower the rate ({recipe.rate})")
    gained = _margin(backbone, preferred, reference)
    return Trained(tuple(losses), gained, time.process_time() - began)


def _scale(step: int, steps: int) -> float:
    return min(1.0, (step + 1) / max(1.0, steps / 10)) * (1 - 0.9 * step / steps)


def _loss(
    backbone: Backbone,
    cloned: list[Example],
    preferred: list[Preference],
    reference: _Reference,
    recipe: Recipe,
    rng: random.Random,
) -> tuple[Any, tuple[float | None, float | None]]:
    import torch

    total: Any = 0.0
    first = second = None
    if cloned:
        drawn = [cloned[i] for i in _drawn(rng, len(cloned), recipe.batch)]
        sums, tokens = backbone.log_probabilities([one.prompt for one in drawn], [one.completion for one in drawn])
        value = cloning(sums, tokens)
        total, first = total + recipe.cloning * value, float(value.detach())
    if preferred:
        places = _drawn(rng, len(preferred), recipe.batch)
        asked = [preferred[i].prompt for i in places]
        texts = [preferred[i].chosen for i in places] + [preferred[i].rejected for i in places]
        sums, _ = backbone.log_probabilities(asked + asked, texts)
        chosen, rejected = sums.chunk(2)
        chosen_before = torch.tensor([reference.chosen[i] for i in places]).to(sums)
        rejected_before = torch.tensor([reference.rejected[i] for i in places]).to(sums)
        value = preference(chosen, rejected, chosen_before, rejected_before, recipe.beta)
        total, second = total + recipe.preferring * value, float(value.detach())
    return total, (first, second)


def _drawn(rng: random.Random, n: int, most: int) -> list[int]:
    return rng.sample(range(n), min(n, most))


def _reference(backbone: Backbone, pairs: Sequence[Preference]) -> _Reference:
    return _Reference(
        _scores(backbone, pairs, [one.chosen for one in pairs]),
        _scores(backbone, pairs, [one.rejected for one in pairs]),
    )


def _scores(backbone: Backbone, pairs: Sequence[Preference], texts: Sequence[str]) -> list[float]:
    import torch

    found: list[float] = []
    with torch.no_grad():
        for at in range(0, len(pairs), _CHUNK):
            part = slice(at, at + _CHUNK)
            found += backbone.log_probabilities([one.prompt for one in pairs[part]], texts[part])[0].tolist()
    return found


def _margin(backbone: Backbone, pairs: Sequence[Preference], reference: _Reference) -> float | None:
    if not pairs:
        return None
    now = margins(backbone, pairs)
    before = [a - b for a, b in zip(reference.chosen, reference.rejected, strict=True)]
    return sum(a - b for a, b in zip(now, before, strict=True)) / len(now)


def margins(backbone: Backbone, pairs: Sequence[Preference]) -> list[float]:
    """log p(chosen) - log p(rejected) of each pair, under the model as it is."""
    found = _reference(backbone, pairs)
    return [a - b for a, b in zip(found.chosen, found.rejected, strict=True)]
