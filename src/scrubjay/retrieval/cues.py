"""The lines of `index.jsonl` as rows that a query can judge, and their values as numbers that compare exactly.

It decides which lines count: whole rows with an id of the memory's own form. It does not know what is asked.
"""

from __future__ import annotations

import io
import math
import os
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from scrubjay.memory.jsonio import Json, loads_object
from scrubjay.memory.layout import Layout, episode_id
from scrubjay.memory.records import REMOVED, SEARCHED_KINDS, Row, check_row, is_number

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
    "read_growth",
    "read_lines",
    "recorded_microseconds",
    "row_of_line",
    "whole",
]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_LARGEST = 1 << 62
# More is memory from the system each time, and a query that reads one new row would pay for it.
_CHUNK = 1 << 16
# Ids have no more than 18 digits.
_NUMBERS = 10**18


class Place(NamedTuple):
    """Where the row of an episode lies in the index: `number` orders it, `length` counts the newline."""

    number: int
    offset: int
    length: int


class Line:
    """A row of the index and its place. `raw` are its bytes, `value` is what they say; it has passed `check_row`."""

    __slots__ = ("_row", "place", "raw", "value")

    def __init__(self, place: Place, raw: bytes, value: Json) -> None:
        self.place = place
        self.raw = raw
        self.value = value
        self._row: Row | None = None

    @property
    def row(self) -> Row:
        """The row as an object, made when it is first asked for."""
        if self._row is None:
            self._row = Row.from_checked(self.value)
        return self._row


def is_bare(layout: Layout) -> bool:
    """True for format 0: an index without a memory around it, as the published runs are."""
    return not os.path.exists(layout.manifest)


def read_lines(layout: Layout, start: int = 0, *, bare: bool) -> Iterator[Line]:
    """Every row from byte `start` on, in the order of the file. Broken lines are passed over; `check` names them."""
    try:
        file = open(layout.index, "rb", buffering=_CHUNK)  # noqa: SIM115 (closed below; a missing file is no error)
    except FileNotFoundError:
        return
    with file:
        file.seek(start)
        yield from _lines(file, start, bare)


def _lines(file: Iterable[bytes], offset: int, bare: bool) -> Iterator[Line]:
    for raw in file:
        line = _line(offset, raw, bare)
        if line is not None:
            yield line
        offset += len(raw)


def read_growth(layout: Layout, descriptor: int, start: int, *, bare: bool) -> Iterator[Line]:
    """As `read_lines`, for what an open file has grown by: a little of it is read at once."""
    data = os.pread(descriptor, _CHUNK, start)
    if len(data) == _CHUNK:
        yield from read_lines(layout, start, bare=bare)
        return
    yield from _lines(io.BytesIO(data), start, bare)


def line_at(descriptor: int, place: Place, *, bare: bool) -> Line:
    """The row at this place. Raises ValueError where another episode's or none stands there."""
    line = _line(place.offset, os.pread(descriptor, place.length, place.offset), bare)
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


def _line(offset: int, raw: bytes, bare: bool) -> Line | None:
    if not raw.endswith(b"\n"):
        return None
    try:
        value = loads_object(raw)
        check_row(value)
        number = int(value["id"][3:])
    except (ValueError, RecursionError):
        return None
    if number >= _NUMBERS or episode_id(number) != value["id"]:
        return None
    if bare:
        value = {**value, "life": 1, "world": None}
    return None if (value.get("life") or 1) >= _LARGEST else Line(Place(number, offset, len(raw)), raw, value)


def coordinate(value: float | None) -> float | None:
    """A finite number, or None for what can't be compared."""
    if type(value) is float:
        return value if math.isfinite(value) else None
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
