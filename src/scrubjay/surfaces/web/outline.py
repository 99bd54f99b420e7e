"""The index in columns: which episode belongs to which life, its steps, and what marks it on a strip of time.

It reads `index.jsonl` once and then only what was appended. It knows rows; no picture, no page.
"""

from __future__ import annotations

import bisect
import os
import threading
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from scrubjay.memory.following import Follower
from scrubjay.memory.journal import Entry
from scrubjay.memory.jsonio import Json
from scrubjay.memory.layout import Layout, episode_id, episode_number
from scrubjay.memory.records import REMOVED, SEARCHED_KINDS, is_number

__all__ = ["DIED", "MILESTONE", "LifeOutline", "Outline", "Point"]

MILESTONE = 1
DIED = 2
_MARKS = {"milestone": MILESTONE, "died": DIED}
_MOST_NAMES = 10_000


def _fits(number: object) -> bool:
    """True for a whole number that a column holds; a row with a greater one was written by no one of us."""
    return type(number) is int and 0 <= number < 1 << 62


@dataclass(frozen=True, slots=True)
class Point:
    """An episode in the outline. `marks` are MILESTONE and DIED, added."""

    number: int
    life: int
    first_step: int
    last_step: int
    marks: int

    @property
    def id(self) -> str:
        """`ep_000043`."""
        return episode_id(self.number)


@dataclass(slots=True)
class LifeOutline:
    """What the rows of one life add up to. `places` are positions of its episodes in the columns, in order."""

    life: int
    first_step: int = 0
    last_step: int = 0
    places: array[int] = field(default_factory=lambda: array("q"))
    marked: array[int] = field(default_factory=lambda: array("q"))


