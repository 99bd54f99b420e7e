"""Elastic weight consolidation, a baseline: weights that mattered for earlier categories are held where they were.

Source: Kirkpatrick et al., Overcoming catastrophic forgetting in neural networks (2017), equation 3. The strength
decides its result, so it is swept, never chosen once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from scrubjay.parametric.backbone import Backbone
from scrubjay.parametric.examples import Example

__all__ = ["Anchor", "anchor", "pull"]


@dataclass(frozen=True, slots=True)
class Anchor:
    """Where the weights were after a category, and the diagonal of the empirical Fisher information there."""

    weights: list[Any]
    importance: list[Any]


def anchor(backbone: Backbone, weights: Sequence[Any], examples: Sequence[Example]) -> Anchor:
    """The anchor after learning `examples`: the mean square gradient of each completion's log-probability."""
    import torch

    importance = [torch.zeros_like(one) for one in weights]
    for example in examples:
        sums, _ = backbone.log_probabilities([example.prompt], [example.completion])
        gradients = torch.autograd.grad(sums.sum(), list(weights))
        for total, gradient in zip(importance, gradients, strict=True):
            total += gradient.detach() ** 2 / len(examples)
    return Anchor([one.detach().clone() for one in weights], importance)


def pull(weights: Sequence[Any], anchors: Sequence[Anchor], strength: float) -> Callable[[], Any]:
    """The penalty strength / 2 sum F (w - w_before)^2 over the anchors, for `train`."""

    def penalty() -> Any:
        total: Any = 0.0
        for one in anchors:
            for weight, before, important in zip(weights, one.weights, one.importance, strict=True):
                total = total + (important * (weight - before) ** 2).sum()
        return strength / 2 * total

    return penalty
