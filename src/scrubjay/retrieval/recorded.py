"""The cues that only an episode's record holds: cells walked, hashes of its screens, descriptors of its places.

They were kept when the episode was recorded, so that no picture is decoded here.
"""

from __future__ import annotations

import base64
import binascii

from scrubjay.memory.jsonio import Json, loads_object
from scrubjay.memory.layout import Layout
from scrubjay.memory.light import dataclass
from scrubjay.retrieval.text import EVIDENCE, read_record

__all__ = ["NOTHING", "Recorded", "read_recorded", "recorded_in"]

_SCREEN = "screen/1"
_PLACE = "place/1"
_FRAMES = b', "frames": {'


@dataclass(frozen=True, slots=True)
class Recorded:
    """`cells` walked, as (x, y, z); the distinct `screens` and `places` of the first and the last frame."""

    cells: tuple[tuple[int, int, int], ...] = ()
    screens: tuple[str, ...] = ()
    places: tuple[bytes, ...] = ()


NOTHING = Recorded()


def read_recorded(layout: Layout, number: int) -> Recorded:
    """What the record of an episode keeps; nothing where there is no whole record."""
    return recorded_in(read_record(layout, number))


def recorded_in(data: bytes) -> Recorded:
    """What a record with this content keeps."""
    try:
        evidence = _parsed(data).get("evidence")
    except (ValueError, RecursionError):
        return NOTHING
    if not isinstance(evidence, dict):
        return NOTHING
    return Recorded(_walked(evidence), _screens(evidence), _places(evidence))


def _parsed(data: bytes) -> Json:
    # Where the evidence stands last and its frames behind its cues, as they are written, the rest need not be parsed.
    cut = data.rfind(EVIDENCE)
    if cut < 0:
        return loads_object(data)
    frames = data.find(_FRAMES, cut)
    if frames >= 0:
        try:
            return loads_object(b"{%b}}" % data[cut:frames])
        except ValueError:
            pass
    return loads_object(b"{" + data[cut:])


def _walked(evidence: Json) -> tuple[tuple[int, int, int], ...]:
    cells = []
    for event in evidence.get("cells") or ():
        if type(event) is dict and event.get("kind") == "walked":
            cell = event.get("cell")
            if type(cell) is list and len(cell) == 3 and type(cell[0]) is type(cell[1]) is type(cell[2]) is int:
                cells.append((cell[0], cell[1], cell[2]))
    return tuple(cells)


def _cue(evidence: Json, name: str) -> list[str]:
    cues = evidence.get("cues")
    found = cues.get(name) if type(cues) is dict else None
    if type(found) is not dict:
        return []
    start, end = found.get("start"), found.get("end")
    values = [start] if type(start) is str else []
    return values if type(end) is not str or end == start else [*values, end]


def _screens(evidence: Json) -> tuple[str, ...]:
    return tuple(_cue(evidence, _SCREEN))


def _places(evidence: Json) -> tuple[bytes, ...]:
    places = []
    for text in _cue(evidence, _PLACE):
        try:
            places.append(base64.b64decode(text, validate=True))
        except (binascii.Error, ValueError):
            continue
    return tuple(places)
