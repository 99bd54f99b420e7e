"""Checking one episode: its record against its row, its files against the record, its frames against its steps."""

from __future__ import annotations

import hashlib
import os
from typing import Any

from scrubjay.errors import Damaged
from scrubjay.memory import journal
from scrubjay.memory import record as records
from scrubjay.memory.checking.findings import Report
from scrubjay.memory.evidence import step_of
from scrubjay.memory.jsonio import Json
from scrubjay.memory.layout import Layout
from scrubjay.memory.records import Row, Step

__all__ = ["check_episode"]


def check_episode(
    layout: Layout, ident: str, row: Row | None, owner: tuple[int, Json] | None, running: set[int], report: Report
) -> Json | None:
    """Checks the folder of an episode and returns its record where it has a readable one."""
    folder = layout.episode(ident)
    name = layout.relative(os.path.join(folder, Layout.EPISODE_RECORD))
    report.counts["episode folders"] += 1
    try:
        with open(os.path.join(folder, Layout.EPISODE_RECORD), "rb") as file:
            data = file.read()
    except FileNotFoundError:
        _check_unfinished(layout, ident, row, owner, running, report)
        return None
    try:
        record = records.parse(data, name)
    except Damaged as error:
        report.add("record", error.file, error.reason, error.offset)
        return None
    report.counts["finished episodes"] += 1
    is_running = owner is not None and owner[0] in running
    if row is None:
        if not is_running:
            message = f"{ident} is finished, and its row is not in the index"
            report.add("row-lacks", "index.jsonl", message, None, "append the row from its record")
    else:
        _check_row(row, record, records.digest_of(data), name, report)
    if not record.get("removed"):
        _check_files(layout, folder, record, report)
        _check_steps(layout, folder, record, report)
    return record


def _check_unfinished(
    layout: Layout, ident: str, row: Row | None, owner: tuple[int, Json] | None, running: set[int], report: Report
) -> None:
    steps = os.path.join(layout.episode(ident), Layout.STEPS)
    name = layout.relative(layout.episode(ident))
    if row is not None:
        left = ", ".join(sorted(os.listdir(layout.episode(ident)))) or "nothing"
        record = os.path.join(layout.episode(ident), Layout.EPISODE_RECORD)
        message = f"{ident} is in the index, and its record is gone: put it back from a copy; still there: {left}"
        report.add("record-missing", layout.relative(record), message)
    elif owner is not None and owner[0] in running:
        report.counts["open episodes"] += 1
    elif any(True for _ in journal.rows(steps)):  # a torn first row alone is nothing that could be kept
        adoption = "adopt it as interrupted" if owner is not None else None  # else nobody says which life it was of
        report.add("orphan", name, f"{ident} was begun and never finished", None, adoption)
    else:
        report.counts["empty claims"] += 1


def _check_row(row: Row, record: Json, digest: str, name: str, report: Report) -> None:
    if row.digest is not None and row.digest != digest:
        report.add("digest", name, f"changed since it was recorded: sha256 {row.digest} was expected, {digest} found")
        return
    wanted = records.row_of(record, digest)
    differing = [key for key, value in wanted.to_json().items() if row.to_json().get(key) != value]
    if differing:
        report.add("row-differs", "index.jsonl", f"{row.id} differs from its record in {', '.join(differing)}")


def _check_files(layout: Layout, folder: str, record: Json, report: Report) -> None:
    listed = record["evidence"]["files"]
    for name, expected in listed.items():
        path = os.path.join(folder, name)
        shown = layout.relative(path)
        try:
            found = _size_and_hash(path)
        except FileNotFoundError:
            report.add("file-missing", shown, f"{expected['size']} bytes were expected, the file is gone")
            continue
        except OSError as error:
            report.add("file-missing", shown, f"it can't be read: {error.strerror}")
            continue
        report.counts["bytes of evidence"] += found[0]
        if found[0] != expected["size"]:
            saved = _saved(record, name, found[0])
            message = f"{expected['size']} bytes were expected, {found[0]} found{saved}"
            report.add("file-size", shown, message, min(found[0], expected["size"]))
        elif found[1] != expected["sha256"]:
            report.add("file-digest", shown, f"changed: sha256 {expected['sha256']} was expected, {found[1]} found")
    extra = sorted(set(os.listdir(folder)) - set(listed) - {Layout.EPISODE_RECORD})
    for name in extra:
        report.notes.append(f"{layout.relative(os.path.join(folder, name))}: not a file of the record")


def _saved(record: Json, file: str, size: int) -> str:
    """How much of a truncated file is still whole."""
    if file != Layout.FRAMES:
        return ""
    places = [place for place in record["evidence"]["frames"].values() if place["file"] == file]
    whole = sum(place["offset"] + place["size"] <= size for place in places)
    return f"; {whole} of {len(places)} frames are whole"


def _size_and_hash(path: str) -> tuple[int, str]:
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return file.tell(), digest


def _check_steps(layout: Layout, folder: str, record: Json, report: Report) -> None:
    path = os.path.join(folder, Layout.STEPS)
    name = layout.relative(path)
    steps: list[Step] = []
    for line in journal.read(path):
        if not isinstance(line, journal.Entry):
            kind = "a torn row at the end" if line.tail else f"a broken row: {line.reason}"
            if record["outcome"] != "interrupted" or not line.tail:
                report.add("step", name, kind, line.offset)
            continue
        try:
            steps.append(step_of(line.row))
        except ValueError as error:
            report.add("step", name, str(error), line.offset)
    report.counts["steps"] += len(steps)
    expected = list(range(record["first_step"], record["last_step"] + 1))
    if [step.step for step in steps] != expected:
        message = f"steps {record['first_step']} to {record['last_step']} were expected, {len(steps)} found"
        report.add("steps", name, message)
    _check_frames(layout, folder, record, steps, report)


def _check_frames(layout: Layout, folder: str, record: Json, steps: list[Step], report: Report) -> None:
    frames: dict[str, Any] = record["evidence"]["frames"]
    missing: dict[str, Any] = record["evidence"]["missing"]
    named = {name for step in steps for name in step.frames.values() if name is not None}
    report.counts["frames"] += len(frames)
    report.counts["frames missing"] += len(missing)
    file = layout.relative(os.path.join(folder, Layout.EPISODE_RECORD))
    for name in sorted(named - set(frames) - set(missing)):
        report.add("frame", file, f"frame {name} of a step is neither stored nor said to be missing")
    for name in sorted(set(frames) - named):
        report.add("frame", file, f"frame {name} belongs to no step")
    tar = os.path.join(folder, Layout.FRAMES)
    places = {name: place for name, place in frames.items() if place["file"] == Layout.FRAMES}
    if places and os.path.exists(tar):
        with open(tar, "rb") as opened:
            for name, place in places.items():
                opened.seek(place["offset"] - 512)
                if opened.read(len(name.encode())) != name.encode():
                    report.add("frame", layout.relative(tar), f"no frame {name} here", place["offset"] - 512)
