"""Texts by their words: no model, nothing to install."""

from __future__ import annotations

from collections.abc import Sequence

from scrubjay.methods.likeness import likeness

__all__ = ["Words"]


class Words:
    """The cosine of word counts, rare words of the compared texts weighing more."""

    name = "words"
    related = 0.0

    def likeness(self, query: str, texts: Sequence[str]) -> list[float]:
        """From 0 (no word in common) to 1 (the same words as often), for each text."""
        return likeness(query, texts)
