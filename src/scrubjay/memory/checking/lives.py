"""Checking lives: each that began an episode says in `lives.jsonl` when it started; those that died say no end.

Where the start is lost, rows are made again from what the episodes of the life say. Nothing is overwritten.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from scrubjay.memory import folder, journal
from scrubjay.memory.checking.findings import Report
from scrubjay.memory.claims import episode_numbers, life_numbers
from scrubjay.memory.disk import make_folder
from scrubjay.memory.evidence import read_record
from scrubjay.memory.jsonio import Json
from scrubjay.memory.layout import Layout, episode_id
from scrubjay.memory.observations import utc
from scrubjay.memory.recovery import open_lives

__all__ = ["check_lives", "check_starts", "rebuild_starts"]


def check_lives(layout: Layout, report: Report) -> None:
    """Counts the lives and names those that died."""
    report.counts["lives"] = len(life_numbers(layout))
    for start in open_lives(layout):
        if folder.is_running(layout, start["life"]):
            report.counts["running lives"] += 1
        else:
            message = f"life {start['life']} died without an end row"
            report.add("dead-life", "lives.jsonl", message, None, "adopt its last episode and end it")


def check_starts(layout: Layout, recorded: Iterable[int], report: Report) -> None:
    """Names the lives that began episodes and have no start row. `recorded`: the lives that records name."""
    for life in _without_start(layout, recorded):
        message = f"life {life} has episodes and no start row"
        report.add("life-lacks", "lives.jsonl", message, None, "make its rows again from its episodes")


def _without_start(layout: Layout, recorded: Iterable[int]) -> list[int]:
    started = {row.get("life") for row in journal.rows(layout.lives) if row.get("event") == "start"}
    began = {life for life in life_numbers(layout) if any(True for _ in journal.rows(layout.begun(life)))}
    lives = sorted((began | set(recorded)) - started)
    return [life for life in lives if not folder.is_running(layout, life)]


def rebuild_starts(layout: Layout, say: Callable[[str], None]) -> None:
    """Appends the start row of every life that lost it, with the end row after it where that was not lost.

    The task, the method and the model were said there alone: they stay unknown.
    """
    records = _records_by_life(layout)
    ends = {row.get("life"): row for row in journal.rows(layout.lives) if row.get("event") == "end"}
    for life in _without_start(layout, records):
        begun = next(journal.rows(layout.begun(life)), {})
        first = records.get(life, {})
        start: Json = {
            "life": life,
            "event": "start",
            "task": "",
            "world": begun.get("world") or first.get("world"),
            "started": begun.get("begun") or first.get("started"),
            "milestones": [],
            "rebuilt": utc(None),
        }
        make_folder(layout.life(life))  # what recovers it takes its lock there
        rows = [start, ends[life]] if life in ends else [start]
        journal.append(layout.lives, layout.lock_of(layout.lives), rows)
        say(f"rebuilt the start row of life {life}; its task, method and model are not known")


def _records_by_life(layout: Layout) -> dict[int, Json]:
    """The first readable record of every life."""
    found: dict[int, Json] = {}
    for number in episode_numbers(layout):
        ident = episode_id(number)
        if os.path.isdir(layout.episode(ident)):
            try:
                record, _ = read_record(layout, ident)
            except (LookupError, ValueError):
                continue
            found.setdefault(record["life"], record)
    return found
