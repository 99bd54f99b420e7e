"""Rows that only the harness may write, found in journals after a coding agent's turn, and taken out again.

While an agent thinks, its life records nothing. So what appeared meanwhile about this life, or about what was
recorded before, did not come from recording. Rows of other lives, which other processes may run, stay.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from scrubjay.memory import journal
from scrubjay.memory.disk import exclusive, write_file
from scrubjay.memory.jsonio import Json
from scrubjay.memory.layout import Layout

__all__ = ["strike_out"]


def strike_out(layout: Layout, life: int, episodes: set[str], size_before: Callable[[str], int]) -> list[str]:
    """Takes out what was forged; a line on each journal where something was.

    `episodes` are the ids of those recorded before, `size_before` says how long a journal was then.
    """
    found = []
    for path, is_forged in _rules(layout, life, episodes).items():
        count = _strike(layout, path, size_before(path), is_forged)
        if count:
            found.append(f"took {count} forged line{'s' * (count > 1)} out of {layout.relative(path)}")
    return found


def _rules(layout: Layout, life: int, episodes: set[str]) -> dict[str, Callable[[Json], bool]]:
    def is_of_this_life(row: Json) -> bool:
        return row.get("life") == life

    def is_recorded(row: Json) -> bool:
        return row.get("life") == life or row.get("id") in episodes

    return {
        layout.index: is_recorded,
        layout.lives: is_of_this_life,
        layout.grid: lambda row: row.get("episode") in episodes,
        layout.procedures_journal: is_of_this_life,
        layout.begun(life): lambda row: True,
        layout.turns(life): lambda row: "kind" not in row,  # a consolidation is a row of its kind
        layout.log(life): lambda row: True,
    }


def _strike(layout: Layout, path: str, start: int, is_forged: Callable[[Json], bool]) -> int:
    if _size(path) <= start:
        return 0
    with exclusive(layout.lock_of(path)):
        with open(path, "rb") as file:
            data = file.read()
        added = data[start:]
        kept = b"" if path.endswith(".txt") else b"".join(_lines(path, start, data, is_forged))
        if kept != added:
            write_file(path, data[:start] + kept)
    return added.count(b"\n") - kept.count(b"\n") + (not added.endswith(b"\n"))


def _lines(path: str, start: int, data: bytes, is_forged: Callable[[Json], bool]) -> list[bytes]:
    """The lines that stay. A broken one is nobody's row; we hold the lock, so a torn one is not being written."""
    return [
        data[line.offset : line.offset + line.length]
        for line in journal.read(path, start)
        if isinstance(line, journal.Entry) and not is_forged(line.row)
    ]


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0
