"""EfficientNet-Lite0, as its weights lie in a checkpoint: from pictures to what its last layer but one sees.

Needs torch. Source: Tan and Le, EfficientNet (2019); the Lite variants have no squeeze-and-excitation, and ReLU6.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import torch
from torch.nn.functional import batch_norm, conv2d, linear, pad, relu6

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["SIDE", "Lite0"]

SIDE = 224  # pixels of the square picture it was trained on
_STRIDES = {1: 2, 3: 2, 5: 2, 11: 2}  # of the 16 blocks; the others keep the size
_BLOCKS = 16
_EPSILON = 1e-3


class Lite0:
    """The network of 16 blocks with these weights."""

    def __init__(self, weights: Mapping[str, Tensor]) -> None:
        self._weights = weights

    def features(self, pictures: Tensor) -> Tensor:
        """float32 (N, 1280), each 0 to 6, of pictures float32 (N, 3, 224, 224) with values from -1 to 1."""
        with torch.inference_mode():
            hidden = relu6(self._normed("_bn0", self._convolved("_conv_stem", pictures, stride=2)))
            for number in range(_BLOCKS):
                hidden = self._block(f"_blocks.{number}", hidden, _STRIDES.get(number, 1))
            return relu6(self._normed("_bn1", self._convolved("_conv_head", hidden))).mean((2, 3))

    def classes(self, pictures: Tensor) -> Tensor:
        """float32 (N, 1000): how much each picture looks like each class of ImageNet."""
        with torch.inference_mode():
            return linear(self.features(pictures), self._weights["_fc.weight"], self._weights["_fc.bias"])

    def _block(self, name: str, before: Tensor, stride: int) -> Tensor:
        hidden = before
        if f"{name}._expand_conv.weight" in self._weights:
            hidden = relu6(self._normed(f"{name}._bn0", self._convolved(f"{name}._expand_conv", hidden)))
        deep = self._convolved(f"{name}._depthwise_conv", hidden, stride, groups=hidden.shape[1])
        hidden = relu6(self._normed(f"{name}._bn1", deep))
        hidden = self._normed(f"{name}._bn2", self._convolved(f"{name}._project_conv", hidden))
        return hidden + before if hidden.shape == before.shape else hidden

    def _convolved(self, name: str, values: Tensor, stride: int = 1, groups: int = 1) -> Tensor:
        """A convolution that keeps the size (over the stride); what is added at the edges is more below and right."""
        weight = self._weights[f"{name}.weight"]
        side, edge = values.shape[-1], weight.shape[-1]
        extra = max(0, (-(-side // stride) - 1) * stride + edge - side)
        padded = pad(values, (extra // 2, extra - extra // 2) * 2)
        return conv2d(padded, weight, stride=stride, groups=groups)

    def _normed(self, name: str, values: Tensor) -> Tensor:
        mean, variance, weight, bias = (
            self._weights[f"{name}.{part}"] for part in ("running_mean", "running_var", "weight", "bias")
        )
        return batch_norm(values, mean, variance, weight, bias, eps=_EPSILON)
