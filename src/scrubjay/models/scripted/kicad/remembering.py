"""What the solver finds in the memory, and what it leaves there: places on a screen, procedures, precedents.

It asks the memory by cues and reads documents; it knows nothing else of earlier lives.
"""

from __future__ import annotations

import re

from scrubjay.memory.front_matter import FrontMatter, render
from scrubjay.models.scripted.kicad.situation import Situation
from scrubjay.retrieval.query import ALL_LIVES, Query

__all__ = ["known_place", "knows", "note_place", "note_report", "precedent", "write_procedure"]

_NOTES = "notes.md"
_PLACE = re.compile(r"^- On screen (\w+), (.+) lies at \(([\d.]+), ([\d.]+)\) \[ep_\d+\]$", re.MULTILINE)
_POINTED = re.compile(r"\] (click|mouse_move)\(x=([\d.]+), y=([\d.]+)")
_POINTING = ("click", "mouse_move")


def known_place(now: Situation, what: str) -> tuple[float, float] | None:
    """Where something lies, if this life began with a screen that an earlier life has seen and noted."""
    screen = _first_screen(now)
    seen = now.turn.recall.find(Query(same_screen=screen, life=ALL_LIVES)).rows if screen else ()
    if not any(row.life is not None and row.life < now.turn.life for row in seen):
        return None
    for hash_, name, x, y in reversed(_PLACE.findall(now.read(_NOTES))):
        if hash_ == screen and name == what:
            return float(x), float(y)
    return None


def note_place(now: Situation, what: str, place: tuple[float, float]) -> None:
    """Notes where something lies on the screen that this life began with."""
    screen = _first_screen(now)
    line = f"- On screen {screen}, {what} lies at ({place[0]}, {place[1]})"
    if screen and line not in now.read(_NOTES):
        _note(now, f"{line} [{now.citation}]\n")


def note_report(now: Situation, has_errors: bool) -> None:
    """Notes what the rules checker reported."""
    said = "errors" if has_errors else "no errors"
    _note(now, f"- The electrical rules checker reported {said} in life {now.turn.life} [{now.citation}]\n")


def knows(now: Situation, name: str) -> bool:
    """Whether the agent has written a procedure of this name and may call it."""
    head = now.read(f"procedures/{name}/SKILL.md")
    return bool(head) and 'status: "disabled"' not in head and "status: disabled" not in head


def write_procedure(now: Situation, name: str, description: str, code: str) -> None:
    """Writes a procedure that has just been done by hand, citing the episode that shows it; once."""
    if knows(now, name):
        return
    script = f"scripts/{name}.py"
    metadata = {"status": "candidate", "version": "1", "cites": now.citation, "script": script}
    head = FrontMatter({"name": name, "description": description}, metadata, "")
    documents = now.turn.recall.documents
    documents.write(f"procedures/{name}/SKILL.md", render(head))
    documents.write(f"procedures/{name}/{script}", code)


def precedent(now: Situation, window: str, count: int) -> list[tuple[str, float, float]]:
    """How an earlier life opened a window: its last clicks and moves before that, with their places, oldest first.

    Empty where no earlier episode opened it, or where something else led there.
    """
    opened = now.turn.recall.find(Query(action="click", tag="opened", grep=f"opened '{window}'", life=ALL_LIVES)).rows
    for row in reversed(opened):
        if row.life is None or row.life >= now.turn.life or row.last_step is None:
            continue
        rows = now.turn.recall.find(Query(life=row.life, steps=(max(0, row.last_step - count), row.last_step))).rows
        led = [one for one in rows if one.id <= row.id and one.action_kind in _POINTING][-count:]
        places = [_POINTED.search(one.summary) for one in led]
        if len(led) == count and all(places):
            return [(found[1], float(found[2]), float(found[3])) for found in places if found is not None]
    return []


def _first_screen(now: Situation) -> str | None:
    rows = now.turn.recall.find(Query(life=now.turn.life, limit=1)).rows
    return rows[0].observation_hash if rows else None


def _note(now: Situation, line: str) -> None:
    documents = now.turn.recall.documents
    documents.append(_NOTES, line if now.read(_NOTES) else f"# Notes\n\n{line}")
