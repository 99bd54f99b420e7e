"""Lines of the index as values for the tables of rows, tags, starts and lives.

It reads no database: names are numbered by whoever asks. What a line may leave out counts as `Row` has it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from scrubjay.memory.jsonio import Json
from scrubjay.retrieval.cache_boxes import Box, box_at
from scrubjay.retrieval.cues import SEARCHED_KINDS, Line, coordinate, recorded_microseconds, whole

__all__ = ["Values", "is_searched"]

_LONGEST_SPAN = 1 << 62


def is_searched(value: Json) -> bool:
    """True for a row that a search covers."""
    kind = value.get("kind")
    return kind is None or kind in SEARCHED_KINDS


class Values:
    """What the lines added so far mean to each table. `name_of` gives the number that a name goes by."""

    def __init__(self, name_of: Callable[[str], int]) -> None:
        self.rows: list[tuple[object, ...]] = []
        self.tags: list[tuple[int, int]] = []
        self.starts: dict[tuple[int, int], list[tuple[int, Box]]] = {}
        self.lives: dict[int, tuple[int, int, int, int | None, int]] = {}
        self.tagged: Counter[int] = Counter()
        self.acted: Counter[int] = Counter()
        self._name_of = name_of

    def add(self, line: Line) -> bool:
        """Adds a line; lines come by ascending number. True where a search covers it."""
        value, number, name_of = line.value, line.place.number, self._name_of
        get = value.get
        searched, life = is_searched(value), get("life") or 1
        world, action, place = get("world"), get("action_kind"), get("place")
        world = None if world is None else name_of(world)
        action = None if action is None else name_of(action)
        place = None if place is None else name_of(place)
        first, last = whole(get("first_step")), whole(get("last_step"))
        x, y, z = coordinate(get("x")), coordinate(get("y")), coordinate(get("z"))
        started, ended = get("started"), get("ended")
        since, until = recorded_microseconds(ended or started), recorded_microseconds(started or ended)
        self.rows.append((*line.place, searched, life, world, action, place, first, last, x, y, z, since, until))
        if action is not None:
            self.acted[action] += 1
        span = 0 if first is None or last is None else last - first
        _life, count, _newest, _world, longest = self.lives.get(life, _NO_LIFE)
        self.lives[life] = (life, count + 1, number, world, min(max(span, longest), _LONGEST_SPAN))
        if searched:
            if get("tags"):
                tags = set(map(name_of, value["tags"]))
                self.tags += [(tag, number) for tag in tags]
                self.tagged.update(tags)
            if x is not None or y is not None or z is not None:
                self.starts.setdefault((life, world or 0), []).append((number, box_at(x, y, z)))
        return searched


_NO_LIFE = (0, 0, 0, None, 0)