class Outline:
    """The columns of one memory's index. Safe for any number of threads."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._follower = Follower(layout.index)
        self._mutex = threading.Lock()
        self._seen = (0, 0)
        self.generation = 0  # another one where what was counted may not hold any more
        self._forget()

    def _forget(self) -> None:
        self.generation += 1
        self._numbers, self._lives = array("q"), array("q")
        self._first, self._last, self._marks = array("q"), array("q"), array("B")
        self._place: dict[int, int] = {}
        self._of_life: dict[int, LifeOutline] = {}
        self.tags: Counter[str] = Counter()
        self.actions: Counter[str] = Counter()
        self.worlds: Counter[str] = Counter()
        self.searched: Counter[int] = Counter()  # by life, those that a query may find

    def refresh(self) -> None:
        """Reads what was appended; from the beginning where a row was rewritten in its place (a removal)."""
        with self._mutex:
            try:
                status = os.stat(self._layout.index)
            except FileNotFoundError:
                return
            before, self._seen = self._seen, (status.st_size, status.st_mtime_ns)
            if self._seen == before:
                return
            if status.st_size == before[0]:
                self._follower = Follower(self._layout.index)
            lines = self._follower.look()
            if self._follower.is_anew:
                self._forget()
            for line in lines:
                if isinstance(line, Entry):
                    self._take(line.row)

    def _take(self, row: Json) -> None:
        kind, ident, life = row.get("kind", "episode"), row.get("id"), row.get("life") or 1
        if kind not in SEARCHED_KINDS and kind != REMOVED:
            return
        try:
            number = episode_number(ident) if isinstance(ident, str) else -1
        except ValueError:
            return
        said = row.get("tags") or []
        if not _fits(number) or not _fits(life) or not isinstance(said, list):
            return
        tags = [tag for tag in said if isinstance(tag, str)]
        first, last = row.get("first_step"), row.get("last_step")
        first = int(first) if is_number(first) and _fits(int(first)) else 0
        last = max(int(last), first) if is_number(last) and _fits(int(last)) else first
        marks = sum(_MARKS.get(tag, 0) for tag in set(tags))
        if number in self._place:
            self._correct(self._place[number], Point(number, life, first, last, marks))
            return
        place = self._place[number] = len(self._numbers)
        for column, value in zip(self._columns(), (number, life, first, last, marks), strict=True):
            column.append(value)
        of_life = self._of_life.setdefault(life, LifeOutline(life, first))
        of_life.places.append(place)
        of_life.last_step = max(of_life.last_step, last)
        if marks:
            of_life.marked.append(place)
        if kind in SEARCHED_KINDS:
            self.searched[life] += 1
        self._count(set(tags), row)

    def _correct(self, place: int, now: Point) -> None:
        """A second row of an episode: the later holds. An episode changes no life; what was counted stays counted."""
        before = self._at(place)
        if now.life != before.life:
            return
        self._first[place], self._last[place], self._marks[place] = now.first_step, now.last_step, now.marks
        of_life = self._of_life[now.life]
        of_life.last_step = max(of_life.last_step, now.last_step)
        if before.marks and not now.marks:
            of_life.marked.remove(place)
        elif now.marks and not before.marks:
            bisect.insort(of_life.marked, place)

    def _columns(self) -> tuple[array[int], ...]:
        return (self._numbers, self._lives, self._first, self._last, self._marks)

    def _count(self, tags: Iterable[str], row: Json) -> None:
        for counter, names in (
            (self.tags, tags),
            (self.actions, [row.get("action_kind")]),
            (self.worlds, [row.get("world")]),
        ):
            for name in names:
                if isinstance(name, str) and (name in counter or len(counter) < _MOST_NAMES):
                    counter[name] += 1

    # --- asking

    def __len__(self) -> int:
        return len(self._numbers)

    def most_common(self, counts: Counter[str], most: int) -> list[str]:
        """The names that came most often, of `tags`, `actions` or `worlds`."""
        with self._mutex:
            return [name for name, _ in counts.most_common(most)]

    def lives(self) -> dict[int, LifeOutline]:
        """The lives that have an episode, by number."""
        with self._mutex:
            return dict(self._of_life)

    def point(self, number: int) -> Point | None:
        """One episode, or None where the index has no row of it."""
        place = self._place.get(number)
        return None if place is None else self._at(place)

    def life_of(self, number: int) -> int:
        """The life of an episode; 1 where the index has no row of it."""
        place = self._place.get(number)
        return 1 if place is None else self._lives[place]

    def _at(self, place: int) -> Point:
        return Point(*(column[place] for column in self._columns()))

    def marked(self, life: int) -> Iterator[Point]:
        """The episodes of a life that carry a mark, in order."""
        found = self._of_life.get(life)
        return iter(()) if found is None else map(self._at, array("q", found.marked))

    def newest(self, life: int, count: int) -> list[Point]:
        """The last episodes of a life, newest first."""
        found = self._of_life.get(life)
        return [] if found is None else [self._at(place) for place in reversed(found.places[-count:])]

    def neighbours(self, number: int) -> tuple[Point | None, Point | None]:
        """The episodes before and after this one, in its life."""
        place = self._place.get(number)
        if place is None:
            return (None, None)
        places = self._of_life[self._lives[place]].places
        at = bisect.bisect_left(places, place)
        before = self._at(places[at - 1]) if at else None
        return (before, self._at(places[at + 1]) if at + 1 < len(places) else None)

    def at_step(self, life: int, step: int) -> Point | None:
        """The episode of a life in which a step lies; the one before it where none does."""
        found = self._of_life.get(life)
        if found is None or not found.places:
            return None
        at = bisect.bisect_right(found.places, step, key=lambda place: self._first[place])
        return self._at(found.places[max(at - 1, 0)])

    def activity(self, life: int, parts: int) -> list[int]:
        """How many episodes of a life began in each of so many equal spans of its steps."""
        counts = [0] * parts
        found = self._of_life.get(life)
        if found is not None:
            span = max(found.last_step - found.first_step, 1)
            first, columns = found.first_step, self._first
            for place in found.places:
                counts[min(parts - 1, max(0, (columns[place] - first) * parts // span))] += 1
        return counts
