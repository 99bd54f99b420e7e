"""What is behind menus: the electrical rules checker, and the export of the netlist.

The first time the entries of a menu are tried one after the other until the right window opens. The checker is called
by a procedure from then on; the export follows the clicks of the episode that opened its window.
"""

from __future__ import annotations

from typing import Any

from scrubjay.models.contract import Entry
from scrubjay.models.scripted.kicad.remembering import knows, note_report, precedent, write_procedure
from scrubjay.models.scripted.kicad.seeing import Box, counts_errors, menu_rows, menu_words, menus, submenus
from scrubjay.models.scripted.kicad.situation import Move, Situation, click, key, move_to, wait

__all__ = ["check", "export"]

_FILE, _INSPECT = 0, 4  # words of the menu bar
_EXPORT = 2  # third of the entries of File that open another menu
_CHECKER, _EXPORTER, _SAVER = "Electrical Rules Checker", "Export Netlist", "Save Netlist File"
_ESCAPES = 4
_NAME = "run-rules-checker"
_CODE = '''\
def run_rules_checker() -> str:
    """Opens the electrical rules checker and runs it; its report is on the screen then."""
    click(x={menu[0]}, y={menu[1]})
    seen = click(x={row[0]}, y={row[1]})
    for _ in range(5):
        if seen["state"]["active"]["title"] == "Electrical Rules Checker":
            break
        seen = wait(seconds=1.0)
    if seen["state"]["active"]["title"] != "Electrical Rules Checker":
        raise ValueError("the checker did not open")
    key(keys="Return")
    return "the report is on the screen"
'''


def check(now: Situation) -> Move:
    """The next move towards a report that was read."""
    match now.stage:
        case "":
            if knows(now, _NAME) and not now.data.get("by_hand"):
                return Move((Entry(_NAME, arguments={}),), "called", now.data)
            return _open(now, _INSPECT, "menu")
        case "called":
            if not now.succeeded:
                return Move((key("Escape"), key("Escape")), "", {"by_hand": True})
        case "menu":
            return _try_row(now, "tried")
        case "tried":
            if now.title != _CHECKER:
                return _next_row(now)
            code = _CODE.format(menu=now.data["menu"], row=now.data["row"])
            write_procedure(now, _NAME, "Run the electrical rules checker; its report is on the screen then.", code)
            return Move((key("Return"),), "report", now.data)
        case "closed":
            return Move((), None) if now.is_in_editor else _close(now)
    region = now.region(_CHECKER)
    has_errors = None if region is None else counts_errors(now.frame, region)
    if has_errors is None:
        return now.patience("report")
    note_report(now, has_errors)
    return Move((key("Escape"),), "closed", now.data)


def _close(now: Situation) -> Move:
    """Presses Escape once more: the checker lets it pass while it works."""
    times = int(now.data.get("escapes", 0)) + 1
    return (
        now.patience("closed") if times > _ESCAPES else Move((key("Escape"),), "closed", {**now.data, "escapes": times})
    )


def export(now: Situation) -> Move:
    """The next move towards an exported netlist."""
    match now.stage:
        case "":
            places = [] if now.data.get("by_hand") else precedent(now, _EXPORTER, 3)
            if places:
                return _follow([list(place) for place in places])
            return _open(now, _FILE, "file")
        case "following":
            if now.title == _EXPORTER:
                return Move((key("Return"),), "saving", now.data)
            places = now.data["places"]
            if not places:
                return Move((key("Escape"), key("Escape")), "", {"by_hand": True})
            return _follow(places)
        case "file":
            return _open_export(now)
        case "menu":
            return _try_row(now, "tried")
        case "tried":
            if now.title == _EXPORTER:
                return Move((key("Return"),), "saving", now.data)
            return _next_row(now)
        case "saving":
            if now.title != _SAVER:
                return now.patience("saving")
            return Move((key("Return"),), "written", now.data)
    if now.title == _EXPORTER:
        return Move((key("Escape"),), "written", now.data)
    return Move((), None) if now.is_in_editor else now.patience("written")


def _follow(places: list[list[Any]]) -> Move:
    """Points where an earlier life pointed, one place after the other."""
    kind, x, y = places[0]
    return Move((Entry(kind, arguments={"x": x, "y": y}),), "following", {"places": places[1:]})


def _open(now: Situation, word: int, stage: str) -> Move:
    known, words = now.data.get("menu"), menu_words(now.frame)
    if not now.is_in_editor or (known is None and len(words) <= word):
        return now.patience("")
    x, y = words[word].middle if known is None else known
    return Move((click((x, y)),), stage, {**now.data, "menu": [x, y]})


def _open_export(now: Situation) -> Move:
    open_menus = menus(now.frame)
    entries = submenus(now.frame, menu_rows(now.frame, open_menus[0])) if open_menus else []
    if len(entries) <= _EXPORT:
        return now.patience("file")
    return Move((move_to(entries[_EXPORT].middle),), "menu", {**now.data, "depth": 1})


def _try_row(now: Situation, stage: str) -> Move:
    """Clicks the entry of the innermost open menu whose turn it is."""
    depth, number = int(now.data.get("depth", 0)), int(now.data.get("number", 0))
    open_menus = menus(now.frame)
    if len(open_menus) <= depth:
        return now.patience("menu")
    rows: list[Box] = menu_rows(now.frame, open_menus[depth])
    if number >= len(rows):
        return Move((key("Escape"), key("Escape")), None)
    return Move((click(rows[number].middle),), stage, {**now.data, "row": list(rows[number].middle), "waited": 0})


def _next_row(now: Situation) -> Move:
    """It was the wrong entry: closes what it opened, lets it finish what it did, and the next one is tried."""
    number = int(now.data.get("number", 0)) + 1
    return Move((key("Escape"), wait(2.0)), "", {"number": number, "by_hand": True, "menu": now.data["menu"]})
