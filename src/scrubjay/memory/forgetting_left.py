"""Where something of a removed episode may still be: what a person must be told, for no program can judge it.

It reads and names. It removes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from scrubjay.memory import journal
from scrubjay.memory.citations import back_links
from scrubjay.memory.documents import Documents
from scrubjay.memory.jsonio import Json
from scrubjay.memory.layout import Layout

__all__ = ["places_left"]

_MOST = 20


def places_left(layout: Layout, record: Json, own: set[str]) -> list[str]:
    """One line a place, of the record as it was; `own`: ids of episodes whose share of it goes with it."""
    found = [*_pictures(layout, record, own), *_life(layout, record), *_documents(layout, record["id"])]
    if os.path.isdir(layout.adapters) and os.listdir(layout.adapters):
        found.append("adapters/: what was trained before today may have learned from it")
    return found


def _pictures(layout: Layout, record: Json, own: set[str]) -> list[str]:
    """Other episodes that begin with the same picture, and files that are one of its pictures."""
    hashes = set(record["evidence"]["cues"].get("screen/1", {}).values())
    ident, lines = record["id"], []
    for row in journal.rows(layout.index):
        if row.get("observation_hash") in hashes and row.get("id") not in {ident, *own}:
            lines.append(f"{row.get('id')} begins with the same picture: forget it too if it must go")
    linked = sorted(_links(layout, record))
    lines += [f"{path}: the same picture" for path in linked if not any(f"/{other}/" in path for other in own)]
    more = [f"{len(lines) - _MOST} more episodes or files with the same picture"] if len(lines) > _MOST else []
    return lines[:_MOST] + more


def _links(layout: Layout, record: Json) -> Iterator[str]:
    """Files of other episodes of its life that are one file with a picture of it."""
    folder = layout.episode(record["id"])
    inodes = {entry.inode() for entry in _files(folder) if entry.stat().st_nlink > 1}
    if not inodes:
        return
    for row in journal.rows(layout.begun(record["life"])):
        other = row.get("id")
        if isinstance(other, str) and other != record["id"] and other.startswith("ep_") and other[3:].isdigit():
            yield from (layout.relative(e.path) for e in _files(layout.episode(other)) if e.inode() in inodes)


def _files(path: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(path) as entries:
            return list(entries)
    except FileNotFoundError:
        return []


def _life(layout: Layout, record: Json) -> Iterator[str]:
    """What the life kept outside its episodes: the plans of turns, and what a coding agent was shown last."""
    path = layout.turns(record["life"])
    for line in journal.read(path):
        row = line.row if isinstance(line, journal.Entry) else {}
        if isinstance(row.get("episodes"), list) and record["id"] in row["episodes"]:
            yield f"{layout.relative(path)}, byte {line.offset}: the plan of the turn that made it"
    turn = layout.turn(record["life"])
    if _files(turn):
        yield f"{layout.relative(turn)}/: what a coding agent was shown in its last turn, and printed"


def _documents(layout: Layout, ident: str) -> Iterator[str]:
    documents = Documents(layout, read_only=True)
    for path, line in back_links(documents).get(ident, []):
        yield f"mine/{path}:{line} cites it"
    offsets = [line.offset for line in journal.read(layout.documents_journal) if _names(line, ident)]
    if offsets:
        where = ", ".join(map(str, offsets[:5])) + (f" and {len(offsets) - 5} more" if len(offsets) > 5 else "")
        yield f"documents.jsonl, byte {where}: changes of documents that cite it"


def _names(line: journal.Entry | journal.Broken, ident: str) -> bool:
    if not isinstance(line, journal.Entry):
        return False
    return any(isinstance(text, str) and ident in text for text in (line.row.get("inserted"), line.row.get("removed")))
