"""Placing symbols, drawing wires and naming nets, at points of the sheet's grid."""

from __future__ import annotations

from scrubjay.models.scripted.kicad.finding import find
from scrubjay.models.scripted.kicad.goals import Label, Locate, Place, Wire
from scrubjay.models.scripted.kicad.seeing import sheet
from scrubjay.models.scripted.kicad.situation import Move, Situation, click, key, move_to, type_text

__all__ = ["label", "locate", "place", "wire"]

_DIALOG = "Edit Value"
_LABEL = "Global Label Properties"
_CHOOSERS = ("Choose Symbol", "Choose Power Symbol")


def locate(now: Situation, goal: Locate) -> Move:
    """Finds a label and keeps the point of its left end, from which later goals count."""
    if now.stage == "found" and now.is_in_editor:
        seen = sheet(now.frame)
        if seen is None:
            return now.patience("found")
        now.progress.anchor = list(seen.mils(*now.data["edge"]))
        return Move((), None)
    return find(now, goal.find)


def place(now: Situation, goal: Place) -> Move:
    """The next move towards a symbol with its centre at a point."""
    at = _on_screen(now, goal.x, goal.y)
    if at is None:
        return now.patience(now.stage)
    match now.stage:
        case "":
            return Move((key(goal.key),), "choosing", now.data)
        case "choosing":
            return now.awaits(_CHOOSERS) or Move((type_text(goal.symbol),), "typed", now.data)
        case "typed":
            return now.awaits(_CHOOSERS) or Move((key("Return"),), "hanging", now.data)
        case "hanging":
            if not now.is_in_editor:
                return now.patience("hanging")
            return Move((click(at),), None if goal.value is None else "placed", now.data)
        case "placed":
            return Move((key("v"),), "dialog", now.data)
        case "dialog":
            return now.awaits(_DIALOG) or Move((type_text(goal.value or ""),), "filled", now.data)
        case "filled":
            return now.awaits(_DIALOG) or Move((key("Return"),), "entered", now.data)
    return Move((), None) if now.is_in_editor else now.patience("entered")


def wire(now: Situation, goal: Wire) -> Move:
    """The next move towards a wire."""
    start, end = _on_screen(now, goal.x, goal.y), _on_screen(now, goal.to_x, goal.to_y)
    if start is None or end is None:
        return now.patience(now.stage)
    match now.stage:
        case "":
            return Move((move_to(start),), "there", now.data)
        case "there":
            return Move((key("w"),), "drawing", now.data)
    return Move((click(end),), None)


def label(now: Situation, goal: Label) -> Move:
    """The next move towards a label at a point."""
    at = _on_screen(now, goal.x, goal.y)
    if at is None:
        return now.patience(now.stage)
    match now.stage:
        case "":
            return Move((key("ctrl+l"),), "dialog", now.data)
        case "dialog":
            return now.awaits(_LABEL) or Move((type_text(goal.text),), "filled", now.data)
        case "filled":
            return now.awaits(_LABEL) or Move((key("Return"),), "hanging", now.data)
        case "hanging" | "turned":
            if not now.is_in_editor:
                return now.patience(now.stage)
            if goal.is_left and now.stage == "hanging":
                return Move((key("x"),), "turned", now.data)
            return Move((click(at),), "placed", now.data)
    return Move((key("Escape"),), None)


def _on_screen(now: Situation, x: int, y: int) -> tuple[float, float] | None:
    """A point of the sheet on the screen; it is kept, for a dialog may hide the sheet."""
    kept = now.progress.data.get("sheet")
    seen = sheet(now.frame)
    if seen is None:
        return None if kept is None else (kept[f"{x},{y}"][0], kept[f"{x},{y}"][1])
    right, down = now.progress.anchor or (0, 0)
    at = seen.at(right + x, down + y)
    now.progress.data["sheet"] = {**(kept or {}), f"{x},{y}": list(at)}
    return at
