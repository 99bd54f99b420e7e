"""A person's removal of an episode: a password on a screenshot, a face that must go.

The one operation that takes evidence away. The index row, the order and every reference stay; what was seen, done
and said goes: frames, steps, states, arguments, text, and pictures handed in to questions about it. Lines that named
it are overwritten in place with as many bytes, so no offset moves. An agent has no way to call it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable

from scrubjay.errors import Conflict, Damaged, InvalidInput
from scrubjay.memory import folder, journal
from scrubjay.memory import record as records
from scrubjay.memory.disk import exclusive, storage, sync_folder, write_all, write_file
from scrubjay.memory.evidence import read_record
from scrubjay.memory.jsonio import Json, dumps
from scrubjay.memory.layout import Layout, parse_reference
from scrubjay.memory.observations import utc

__all__ = ["forget"]

_GONE = "[REMOVED]"


def forget(layout: Layout, reference: str, reason: str) -> list[str]:
    """Removes the evidence of one episode; returns the files that still hold a picture it shared (hard links).

    Raises NotFound, InvalidInput without a reason, Conflict while its life runs, Damaged. Killed halfway, calling it
    again finishes the work.
    """
    ident = parse_reference(reference).episode
    if not reason.strip():
        raise InvalidInput("a removal needs a reason: --reason TEXT")
    old, _ = read_record(layout, ident)
    if folder.is_running(layout, old["life"]):
        raise Conflict(f"life {old['life']} is running; remove {ident} when it has ended")
    path = layout.episode(ident)
    shared = _shared_pictures(layout, old)
    new = old if old.get("removed") else _emptied(old, reason.strip())
    data = records.encode(new)
    if not old.get("removed"):
        _overwrite_section(layout, old, new)
        write_file(os.path.join(path, Layout.EPISODE_RECORD), data)
    for name in os.listdir(path):
        if name != Layout.EPISODE_RECORD:
            with storage(path):
                os.unlink(os.path.join(path, name))
    sync_folder(path)
    _overwrite_rows(layout, new, records.digest_of(data))
    shutil.rmtree(layout.cache, ignore_errors=True)  # it holds words of the episode
    return shared


def _emptied(record: Json, reason: str) -> Json:
    removed = {"time": utc(None), "reason": reason, "by": "person"}
    evidence = {**record["evidence"], "cues": {}, "frames": {}, "missing": {}, "files": {}}
    evidence["log"] = {"header": record["evidence"]["log"]["header"], "lines": [_GONE]}
    size = len(records.log_section(record))
    evidence["log"]["lines"] = [_GONE + " " * (size - len(records.log_section({"evidence": evidence})))]
    return {
        **record,
        "kind": "removed",
        "removed": removed,
        "arguments": None,
        "plan": None,
        "place": None,
        "summary": _GONE,
        "tags": [],
        "events": [],
        "note": None,
        "start": {"pos": record["start"]["pos"], "state": {}},
        "end": {"pos": record["end"]["pos"], "state": {}},
        "row": {},
        "evidence": evidence,
    }


def _shared_pictures(layout: Layout, record: Json) -> list[str]:
    """Files of neighbours that are the same picture on disk."""
    path = layout.episode(record["id"])
    inodes = {os.stat(entry.path).st_ino for entry in os.scandir(path) if entry.stat().st_nlink > 1}
    found = []
    number = int(record["id"][3:])
    for other in (number - 1, number + 1):
        neighbour = layout.episode(f"ep_{max(other, 0):06d}")
        if inodes and neighbour != path and os.path.isdir(neighbour):
            found += [layout.relative(e.path) for e in os.scandir(neighbour) if e.stat().st_ino in inodes]
    return sorted(found)


def _overwrite_section(layout: Layout, old: Json, new: Json) -> None:
    path = layout.log(old["life"])
    section, replacement = records.log_section(old), records.log_section(new)
    assert len(section) == len(replacement)
    with open(path, "rb") as file:
        offset = file.read().find(section)
    if offset >= 0:
        _overwrite(path, offset, replacement)


def _overwrite_rows(layout: Layout, record: Json, digest: str) -> None:
    row = records.row_of(record, digest).to_json()
    empty = {"arguments": None, "plan": None, "place": None}

    def is_its_own(old: Json) -> bool:
        return bool(old.get("id") == record["id"])

    def asked_then(old: Json) -> bool:
        """A question about this episode, or one asked while it ran: its picture of that moment may show the same."""
        sources = old.get("sources") or ()
        about = any(str(source.get("reference") or "").startswith(record["id"]) for source in sources)
        step = old.get("step")
        then = old.get("life") == record["life"] and isinstance(step, int)
        return about or (then and record["first_step"] <= step <= record["last_step"])

    _overwrite_lines(layout, layout.index, is_its_own, lambda old: row)
    _overwrite_lines(layout, layout.begun(record["life"]), is_its_own, lambda old: {**old, **empty})
    _overwrite_lines(layout, layout.inspections, asked_then, _without_pictures)


def _without_pictures(old: Json) -> Json:
    emptied = [{**source, "data": ""} if source.get("data") else source for source in old["sources"]]
    return {**old, "sources": emptied}


def _overwrite_lines(layout: Layout, path: str, chosen: Callable[[Json], bool], make: Callable[[Json], Json]) -> None:
    name = layout.relative(path)
    with exclusive(layout.lock_of(path)):
        for line in list(journal.read(path)):
            if not isinstance(line, journal.Entry) or not chosen(line.row):
                continue
            new = make(line.row)
            data = dumps(new)
            if new == line.row:
                continue
            if len(data) >= line.length:
                raise Damaged("the emptied row does not fit its line", file=name, offset=line.offset)
            _overwrite(path, line.offset, data.ljust(line.length - 1) + b"\n")


def _overwrite(path: str, offset: int, data: bytes) -> None:
    with storage(path):
        descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.lseek(descriptor, offset, os.SEEK_SET)
            write_all(descriptor, data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
