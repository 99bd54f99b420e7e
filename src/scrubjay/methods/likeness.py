"""How alike two texts are by their words: what stands in for an embedding where none is installed.

The cosine of word counts, rare words of the compared texts weighing more. It knows texts alone.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

__all__ = ["likeness"]

_WORD = re.compile(r"[^\W_]+")


def likeness(query: str, texts: Sequence[str]) -> list[float]:
    """From 0 (no word in common) to 1 (the same words as often), for each text."""
    counts = [Counter(_words(text)) for text in texts]
    holding = Counter(word for count in counts for word in count)
    wanted = Counter(_words(query))

    def weight(word: str) -> float:
        return math.log(1 + (1 + len(texts)) / (1 + holding[word]))

    def length(count: Counter[str]) -> float:
        return math.sqrt(sum((n * weight(word)) ** 2 for word, n in count.items()))

    total = length(wanted)
    found = []
    for count in counts:
        shared = sum(count[word] * n * weight(word) ** 2 for word, n in wanted.items())
        both = total * length(count)
        found.append(min(1.0, shared / both) if both else 0.0)
    return found


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text.replace("_", " "))]
