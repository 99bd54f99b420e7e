"""Conditions of a query as functions of one row, of a text, of walked cells, of screens.

This is what a query means; an index may only be faster. It reads no file.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from scrubjay.memory.records import Row
from scrubjay.retrieval.cues import SEARCHED_KINDS, coordinate, microseconds, recorded_microseconds, whole
from scrubjay.retrieval.query import DEFAULT_RADIUS, Query, parse_time
from scrubjay.retrieval.scope import Scope

if TYPE_CHECKING:
    from scrubjay.retrieval.patience import Patient

__all__ = ["cells_predicate", "radius_of", "row_predicate", "screen_matches", "text_predicate"]

Test = Callable[[Row], bool]


def radius_of(query: Query) -> float:
    """How far from `near` an episode may start."""
    return DEFAULT_RADIUS if query.radius is None else query.radius


def row_predicate(query: Query, scope: Scope) -> Test:
    """True for a row that meets every condition that the row alone decides."""
    tests = [*_scope_tests(scope), *_cue_tests(query), *_position_tests(query, scope), *_time_tests(query)]

    def matches(row: Row) -> bool:
        return row.kind in SEARCHED_KINDS and all(test(row) for test in tests)

    return matches


def _scope_tests(scope: Scope) -> list[Test]:
    tests: list[Test] = []
    first, last, world = scope.first, scope.last, scope.world
    if first > 0:
        tests.append(lambda row: row.life >= first)
    if last is not None:
        tests.append(lambda row: row.life <= last)
    if scope.one_world:
        tests.append(lambda row: row.world == world)
    return tests


def _cue_tests(query: Query) -> list[Test]:
    tests: list[Test] = []
    if query.steps is not None:
        low, high = sorted(query.steps)

        def overlaps(row: Row) -> bool:
            first, last = whole(row.first_step), whole(row.last_step)
            return first is not None and last is not None and first <= high and last >= low

        tests.append(overlaps)
    if query.tags:
        wanted = frozenset(query.tags)
        tests.append(lambda row: wanted.issubset(row.tags))
    if query.action is not None:
        tests.append(lambda row: row.action_kind == query.action)
    if query.place is not None:
        tests.append(lambda row: row.place == query.place)
    return tests


def _position_tests(query: Query, scope: Scope) -> list[Test]:
    tests: list[Test] = []
    if query.near is not None:
        (here, there), radius, (one, two) = query.near, radius_of(query), ("xyz"[axis] for axis in scope.ground)

        def close(row: Row) -> bool:
            a, b = coordinate(getattr(row, one)), coordinate(getattr(row, two))
            return a is not None and b is not None and math.hypot(a - here, b - there) <= radius

        tests.append(close)
    up, below, above = "xyz"[scope.up], query.below, query.above
    if below is not None or above is not None:

        def at_height(row: Row) -> bool:
            height = coordinate(getattr(row, up))
            return height is not None and (below is None or height <= below) and (above is None or height >= above)

        tests.append(at_height)
    return tests


def _time_tests(query: Query) -> list[Test]:
    tests: list[Test] = []
    if query.since is not None:
        since = microseconds(parse_time(query.since))

        def ran_after(row: Row) -> bool:
            time = recorded_microseconds(row.ended or row.started)
            return time is not None and time >= since

        tests.append(ran_after)
    if query.until is not None:
        until = microseconds(parse_time(query.until))

        def ran_before(row: Row) -> bool:
            time = recorded_microseconds(row.started or row.ended)
            return time is not None and time <= until

        tests.append(ran_before)
    return tests


def text_predicate(query: Query) -> Callable[[str], bool] | None:
    """True for a searched text that holds what `grep` and `regex` ask for; None where neither is asked."""
    if query.grep is None and query.regex is None:
        return None
    from scrubjay.retrieval.text import fold, normal

    needle = None if query.grep is None else fold(query.grep)
    pattern = None if query.regex is None else _patient(normal(query.regex))

    def matches(text: str) -> bool:
        if needle is not None and needle not in fold(text):
            return False
        return pattern is None or pattern.found_in(normal(text))

    return matches


def _patient(regex: str) -> Patient:
    from scrubjay.retrieval.patience import Patient

    return Patient(re.compile(regex, re.IGNORECASE))


def cells_predicate(query: Query, scope: Scope) -> Callable[[Iterable[Sequence[int]]], bool]:
    """True for walked cells of which one holds the point of `through`, or one lies within the radius asked for."""
    assert query.through is not None
    (here, there), radius, (one, two), size = query.through, query.radius, scope.ground, scope.cell
    home = (math.floor(here / size), math.floor(there / size))

    def gap(cell: int, at: float) -> float:
        return max(cell * size - at, at - (cell + 1) * size, 0.0)

    def reaches(cells: Iterable[Sequence[int]]) -> bool:
        if radius is None:
            return any((cell[one], cell[two]) == home for cell in cells)
        return any(math.hypot(gap(cell[one], here), gap(cell[two], there)) <= radius for cell in cells)

    return reaches


def screen_matches(query: Query, row: Row, screens: Iterable[str]) -> bool:
    """True where the picture asked for is that of the row, or among those that the episode's record names."""
    return query.same_screen is not None and query.same_screen in (row.observation_hash, *screens)
