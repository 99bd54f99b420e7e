"""A place event memory after MrSteve: what was seen, by place and direction, and within a place by what it looked like.

It knows sights: a picture's descriptor with where and which way it was taken. It reads no file and keeps none. What
the paper leaves open is chosen here and named: `apart`, `alike` and `least` are cosines of our descriptors.

Source: MrSteve: Instruction-Following Agents in Minecraft with What-Where-When Memory (2024). DP-means: Kulis and
Jordan, Revisiting k-means (2012).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

__all__ = ["PlaceMemory", "Sight", "dp_means"]

Point = tuple[float, float, float]
_ROUNDS = 50


@dataclass(frozen=True, slots=True)
class Sight:
    """A frame that was seen: `number` orders them in time, `reference` is its evidence, `picture` its descriptor."""

    number: int
    reference: str
    position: Point
    yaw: float
    picture: bytes


@dataclass(slots=True)
class _Event:
    """Sights of one place that look alike. `centre` is the direction of their mean."""

    sights: list[Sight]
    centre: Vector


@dataclass(slots=True)
class _Place:
    """Sights from one cell in one direction: those in events, and the new ones not yet put into any."""

    events: list[_Event] = field(default_factory=list)
    new: list[Sight] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.new) + sum(len(event.sights) for event in self.events)


class PlaceMemory:
    """Sights in cells of `cell` blocks and sectors of `sector` degrees.

    After every `every` sights the new ones of each place are clustered; a cluster whose centre is `alike` to an event
    of its place becomes part of it. Above `capacity` the oldest sight of the largest event of the largest place goes.
    """

    def __init__(
        self,
        cell: float = 6.0,
        sector: float = 60.0,
        every: int = 100,
        apart: float = 0.9,
        alike: float = 0.95,
        least: float = 0.9,
        capacity: int | None = None,
    ) -> None:
        if min(cell, sector, every) <= 0 or (capacity is not None and capacity < 1):
            raise InvalidInput("cell, sector, every and capacity: values above 0 were expected")
        self._cell, self._sector, self._every = cell, sector, every
        self._apart, self._alike, self._least, self._capacity = apart, alike, least, capacity
        self._places: dict[tuple[int, ...], _Place] = {}
        self._added = 0

    def __len__(self) -> int:
        return sum(map(len, self._places.values()))

    def sights(self) -> Iterator[Sight]:
        """Every sight that is kept, place by place."""
        for place in self._places.values():
            yield from place.new
            for event in place.events:
                yield from event.sights

    def places(self) -> list[tuple[Sight, ...]]:
        """The sights of each place, new ones among them."""
        return [
            (*place.new, *(sight for event in place.events for sight in event.sights))
            for place in self._places.values()
        ]

    def events(self) -> list[tuple[Sight, ...]]:
        """The sights of each event, without the new ones."""
        return [tuple(event.sights) for place in self._places.values() for event in place.events]

    def add(self, sight: Sight) -> None:
        """Keeps a sight."""
        self._places.setdefault(self._key(sight), _Place()).new.append(sight)
        self._added += 1
        if self._added % self._every == 0:
            self._cluster()
        if self._capacity is not None and len(self) > self._capacity:
            self._forget()

    def _key(self, sight: Sight) -> tuple[int, ...]:
        sector = math.floor(sight.yaw % 360 / self._sector)
        return (*(math.floor(value / self._cell) for value in sight.position), sector)

    def _cluster(self) -> None:
        for place in self._places.values():
            if not place.new:
                continue
            vectors = _unit([sight.picture for sight in place.new])
            for members in dp_means(vectors, self._apart):
                _put(place, [place.new[nth] for nth in members], self._alike)
            place.new = []

    def _forget(self) -> None:
        key, place = max(self._places.items(), key=lambda both: len(both[1]))
        groups = [event.sights for event in place.events] + ([place.new] if place.new else [])
        largest = max(groups, key=len)
        largest.remove(min(largest, key=lambda sight: sight.number))
        place.events = [event for event in place.events if event.sights]
        for event in place.events:
            if event.sights is largest:
                event.centre = _centre(event.sights)
        if not len(place):
            del self._places[key]

    # --- asking

    def find(self, picture: bytes, here: Point | None = None, *, centres: int = 30) -> list[tuple[Sight, float]]:
        """Sights that look at least as much like a picture as `least`; nearest to `here` first, else newest first.

        Only those of the best `centres` events are looked at, new sights of a place counting as one event.
        """
        groups = [(event.centre, event.sights) for place in self._places.values() for event in place.events]
        groups += [(_centre(place.new), place.new) for place in self._places.values() if place.new]
        if not groups:
            return []
        (wanted,) = _unit([picture])
        ranked = sorted(groups, key=lambda group: -float(group[0] @ wanted))[:centres]
        sights = [sight for _, members in ranked for sight in members]
        values = _unit([sight.picture for sight in sights]) @ wanted
        found = [(sight, float(value)) for sight, value in zip(sights, values, strict=True) if value >= self._least]
        return sorted(found, key=lambda both: (_away(both[0], here), -both[0].number))

    def near(self, here: Point, radius: float) -> list[Sight]:
        """Sights taken within a radius, nearest first."""
        found = [sight for sight in self.sights() if _away(sight, here) <= radius]
        return sorted(found, key=lambda sight: (_away(sight, here), -sight.number))


def dp_means(vectors: Vector, apart: float) -> list[list[int]]:
    """Clusters of unit vectors: which belong together, none further from its centre than a cosine of `apart`.

    A vector further than that from every centre begins a new cluster; repeated until nothing moves.
    """
    import numpy as np

    centres = _normalised(vectors.mean(axis=0, keepdims=True))
    belongs = np.full(len(vectors), -1)
    for _ in range(_ROUNDS):
        before = belongs.copy()
        for nth, vector in enumerate(vectors):
            likeness = centres @ vector
            belongs[nth] = int(likeness.argmax())
            if likeness.max() < apart - 1e-6:
                centres = np.concatenate([centres, vector[None]])
                belongs[nth] = len(centres) - 1
        kept = sorted(set(belongs.tolist()))
        belongs = np.searchsorted(kept, belongs)
        centres = np.concatenate(
            [_normalised(vectors[belongs == n].mean(axis=0, keepdims=True)) for n in range(len(kept))]
        )
        if np.array_equal(belongs, before):
            break
    return [np.flatnonzero(belongs == number).tolist() for number in range(len(centres))]


def _put(place: _Place, sights: list[Sight], alike: float) -> None:
    centre = _centre(sights)
    best = max(place.events, key=lambda event: float(event.centre @ centre), default=None)
    if best is not None and float(best.centre @ centre) >= alike:
        best.sights += sights
        best.centre = _centre(best.sights)
    else:
        place.events.append(_Event(sights, centre))


def _unit(pictures: Sequence[bytes]) -> Vector:
    import numpy as np

    if len(set(map(len, pictures))) > 1:
        raise InvalidInput("descriptors of one length were expected")
    rows = np.frombuffer(b"".join(pictures), np.uint8).reshape(len(pictures), -1)
    return _normalised(rows.astype(np.float32))


def _normalised(rows: Vector) -> Vector:
    import numpy as np

    found: Vector = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-6)
    return found


def _centre(sights: Sequence[Sight]) -> Vector:
    vectors = _unit([sight.picture for sight in sights])
    centre: Vector = _normalised(vectors.mean(axis=0, keepdims=True))[0]
    return centre


def _away(sight: Sight, here: Point | None) -> float:
    return 0.0 if here is None else math.dist(sight.position, here)
