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
_EDGES = ("start", "end")


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
    # Where the evidence stands last, as it is written, what comes before it need not be parsed.
    cut = data.rfind(EVIDENCE)
    try:
        evidence = loads_object(data if cut < 0 else b"{" + data[cut:]).get("evidence")
    except (ValueError, RecursionError):
        return NOTHING
    if not isinstance(evidence, dict):
        return NOTHING
    return Recorded(_walked(evidence), _screens(evidence), _places(evidence))


def _walked(evidence: Json) -> tuple[tuple[int, int, int], ...]:
    cells = []
    for event in evidence.get("cells") or ():
        cell = event.get("cell") if isinstance(event, dict) and event.get("kind") == "walked" else None
        if isinstance(cell, list) and len(cell) == 3 and all(type(value) is int for value in cell):
            cells.append((cell[0], cell[1], cell[2]))
    return tuple(cells)


def _cue(evidence: Json, name: str) -> list[str]:
    cues = evidence.get("cues")
    found = cues.get(name) if isinstance(cues, dict) else None
    values = [found.get(edge) for edge in _EDGES] if isinstance(found, dict) else []
    return list(dict.fromkeys(value for value in values if isinstance(value, str)))


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
