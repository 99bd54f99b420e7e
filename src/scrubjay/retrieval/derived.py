"""What a search needs of a derived index: for type checkers alone, so that a query does not load it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from scrubjay.retrieval.cues import Place
from scrubjay.retrieval.judge import Judge
from scrubjay.retrieval.query import Query
from scrubjay.retrieval.scope import Scope

__all__ = ["Derived", "Facts"]


class Facts(Protocol):
    """What a scope needs to know of the rows."""

    def newest_life(self) -> int:
        """The highest life of any row; 0 where there is no row."""
        ...

    def world_of(self, life: int) -> tuple[bool, str | None]:
        """Whether the life has a row, and the world of its newest."""
        ...


class Derived(Protocol):
    """What a search needs of a derived index. Every method covers the rows before its watermark.

    Each may raise DerivedFailed, also while an iterator runs.
    """

    def newest_life(self) -> int:
        """The highest life; 0 where there is no row."""
        ...

    def newest_of(self, life: int) -> tuple[int, str | None] | None:
        """Number and world of the newest row of a life."""
        ...

    def places(self, query: Query, scope: Scope, judge: Judge, *, after: int, newest_first: bool) -> Iterator[Place]:
        """Where the matching rows with a number above `after` lie, in the order of numbers."""
        ...

    def ranked_places(self, query: Query, scope: Scope, judge: Judge, expression: str) -> Iterator[tuple[float, Place]]:
        """The matching rows that hold any of the words, with their BM25 rank."""
        ...

    def described_places(self, query: Query, scope: Scope, judge: Judge) -> Iterator[tuple[bytes, Place]]:
        """The matching rows, once for each descriptor of their first and last frame."""
        ...
