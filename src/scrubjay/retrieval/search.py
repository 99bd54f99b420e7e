"""One query against one state of the index: a derived index for what it covers, a scan for the rest.

It merges, orders by rank, pages and counts. How a derived index finds its candidates it does not know.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from scrubjay.memory.layout import Layout, episode_id, episode_number
from scrubjay.memory.light import dataclass
from scrubjay.retrieval.cues import Line, Place, read_lines
from scrubjay.retrieval.judge import Judge
from scrubjay.retrieval.query import Query
from scrubjay.retrieval.scan import ScanFacts, matching_places, word_ranks
from scrubjay.retrieval.scope import Scope, Surroundings, scope_of
from scrubjay.retrieval.tail import Tail

if TYPE_CHECKING:
    from scrubjay.retrieval.derived import Derived
    from scrubjay.retrieval.text import Texts

__all__ = ["DerivedFailed", "Found", "Search"]

_DIGITS = 6


class DerivedFailed(Exception):
    """The derived index can't answer: locked, unwritable, broken or foreign. Nothing is lost by it."""


@dataclass(frozen=True, slots=True)
class Found:
    """One page of an answer: where its rows lie, whether more follow, and how to count them all."""

    places: list[Place]
    more: bool
    counted: Callable[[], int]

    @property
    def following(self) -> str | None:
        """The id to pass as `after` for the next page."""
        return episode_id(self.places[-1].number) if self.more and self.places else None


class Search:
    """Answers queries from an open index file, a tail that is up to date and a derived index, if any."""

    def __init__(
        self, layout: Layout, descriptor: int, surroundings: Surroundings, tail: Tail, derived: Derived | None
    ) -> None:
        self._layout = layout
        self._descriptor = descriptor
        self._surroundings = surroundings
        self._tail = tail
        self._derived = derived

    @cached_property
    def _texts(self) -> Texts:
        from scrubjay.retrieval.text import Texts

        return Texts(self._layout, bare=self._surroundings.bare)

    @cached_property
    def _tail_facts(self) -> ScanFacts:
        return ScanFacts(self._tail.lines())

    def newest_life(self) -> int:
        """The highest life of any row; 0 where there is no row."""
        known = 0 if self._derived is None else self._derived.newest_life()
        return max(known, self._tail_facts.newest_life())

    def world_of(self, life: int) -> tuple[bool, str | None]:
        """Whether the life has a row, and the world of its newest."""
        known = [self._tail_facts.newest.get(life), None if self._derived is None else self._derived.newest_of(life)]
        newest = max((one for one in known if one is not None), key=lambda one: one[0], default=None)
        return (False, None) if newest is None else (True, newest[1])

    def find(self, query: Query) -> Found:
        """The page of the answer that the query asks for."""
        scope = scope_of(query, self._surroundings, self)
        judge = Judge(query, scope, self._layout, lambda: self._texts, self._descriptor)
        if query.match is not None:
            return _page_of_ranked(query, self._by_words(query, scope, judge))
        if query.like is not None:
            return _page_of_ranked(query, self._by_picture(query, scope, judge))
        return self._in_order(query, scope, judge)

    # --- in the order of time

    def _in_order(self, query: Query, scope: Scope, judge: Judge) -> Found:
        in_tail, fresh = self._tail_places(judge)

        def stream(after: int, newest_first: bool) -> Iterator[Place]:
            recent = sorted((p for p in fresh if p.number > after), reverse=newest_first)
            if self._derived is None:
                return iter(recent)
            known = self._derived.places(query, scope, judge, after=after, newest_first=newest_first)
            kept = (place for place in known if place.number not in in_tail)
            return heapq.merge(kept, recent, reverse=newest_first) if recent else kept

        after = -1 if query.after is None else episode_number(query.after)
        if query.last is not None:
            newest = list(itertools.islice(stream(-1, True), query.last))[::-1]
            return _page(query, [place for place in newest if place.number > after], lambda: len(newest))
        wanted = None if query.limit is None else query.limit + 1
        found = list(itertools.islice(stream(after, False), wanted))
        return _page(query, found, lambda: sum(1 for _ in stream(-1, False)))

    def _tail_places(self, judge: Judge) -> tuple[set[int], list[Place]]:
        seen: set[int] = set()

        def noted() -> Iterator[Line]:
            for line in self._tail.lines():
                seen.add(line.place.number)
                yield line

        return seen, list(matching_places(noted(), judge).values())

    # --- best first

    def _by_words(self, query: Query, scope: Scope, judge: Judge) -> list[tuple[float, Place]]:
        from scrubjay.retrieval.words import search_expression

        assert query.match is not None
        expression = search_expression(query.match)
        if expression is None:
            return []
        if self._derived is not None and self._tail.count == 0:
            return list(self._derived.ranked_places(query, scope, judge, expression))
        # Ranks weigh every text against all others: a part of them can't be ranked apart.
        found = matching_places(self._all_lines(), judge)
        ranks = word_ranks(self._all_lines(), self._texts, self._descriptor, expression)
        return [(rank, found[number]) for number, rank in ranks if number in found]

    def _all_lines(self) -> Iterable[Line]:
        bare = self._surroundings.bare
        return self._tail.lines() if self._derived is None else read_lines(self._layout, bare=bare)

    def _by_picture(self, query: Query, scope: Scope, judge: Judge) -> list[tuple[float, Place]]:
        from scrubjay.retrieval.places import similarity
        from scrubjay.retrieval.recorded import read_recorded

        assert query.like is not None
        in_tail, fresh = self._tail_places(judge)
        found: list[tuple[bytes, Place]] = []
        if self._derived is not None:
            known = self._derived.described_places(query, scope, judge)
            found += ((picture, place) for picture, place in known if place.number not in in_tail)
        for place in fresh:
            found += ((picture, place) for picture in read_recorded(self._layout, place.number).places)
        best: dict[Place, float] = {}
        likeness = similarity(query.like, [picture for picture, _place in found])
        for value, (_picture, place) in zip(likeness, found, strict=True):
            rank = float(f"{-float(value):.{_DIGITS}g}")
            best[place] = min(rank, best.get(place, rank))
        return [(rank, place) for place, rank in best.items()]


def _page_of_ranked(query: Query, found: list[tuple[float, Place]]) -> Found:
    if query.last is not None:
        found = sorted(found, key=lambda one: one[1], reverse=True)[: query.last]
    ordered = [place for _rank, place in sorted(found, key=lambda one: (one[0], -one[1].number))]
    total = len(ordered)
    if query.after is not None:
        after = episode_number(query.after)
        position = next((i for i, place in enumerate(ordered) if place.number == after), total)
        ordered = ordered[position + 1 :]
    return _page(query, ordered, lambda: total)


def _page(query: Query, places: list[Place], count: Callable[[], int]) -> Found:
    limit = len(places) if query.limit is None else query.limit
    return Found(places[:limit], len(places) > limit, count)
