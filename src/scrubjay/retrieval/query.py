"""What to look for: conditions on the cues of episodes.

A Query knows its conditions and checks itself. It does not know where rows come from.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from typing import Any

from scrubjay.errors import InvalidInput
from scrubjay.memory.light import dataclass

__all__ = ["ALL_LIVES", "DEFAULT_LIMIT", "DEFAULT_RADIUS", "Query", "parse_time"]

DEFAULT_RADIUS = 6.0
DEFAULT_LIMIT = 200
ALL_LIVES = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """Conditions that a matching episode meets, all of them.

    steps     (a, b), either order: the episode's steps overlap a..b
    near      two coordinates on the ground of the world (x and z where y is up): the start lies within `radius`
    through   likewise, but any cell walked: the one that holds the point, or any that `radius` reaches
    below, above   height of the start at most, at least
    place     the episode's place, exactly
    since, until   ISO times (no zone: UTC): the episode ran at or after, at or before
    tag       one tag, or several that must all be there
    action    the action's kind, exactly
    grep      literal text, whatever its case and Unicode normal form, in row, action, outcome or state
    regex     a Python regular expression in the same text, whatever its case
    match     words, ranked by BM25 over summary, notes, events, state (`Matches.documents`: in the agent's documents)
    same_screen    hash of a frame's pixels: the start or the end shows exactly this picture
    like      descriptors of a picture, end to end (`places.views`): rank by how much the start or end looks like it
    life, previous, world   which lives: the one in question, a number, all; the earlier ones; those of a world
    last      the newest N of what matches
    limit, after   paging: at most so many rows, of those that follow this id
    """

    steps: tuple[int, int] | None = None
    near: tuple[float, float] | None = None
    radius: float | None = None
    through: tuple[float, float] | None = None
    below: float | None = None
    above: float | None = None
    place: str | None = None
    since: str | datetime | None = None
    until: str | datetime | None = None
    tag: str | tuple[str, ...] | None = None
    action: str | None = None
    grep: str | None = None
    regex: str | None = None
    match: str | None = None
    same_screen: str | None = None
    like: bytes | None = None
    life: int | str | None = None
    previous: bool = False
    world: str | None = None
    last: int | None = None
    limit: int | None = DEFAULT_LIMIT
    after: str | None = None

    def __post_init__(self) -> None:
        for name in ("near", "through"):
            pair = getattr(self, name)
            if pair is not None:
                _check(
                    len(pair) == 2 and all(math.isfinite(v) for v in pair),
                    name,
                    "two finite coordinates",
                    pair,
                )
        for name in ("radius", "below", "above"):
            value = getattr(self, name)
            if value is not None:
                _check(math.isfinite(value) and (name != "radius" or value >= 0), name, "a finite number", value)
        if self.steps is not None:
            _check(len(self.steps) == 2, "steps", "two step numbers", self.steps)
        _check(self.last is None or self.last >= 0, "last", "a count of 0 or more", self.last)
        _check(self.limit is None or self.limit > 0, "limit", "a count above 0", self.limit)
        for name in ("grep", "regex", "match"):
            text = getattr(self, name)
            _check(text is None or text.strip() != "", name, "some text to look for", text)
        if isinstance(self.life, str) and self.life != ALL_LIVES:
            raise InvalidInput(f"life: a number or {ALL_LIVES!r} was expected, found {self.life!r}")
        _check(self.match is None or self.like is None, "like", "either match or like", self.match)
        _check(not (self.previous and self.life is not None), "previous", "either previous or life", self.life)
        if self.regex is not None:
            try:
                re.compile(self.regex)
            except re.error as error:
                raise InvalidInput(f"regex: {error}; --grep looks for literal text") from None
        for name in ("since", "until"):
            if getattr(self, name) is not None:
                parse_time(getattr(self, name))

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags asked for, as a tuple."""
        if self.tag is None:
            return ()
        return (self.tag,) if isinstance(self.tag, str) else tuple(self.tag)

    @property
    def has_position(self) -> bool:
        """True where a condition compares coordinates, so that the rows must be of one world."""
        return any(value is not None for value in (self.near, self.through, self.below, self.above))

    @property
    def reads_text(self) -> bool:
        """True where a condition needs more than the row: the episode's record as text."""
        return self.grep is not None or self.regex is not None or self.match is not None

    @property
    def ranked(self) -> bool:
        """True where matches come best first instead of in order of time."""
        return self.match is not None or self.like is not None

    @property
    def needs_record(self) -> bool:
        """True where a condition is about cues that only an episode's record holds: cells, screens, descriptors."""
        return any(value is not None for value in (self.through, self.same_screen, self.like))

    def conditions(self) -> dict[str, Any]:
        """The conditions that are set, by name: what to show a person."""
        return {
            name: getattr(self, name)
            for name in self.__slots__
            if getattr(self, name) not in (None, False) and name != "limit"
        }


def _check(holds: bool, name: str, expected: str, found: object) -> None:
    if not holds:
        raise InvalidInput(f"{name}: {expected} was expected, found {found!r}")


def parse_time(text: str | datetime) -> datetime:
    """An aware time from ISO 8601 text; without a zone it is UTC. Raises InvalidInput."""
    try:
        time = text if isinstance(text, datetime) else datetime.fromisoformat(text.strip())
    except ValueError:
        raise InvalidInput(f"{text!r} is not a time; one looks like 2026-11-30T12:00:00+01:00 or 2026-11-30") from None
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)
