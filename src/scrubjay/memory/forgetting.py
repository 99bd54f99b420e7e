"""A person's removal of an episode: a password on a screenshot, a face that must go.

The one operation that takes evidence away. The index row, the order and every reference stay; what was seen, done
and said goes: frames, steps, states, arguments, text, questions about it and pictures handed in to them, and the
observations it shares with its neighbours. Lines that named it are overwritten in place with as many bytes, so no
offset moves. An agent has no way to call it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any

from scrubjay.errors import Conflict, Damaged, InvalidInput
from scrubjay.memory import folder, journal
from scrubjay.memory import record as records
from scrubjay.memory.disk import exclusive, storage, sync_folder, write_all, write_file
from scrubjay.memory.evidence import read_record
from scrubjay.memory.forgetting_edges import empty_edge, shared_edges
from scrubjay.memory.forgetting_left import places_left
from scrubjay.memory.jsonio import Json, dumps
from scrubjay.memory.layout import Layout, parse_reference
from scrubjay.memory.light import dataclass
from scrubjay.memory.observations import utc

__all__ = ["forget"]

_GONE = "[REMOVED]"
_CELL_KEYS = ("cell", "kind", "step", "episode", "world")
_EMPTY: tuple[Any, ...] = (None, "", [], {})


@dataclass(frozen=True, slots=True)
class _Patch:
    """Bytes that stand at a place of a file from now on."""

    path: str
    offset: int
    data: bytes


def forget(layout: Layout, reference: str, reason: str, caches: Callable[[], None] | None = None) -> list[str]:
    """Removes the evidence of one episode; returns a line for each place that may still show some of it.

    What the episodes before and after it saw as their last and first goes too, where it is the same picture or state.
    `caches` deletes what is derived of the memory; None: its `.cache`.

    Raises NotFound, InvalidInput without a reason, Conflict while its life runs, Damaged; then nothing was removed.
    Killed halfway, calling it again finishes the work.
    """
    ident = parse_reference(reference).episode
    if not reason.strip():
        raise InvalidInput("a removal needs a reason: --reason TEXT")
    old, _ = read_record(layout, ident)
    if folder.is_running(layout, old["life"]):
        raise Conflict(f"life {old['life']} is running; remove {ident} when it has ended")
    path = layout.episode(ident)
    edges = shared_edges(layout, old, _life_ids(layout, old["life"]), reason.strip())
    left = places_left(layout, old, {edge.new["id"] for edge in edges})
    # All is computed before anything goes: what can't be done is not done halfway.
    indexed = list(_lines_of(layout.index, lambda row: row.get("id") == ident))
    new, row = _emptied(old, reason.strip(), min((line.length - 1 for line in indexed), default=None))
    section = _section_patches(layout, old, new)
    patches = [_line_patch(layout, layout.index, line, row) for line in indexed] + _row_patches(layout, new)
    for edge in edges:
        section += _section_patches(layout, edge.old, edge.new)
        patches += _neighbour_patches(layout, edge.new)

    def delete_caches() -> None:
        if caches is None:
            shutil.rmtree(layout.cache, ignore_errors=True)
        else:
            caches()

    delete_caches()  # they hold words of the episode, and whoever reads meanwhile makes them again
    _apply(layout, section)
    for edge in edges:
        empty_edge(layout, edge)
    write_file(os.path.join(path, Layout.EPISODE_RECORD), records.encode(new))
    for name in os.listdir(path):
        if name != Layout.EPISODE_RECORD:
            with storage(path):
                os.unlink(os.path.join(path, name))
    sync_folder(path)
    _apply(layout, patches)
    delete_caches()
    return left


def _emptied(record: Json, reason: str, space: int | None) -> tuple[Json, Json]:
    """The record without what it showed and said, and its index row, which has room for `space` bytes."""
    log = record["evidence"]["log"]
    evidence = {**record["evidence"], "cues": {}, "frames": {}, "missing": {}, "files": {}}
    evidence["cells"] = [_bare_cell(cell) for cell in record["evidence"]["cells"]]
    evidence["log"] = {"header": log["header"], "lines": []}
    if log["lines"]:
        evidence["log"]["lines"] = [""]
        room = len(records.log_section(record)) - len(records.log_section({"evidence": evidence}))
        evidence["log"]["lines"] = [_GONE[:room].ljust(room)]
    new = {
        **record,
        "kind": "removed",
        "removed": record.get("removed") or {"time": utc(None), "reason": reason, "by": "person"},
        "arguments": None,
        "plan": None,
        "place": None,
        "outcome": None,
        "summary": _GONE,
        "tags": [],
        "events": [],
        "note": None,
        "start": {"pos": record["start"]["pos"], "state": {}},
        "end": {"pos": record["end"]["pos"], "state": {}},
        "row": {},
        "evidence": evidence,
    }
    # A digest is as long as any other, so the row is made to fit before the record's is known.
    row = records.row_of(new, "0" * 64).to_json()
    for key in reversed(list(row)):
        if space is not None and len(dumps(row)) > space and row[key] in _EMPTY:
            del row[key]  # readers take it for the same
    if space is not None and len(dumps(row)) > space:
        row["summary"] = new["summary"] = _GONE[: max(0, len(_GONE) + space - len(dumps(row)))]
    row["digest"] = records.digest_of(records.encode(new))
    return new, row


def _bare_cell(cell: Json) -> Json:
    return {key: cell[key] for key in _CELL_KEYS if key in cell}


def _life_ids(layout: Layout, life: int) -> list[str]:
    """The episodes this life began, in order."""
    found = (_episode_of(row.get("id")) for row in journal.rows(layout.begun(life)))
    return [ident for ident in found if ident is not None]


def _episode_of(reference: Any) -> str | None:
    try:
        return parse_reference(reference).episode if isinstance(reference, str) else None
    except InvalidInput:
        return None


def _neighbour_patches(layout: Layout, record: Json) -> list[_Patch]:
    """The index row of a neighbour, as its record without the shared observation says it."""
    row = records.row_of(record, records.digest_of(records.encode(record))).to_json()
    lines = _lines_of(layout.index, lambda old: old.get("id") == record["id"] and old != row)
    return [_line_patch(layout, layout.index, line, row) for line in lines]


def _section_patches(layout: Layout, old: Json, new: Json) -> list[_Patch]:
    path = layout.log(old["life"])
    section, replacement = records.log_section(old), records.log_section(new)
    if not os.path.exists(path) or section == replacement:
        return []
    if len(section) != len(replacement):
        raise Damaged("the emptied section does not fit its place", file=layout.relative(path))
    with open(path, "rb") as file:
        text = file.read()
    patches = []
    offset = text.find(section)
    while offset >= 0:
        patches.append(_Patch(path, offset, replacement))
        offset = text.find(section, offset + len(section))
    return patches


def _row_patches(layout: Layout, record: Json) -> list[_Patch]:
    """What must stand in all journals but the index."""
    ident = record["id"]

    def is_about(old: Json) -> bool:
        return any(_episode_of(source.get("reference")) == ident for source in _sources(old))

    def asked_then(old: Json) -> bool:
        """A question about this episode, or one asked while it ran: its picture of that moment may show the same."""
        step = old.get("step")
        then = old.get("life") == record["life"] and isinstance(step, int)
        return is_about(old) or (then and record["first_step"] <= step <= record["last_step"])

    questions = {row.get("id") for row in journal.rows(layout.inspections) if is_about(row)}

    def without_what_was_asked(old: Json) -> Json:
        new = _without_pictures(old) if asked_then(old) else old
        return _without(new, {"question": "", "answer": ""}) if old.get("id") in questions else new

    wanted: list[tuple[str, Callable[[Json], bool], Callable[[Json], Json]]] = [
        (
            layout.begun(record["life"]),
            lambda old: old.get("id") == ident,
            lambda old: _without(old, {"arguments": None, "plan": None, "place": None}),
        ),
        (layout.grid, lambda old: old.get("episode") == ident, _bare_cell),
        (
            layout.procedures_journal,
            lambda old: isinstance(old.get("episodes"), list) and ident in map(_episode_of, old["episodes"]),
            lambda old: _without(old, {"arguments": {}, "error": None}),
        ),
        (layout.inspections, lambda old: True, without_what_was_asked),
    ]
    patches = []
    for path, chosen, make in wanted:
        for line in _lines_of(path, chosen):
            new = make(line.row)
            if new != line.row:
                patches.append(_line_patch(layout, path, line, new))
    return patches


def _sources(row: Json) -> list[Json]:
    sources = row.get("sources")
    return [source for source in sources if isinstance(source, dict)] if isinstance(sources, list) else []


def _without_pictures(old: Json) -> Json:
    if not any(source.get("data") for source in _sources(old)):
        return old
    emptied = [{**source, "data": ""} if source.get("data") else source for source in _sources(old)]
    return {**old, "sources": emptied}


def _without(old: Json, emptied: Json) -> Json:
    """The row with these values, never longer: what is empty stays, what is shorter than the new value goes."""
    new = dict(old)
    for key, value in emptied.items():
        if key not in old or old[key] in _EMPTY:
            continue
        if len(dumps(value)) <= len(dumps(old[key])):
            new[key] = value
        else:
            del new[key]
    return new


def _lines_of(path: str, chosen: Callable[[Json], bool]) -> Iterator[journal.Entry]:
    return (line for line in journal.read(path) if isinstance(line, journal.Entry) and chosen(line.row))


def _line_patch(layout: Layout, path: str, line: journal.Entry, row: Json) -> _Patch:
    data = dumps(row)
    if len(data) >= line.length:
        raise Damaged("the emptied row does not fit its line", file=layout.relative(path), offset=line.offset)
    return _Patch(path, line.offset, data.ljust(line.length - 1) + b"\n")


def _apply(layout: Layout, patches: list[_Patch]) -> None:
    for patch in patches:
        with exclusive(layout.lock_of(patch.path)):
            _overwrite(patch.path, patch.offset, patch.data)


def _overwrite(path: str, offset: int, data: bytes) -> None:
    with storage(path):
        descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.lseek(descriptor, offset, os.SEEK_SET)
            write_all(descriptor, data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
