"""What to look for: conditions on the cues of episodes.

A Query knows its conditions and checks itself. It does not know where rows come from.
"""

from __future__ import annotations

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
                is_pair = isinstance(pair, (tuple, list)) and len(pair) == 2 and all(map(_is_finite, pair))
                _check(is_pair, name, "two finite coordinates", pair)
        for name in ("radius", "below", "above"):
            value = getattr(self, name)
            if value is not None:
                _check(_is_finite(value), name, "a finite number", value)
        _check(self.radius is None or self.radius >= 0, "radius", "a distance of 0 or more", self.radius)
        if self.steps is not None:
            is_pair = isinstance(self.steps, (tuple, list)) and len(self.steps) == 2 and all(map(_is_count, self.steps))
            _check(is_pair, "steps", "two step numbers", self.steps)
        _check(
            self.last is None or (_is_count(self.last) and self.last >= 0), "last", "a count of 0 or more", self.last
        )
        _check(self.limit is None or (_is_count(self.limit) and self.limit > 0), "limit", "a count above 0", self.limit)
        for name in ("place", "action", "world", "same_screen", "after", "grep", "regex", "match"):
            text = getattr(self, name)
            _check(text is None or isinstance(text, str), name, "text", text)
        is_text = self.tag is None or isinstance(self.tag, (str, tuple, list))
        _check(is_text and all(isinstance(tag, str) for tag in self.tags), "tag", "text", self.tag)
        is_life = self.life is None or isinstance(self.life, str) or (_is_count(self.life) and self.life > 0)
        _check(is_life, "life", f"a number above 0 or {ALL_LIVES}", self.life)
        _check(self.like is None or isinstance(self.like, bytes), "like", "descriptors, as of places.views,", self.like)
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
            except (re.error, OverflowError, RecursionError) as error:
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


def _is_finite(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e300


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 53


def _check(holds: bool, name: str, expected: str, found: object) -> None:
    if not holds:
        verb = "were" if expected.startswith("two") else "was"
        raise InvalidInput(f"{name}: {expected} {verb} expected, found {found!r}")


def parse_time(text: str | datetime) -> datetime:
    """An aware time from ISO 8601 text; without a zone it is UTC. Raises InvalidInput."""
    if not isinstance(text, (str, datetime)):
        raise InvalidInput(f"a time was expected, found {text!r:.80}")
    try:
        time = text if isinstance(text, datetime) else datetime.fromisoformat(text.strip())
    except ValueError:
        raise InvalidInput(f"{text!r} is not a time; one looks like 2026-11-30T12:00:00+01:00 or 2026-11-30") from None
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)
