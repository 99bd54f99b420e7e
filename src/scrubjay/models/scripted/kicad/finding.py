"""Finding something on the sheet with the editor's own search, which colours what it found."""

from __future__ import annotations

from scrubjay.models.contract import Entry
from scrubjay.models.scripted.kicad.remembering import known_place, note_place
from scrubjay.models.scripted.kicad.seeing import highlight
from scrubjay.models.scripted.kicad.situation import Move, Situation, key, type_text

__all__ = ["find", "found"]

_LOWEST = 700  # a dialog whose upper edge lies lower than this hides little of the sheet


def found(now: Situation, what: str) -> tuple[float, float] | None:
    """Where it lies, as seen in this goal or as the memory knows it."""
    place = now.data.get("place")
    if isinstance(place, list):
        return place[0], place[1]
    return None if now.data.get("by_hand") else known_place(now, what)


def find(now: Situation, what: str) -> Move:
    """The next move of a search; `place` is in the data once the stage is `found`."""
    match now.stage:
        case "":
            return Move((key("ctrl+f"),), "searching", now.data)
        case "searching":
            region = now.region("Find")
            if region is None:
                return now.patience("searching")
            if now.title != "Find":  # it is there and has lost the focus
                return Move((key("ctrl+f"),), "searching", now.data)
            if region.top < _LOWEST and not now.data.get("moved"):
                middle = (region.left + region.right) / 2
                drag = {"from_x": middle, "from_y": region.top - 12, "to_x": middle, "to_y": 760.0}
                return Move((Entry("drag", arguments=drag),), "searching", {**now.data, "moved": True})
            return Move((type_text(what),), "typed", now.data)
        case "typed":
            return now.awaits("Find") or Move((key("Return"),), "seek", now.data)
        case "seek":
            box = highlight(now.frame)
            if box is None:
                return now.patience("seek")
            note_place(now, what, box.middle)
            seen = {"place": list(box.middle), "edge": [box.left, box.middle[1]]}
            return Move((key("Escape"),), "found", {**now.data, **seen, "waited": 0})
    return now.patience("found")
