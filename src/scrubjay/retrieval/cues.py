"""The lines of `index.jsonl` as rows that a query can judge, and their values as numbers that compare exactly.

It decides which lines count: whole rows with an id of the memory's own form. It does not know what is asked.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from scrubjay.errors import InvalidInput
from scrubjay.memory import journal
from scrubjay.memory.jsonio import Json, loads_object
from scrubjay.memory.layout import Layout, episode_id, episode_number
from scrubjay.memory.light import dataclass
from scrubjay.memory.records import REMOVED, SEARCHED_KINDS, Row, is_number

__all__ = [
    "REMOVED",
    "SEARCHED_KINDS",
    "Line",
    "Place",
    "coordinate",
    "is_bare",
    "line_at",
    "microseconds",
    "raw_line",
    "read_lines",
    "recorded_microseconds",
    "row_of_line",
    "whole",
]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_LARGEST = 1 << 62


class Place(NamedTuple):
    """Where the row of an episode lies in the index: `number` orders it, `length` counts the newline."""

    number: int
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class Line:
    """A row of the index and its place."""

    place: Place
    row: Row


def is_bare(layout: Layout) -> bool:
    """True for format 0: an index without a memory around it, as the published runs are."""
    return not os.path.exists(layout.manifest)


def read_lines(layout: Layout, start: int = 0, *, bare: bool) -> Iterator[Line]:
    """Every row from byte `start` on, in the order of the file. Broken lines are passed over; `check` names them."""
    for entry in journal.read(layout.index, start):
        if isinstance(entry, journal.Entry):
            line = _line(entry.offset, entry.length, entry.row, bare)
            if line is not None:
                yield line


def line_at(descriptor: int, place: Place, *, bare: bool) -> Line:
    """The row at this place. Raises ValueError where another episode's or none stands there."""
    line = _line(place.offset, place.length, journal.row_at(descriptor, place.offset, place.length), bare)
    if line is None or line.place != place:
        raise ValueError(f"another row stands at byte {place.offset}")
    return line


def row_of_line(line: bytes, *, bare: bool) -> Row:
    """The row on a line. Raises ValueError where there is none."""
    value = loads_object(line)
    return Row.from_json({**value, "life": 1, "world": None} if bare else value)


def raw_line(descriptor: int, place: Place) -> bytes:
    """The bytes of the line at this place. Raises ValueError where another episode's or none stands there."""
    line = os.pread(descriptor, place.length, place.offset)
    # Rows that other programs wrote may space their keys otherwise.
    if not (line.endswith(b"\n") and b'"id": "%b"' % episode_id(place.number).encode() in line):
        line_at(descriptor, place, bare=False)
    return line


def _line(offset: int, length: int, value: Json, bare: bool) -> Line | None:
    try:
        row = Row.from_json(value)
        number = episode_number(row.id)
    except (ValueError, InvalidInput):
        return None
    if bare and (row.life != 1 or row.world is not None):
        row = Row.from_json({**value, "life": 1, "world": None})
    return None if row.life >= _LARGEST else Line(Place(number, offset, length), row)


def coordinate(value: float | None) -> float | None:
    """A finite number, or None for what can't be compared."""
    if not is_number(value):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def whole(value: int | None) -> int | None:
    """A step number, or None for what no life reaches."""
    return value if value is not None and -_LARGEST < value < _LARGEST else None


def microseconds(time: datetime) -> int:
    """Microseconds since 1970, exactly."""
    return (time - _EPOCH) // _MICROSECOND


def recorded_microseconds(text: str | None) -> int | None:
    """The time that a row holds; without a zone it is UTC. None where there is none."""
    if text is None:
        return None
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return microseconds(time if time.tzinfo is not None else time.replace(tzinfo=UTC))
