"""The check: walks a memory once and names what is wrong.

It reads everything and changes nothing. Counts come from what lies on disk, never from a counter.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable

from scrubjay.errors import Damaged
from scrubjay.memory import folder, journal
from scrubjay.memory import record as records
from scrubjay.memory.checking.documents import check_documents
from scrubjay.memory.checking.episodes import check_episode
from scrubjay.memory.checking.findings import Report
from scrubjay.memory.checking.lines import made_rows
from scrubjay.memory.checking.lives import check_lives, check_starts
from scrubjay.memory.checking.published import check_published
from scrubjay.memory.claims import episode_numbers, life_numbers
from scrubjay.memory.evidence import read_record
from scrubjay.memory.jsonio import Json, dumps
from scrubjay.memory.layout import Layout, Reference, episode_id
from scrubjay.memory.records import REMOVED, SEARCHED_KINDS, GridRow, Row, World

__all__ = ["check", "owners"]

Progress = Callable[[int, int], None]


def check(layout: Layout, progress: Progress = lambda done, total: None) -> Report:
    """Verifies a memory, or what a published run can show. `progress(done, total)` is told of each episode."""
    report = Report()
    if _check_manifest(layout, report) == 0:
        return check_published(layout)
    for path in _journals(layout):
        _check_lines(layout, path, report)
    _check_worlds(layout, report)
    check_lives(layout, report)
    rows = _check_index(layout, report)
    grid = _grid_by_episode(layout, report)
    logs: dict[int, bytes] = {}
    owner = owners(layout)
    running = {life for life in life_numbers(layout) if folder.is_running(layout, life)}
    numbers = episode_numbers(layout)
    recorded: set[int] = set()
    for done, number in enumerate(numbers):
        ident = episode_id(number)
        record = check_episode(layout, ident, rows.pop(ident, None), owner.get(ident), running, report)
        if record is not None:
            recorded.add(record["life"])
        if record is not None and record["life"] not in running:
            _check_grid(record, grid.pop(ident, Counter()), report)
            _check_log(layout, record, logs, report)
        grid.pop(ident, None)
        progress(done + 1, len(numbers))
    check_starts(layout, recorded, report)
    for ident, row in rows.items():
        report.add("episode-missing", "index.jsonl", f"{ident} is in the index, and its folder {row.path} is not there")
    for ident in grid:
        report.add("grid-orphan", "grid.jsonl", f"rows of {ident}, which is not in this memory")
    check_documents(layout, report, lambda reference: _is_there(layout, reference))
    return report


def _is_there(layout: Layout, reference: Reference) -> bool:
    """True where a cited episode, or the cited step of it, is in this memory; one removed by a person counts."""
    try:
        record, _ = read_record(layout, reference.episode)
    except (LookupError, ValueError):
        return False
    return reference.step is None or record["first_step"] <= reference.step <= record["last_step"]


def _check_manifest(layout: Layout, report: Report) -> int | None:
    """The format, where the manifest says it."""
    try:
        _, manifest = folder.open_folder(layout.root, read_only=True)
    except Damaged as error:
        report.add("manifest", error.file, error.reason, error.offset)
        return None
    if manifest["format"] > 0 and not manifest.get("uuid"):
        report.add("manifest", "memory.json", "no uuid")
    return int(manifest["format"])


def _journals(layout: Layout) -> list[str]:
    """Every journal that is there; those of lives too."""
    found = [
        layout.worlds, layout.lives, layout.index, layout.grid, layout.inspections,
        layout.documents_journal, layout.procedures_journal,
    ]  # fmt: skip
    for life in life_numbers(layout):
        found += [layout.begun(life), layout.turns(life)]
    return [path for path in found if os.path.exists(path)]


def _check_lines(layout: Layout, path: str, report: Report) -> None:
    name = layout.relative(path)
    for line in journal.read(path):
        if isinstance(line, journal.Entry):
            report.counts[f"rows of {os.path.basename(name)}"] += 1
        elif line.length == 0:
            report.add("journal", name, line.reason)
        elif line.tail:
            message = f"{line.length} bytes of a torn row at the end"
            report.add("torn-tail", name, message, line.offset, "fence it with a newline")
        else:
            # Nothing can be put back into a line; what it said is made again from the episodes where they say it.
            report.notes.append(f"{name}, byte {line.offset}: a broken line of {line.length} bytes: {line.reason}")
            report.counts["broken lines"] += 1


def _check_worlds(layout: Layout, report: Report) -> None:
    for _ in made_rows(layout, layout.worlds, "world", "a world", World.from_json, report):
        pass


def _check_index(layout: Layout, report: Report) -> dict[str, Row]:
    """The last row of every id. Rows that are no rows are problems: their episode's row is made again."""
    rows: dict[str, Row] = {}
    declared = folder.worlds(layout)
    for line, row in made_rows(layout, layout.index, "index-row", "a row", Row.from_json, report):
        if row.id in rows and row.kind != REMOVED:
            report.add("index-twice", "index.jsonl", f"{row.id} has a second row", line.offset)
        if row.world is not None and row.world not in declared:
            report.add("world", "index.jsonl", f"{row.id} is of an undeclared world {row.world!r}", line.offset)
        if row.kind not in SEARCHED_KINDS and row.kind != REMOVED:
            report.counts["rows of unknown kinds"] += 1
        rows[row.id] = row
    report.counts["indexed episodes"] = len(rows)
    return rows


def _grid_by_episode(layout: Layout, report: Report) -> dict[str, Counter[bytes]]:
    found: dict[str, Counter[bytes]] = {}
    for line, row in made_rows(layout, layout.grid, "grid-row", "a cell event", GridRow.from_json, report):
        found.setdefault(row.episode, Counter())[dumps(line.row)] += 1
    return found


def _check_grid(record: Json, found: Counter[bytes], report: Report) -> None:
    wanted = Counter(dumps(row.to_json()) for row in records.grid_rows(record))
    lacking, extra = (wanted - found).total(), (found - wanted).total()
    if lacking:
        message = f"{lacking} of {wanted.total()} cell events of {record['id']} lack"
        report.add("grid-lacks", "grid.jsonl", message, None, "append them from its record", record["id"])
    if extra:
        report.add("grid-extra", "grid.jsonl", f"{extra} cell events of {record['id']} that its record doesn't have")


def _check_log(layout: Layout, record: Json, logs: dict[int, bytes], report: Report) -> None:
    life = record["life"]
    if life not in logs:
        logs.clear()  # lives come in turn; one log in memory at a time
        try:
            with open(layout.log(life), "rb") as file:
                logs[life] = file.read()
        except FileNotFoundError:
            logs[life] = b""
    count = logs[life].count(records.log_section(record))
    name = layout.relative(layout.log(life))
    if count == 0:
        report.add("log-lacks", name, f"no section of {record['id']}", None, "append it from its record", record["id"])
    elif count > 1 and record["evidence"]["log"]["lines"]:
        report.add("log-twice", name, f"{count} sections of {record['id']}")


def owners(layout: Layout) -> dict[str, tuple[int, Json]]:
    """For every episode that was begun, the life that began it and what it said then."""
    found: dict[str, tuple[int, Json]] = {}
    for life in life_numbers(layout):
        for row in journal.rows(layout.begun(life)):
            if isinstance(row.get("id"), str):
                found[row["id"]] = (life, row)
    return found
