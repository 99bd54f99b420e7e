"""Giving a symbol another value, by hand the first time, then by the procedure written from it."""

from __future__ import annotations

from scrubjay.models.contract import Entry
from scrubjay.models.scripted.kicad.finding import find, found
from scrubjay.models.scripted.kicad.goals import Change
from scrubjay.models.scripted.kicad.remembering import knows, write_procedure
from scrubjay.models.scripted.kicad.situation import Move, Situation, click, key, type_text

__all__ = ["change", "save"]

_DIALOG = "Edit Value"
_NAME = "change-value"
_CODE = '''\
def change_value(x: float, y: float, value: str) -> str:
    """Gives the symbol at (x, y) another value and saves; raises where a dialog does not open or nothing was saved."""
    click(x=x, y=y)
    seen = key(keys="v")
    for _ in range(6):
        if seen["state"]["active"]["title"].startswith("Edit Value"):
            break
        dialog = seen["state"]["windows"][-1]
        if dialog["title"].startswith("Edit Value"):
            seen = click(x=dialog["region"][0] + dialog["region"][2] / 2, y=dialog["region"][1] - 12)
        else:
            seen = wait(seconds=1.0)
    if not seen["state"]["active"]["title"].startswith("Edit Value"):
        raise ValueError("the dialog for the value did not open")
    seen = type_text(text=value)
    if not seen["state"]["active"]["title"].startswith("Edit Value"):
        raise ValueError("the dialog lost the focus")
    seen = key(keys="Return")
    for _ in range(5):
        if seen["state"]["active"]["title"].startswith("*"):
            break
        seen = wait(seconds=0.5)
    if not seen["state"]["active"]["title"].startswith("*"):
        raise ValueError("the title bar says that nothing was changed")
    seen = key(keys="ctrl+s")
    for _ in range(5):
        if not seen["state"]["active"]["title"].startswith("*"):
            return "saved"
        seen = wait(seconds=0.5)
    raise ValueError("the title bar says that it was not saved")
'''


def change(now: Situation, goal: Change) -> Move:
    """The next move towards another value."""
    if now.stage in ("", "found") and now.is_in_editor:
        place = found(now, goal.find)
        if place is not None:
            return _begin(now, goal, place)
    match now.stage:
        case "called":
            if now.succeeded:
                return Move((), None)
            return Move((key("Escape"), key("Escape")), "", {"by_hand": True})
        case "selected":
            return Move((key("v"),), "dialog", now.data)
        case "dialog":
            return now.awaits(_DIALOG) or Move((key("ctrl+a"),), "ready", now.data)
        case "ready":
            return now.awaits(_DIALOG) or Move((type_text(goal.value),), "filled", now.data)
        case "filled":
            return now.awaits(_DIALOG) or Move((key("Return"),), "entered", now.data)
        case "entered":
            if not (now.is_in_editor and now.is_unsaved):
                return now.patience("entered")
            write_procedure(now, _NAME, "Give the symbol at a place of the screen another value, and save.", _CODE)
            return Move((), None)
    return find(now, goal.find)


def _begin(now: Situation, goal: Change, place: tuple[float, float]) -> Move:
    data = {**now.data, "place": list(place)}
    if knows(now, _NAME) and not now.data.get("by_hand"):
        arguments = {"x": place[0], "y": place[1], "value": goal.value}
        return Move((Entry(_NAME, arguments=arguments),), "called", data)
    return Move((click(place),), "selected", data)


def save(now: Situation) -> Move:
    """Saves, where the title bar says that there is something to save."""
    if now.is_in_editor and not now.is_unsaved:
        return Move((), None)
    if now.stage == "pressed":
        return now.patience("pressed")
    return Move((key("ctrl+s"),), "pressed", now.data)
