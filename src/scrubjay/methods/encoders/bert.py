"""A small BERT, as its weights lie in a safetensors file: from tokens to one vector a text. Needs torch.

Source: Devlin et al., BERT (2018); mean pooling: Reimers and Gurevych, Sentence-BERT (2019).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import torch
from torch.nn.functional import gelu, layer_norm, linear, normalize, scaled_dot_product_attention

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["Bert"]

_EPSILON = 1e-12


class Bert:
    """The encoder of a BERT whose attention heads are `head` wide."""

    def __init__(self, weights: Mapping[str, Tensor], head: int) -> None:
        self._weights, self._head = weights, head
        self._layers = len({name.split(".")[2] for name in weights if name.startswith("encoder.layer.")})

    def vectors(self, tokens: Tensor, present: Tensor) -> Tensor:
        """Unit vectors (N, width) of N texts: the mean over their tokens, int64 (N, T); `present` is 0 for padding."""
        with torch.inference_mode():
            hidden = self._embedded(tokens)
            seen = present.bool()[:, None, None, :]
            for number in range(self._layers):
                hidden = self._layer(f"encoder.layer.{number}", hidden, seen)
            weight = present[:, :, None].to(hidden.dtype)
            return normalize((hidden * weight).sum(1) / weight.sum(1), dim=1)

    def _embedded(self, tokens: Tensor) -> Tensor:
        table = self._weights
        places = table["embeddings.position_embeddings.weight"][: tokens.shape[1]]
        summed = table["embeddings.word_embeddings.weight"][tokens] + places
        return self._normed("embeddings.LayerNorm", summed + table["embeddings.token_type_embeddings.weight"][0])

    def _layer(self, name: str, hidden: Tensor, seen: Tensor) -> Tensor:
        query, key, value = (
            self._linear(f"{name}.attention.self.{part}", hidden).unflatten(2, (-1, self._head)).transpose(1, 2)
            for part in ("query", "key", "value")
        )
        mixed = scaled_dot_product_attention(query, key, value, attn_mask=seen).transpose(1, 2).flatten(2)
        attended = self._linear(f"{name}.attention.output.dense", mixed)
        hidden = self._normed(f"{name}.attention.output.LayerNorm", attended + hidden)
        wide = gelu(self._linear(f"{name}.intermediate.dense", hidden))
        return self._normed(f"{name}.output.LayerNorm", self._linear(f"{name}.output.dense", wide) + hidden)

    def _linear(self, name: str, values: Tensor) -> Tensor:
        return linear(values, self._weights[f"{name}.weight"], self._weights[f"{name}.bias"])

    def _normed(self, name: str, values: Tensor) -> Tensor:
        weight, bias = self._weights[f"{name}.weight"], self._weights[f"{name}.bias"]
        return layer_norm(values, weight.shape, weight, bias, _EPSILON)
