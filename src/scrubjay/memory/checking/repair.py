"""Repair: what a check found and files alone can mend. It adds; it changes no byte of evidence.

Afterwards everything is checked again: a repair is believed when the check is, and not before.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from scrubjay.memory import folder, journal
from scrubjay.memory import record as records
from scrubjay.memory.checking.check import check, owners
from scrubjay.memory.checking.findings import Problem, Report
from scrubjay.memory.checking.lives import rebuild_starts
from scrubjay.memory.claims import episode_numbers
from scrubjay.memory.disk import lock_exclusive, make_folder
from scrubjay.memory.episode_frames import CueMaker
from scrubjay.memory.evidence import read_record
from scrubjay.memory.layout import Layout, episode_id
from scrubjay.memory.projections import complete
from scrubjay.memory.records import World
from scrubjay.memory.recovery import WorldOf, adopt_episode, recover

__all__ = ["repair"]


def repair(
    layout: Layout,
    cue_makers: Mapping[str, CueMaker],
    say: Callable[[str], None] = lambda line: None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Report:
    """Mends what can be mended and returns a fresh report; `say` is told of each thing done.

    Only one repair runs at a time; recorders may go on meanwhile: what is theirs is left alone.
    """
    lock = lock_exclusive(os.path.join(layout.locks, "repair"))
    assert lock is not None
    try:
        found = check(layout, progress)
        known = folder.worlds(layout)

        def world_of(name: str | None) -> World:
            return known.get(name or "") or World(name or "world")

        _fence(layout, found.problems, say)
        if any(problem.kind == "life-lacks" for problem in found.problems):
            rebuild_starts(layout, say)
        lacking = {problem.episode for problem in found.problems if problem.episode is not None}
        for ident in recover(layout, world_of, cue_makers):
            say(f"adopted {ident} as interrupted, and ended its life")
        lacking |= _adopt_orphans(layout, world_of, cue_makers, say)
        lacking |= _reindex(layout, say)
        _project_again(layout, sorted(lacking), say)
        return check(layout, progress)
    finally:
        os.close(lock)


def _fence(layout: Layout, problems: list[Problem], say: Callable[[str], None]) -> None:
    for problem in problems:
        if problem.kind == "torn-tail":
            path = layout.at(*problem.file.split("/"))
            journal.append_lines(path, layout.lock_of(path), b"")
            say(f"fenced the torn row at the end of {problem.file}")


def _adopt_orphans(
    layout: Layout, world_of: WorldOf, cue_makers: Mapping[str, CueMaker], say: Callable[[str], None]
) -> set[str]:
    adopted: set[str] = set()
    starts = {row.get("life"): row for row in journal.rows(layout.lives) if row.get("event") == "start"}
    indexed = {row.get("id") for row in journal.rows(layout.index)}
    for ident, (life, begun) in owners(layout).items():
        if ident in indexed or folder.is_running(layout, life) or not os.path.isdir(layout.episode(ident)):
            continue  # what is in the index was finished: a record made anew would be another one
        if os.path.exists(os.path.join(layout.episode(ident), Layout.EPISODE_RECORD)):
            continue
        start = starts.get(life, {"life": life, "milestones": []})
        if adopt_episode(layout, life, {**begun, "index_at": 0}, start, world_of, cue_makers):
            adopted.add(ident)
            say(f"adopted {ident} as interrupted")
    return adopted


def _reindex(layout: Layout, say: Callable[[str], None]) -> set[str]:
    """Appends the row of every finished episode that has none."""
    rebuilt: set[str] = set()
    indexed = {row.get("id") for row in journal.rows(layout.index)}
    owner = owners(layout)
    for number in episode_numbers(layout):
        ident = episode_id(number)
        if ident in indexed or (ident in owner and folder.is_running(layout, owner[ident][0])):
            continue
        try:
            record, digest = read_record(layout, ident)
        except (LookupError, ValueError):
            continue  # not finished, or damaged: the report says so
        row = records.row_of(record, digest)
        journal.append(layout.index, layout.lock_of(layout.index), [row.to_json()])
        rebuilt.add(ident)
        say(f"rebuilt the index row of {ident}")
    return rebuilt


def _project_again(layout: Layout, idents: list[str], say: Callable[[str], None]) -> None:
    for ident in idents:
        try:
            record, _ = read_record(layout, ident)
        except (LookupError, ValueError):
            continue
        make_folder(layout.life(record["life"]))  # it may be what was lost
        if not folder.is_running(layout, record["life"]) and complete(layout, record, 0, 0):
            say(f"completed the grid rows and log section of {ident}")
