"""What a memory holds and what it weighs: Table 8 of the MFM paper (storage), for one memory.

It counts what lies on disk. It reads no picture and keeps no counter.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from scrubjay.memory import journal
from scrubjay.memory.layout import Layout

__all__ = ["Contents", "Part", "contents"]


@dataclass(frozen=True, slots=True)
class Part:
    """One kind of content: how many there are, in how many files, with how many bytes (a hard link counts once)."""

    name: str
    count: int
    files: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Contents:
    """Everything in a memory. `tags`, `actions` and `outcomes` count episodes, `cells` cell events by kind."""

    parts: tuple[Part, ...]
    lives: int
    steps: int
    tags: Counter[str]
    actions: Counter[str]
    outcomes: Counter[str]
    cells: Counter[str]

    @property
    def bytes(self) -> int:
        """All bytes of the memory, without what can be made again (`.cache`)."""
        return sum(part.bytes for part in self.parts if part.name != "cache")


def contents(layout: Layout) -> Contents:
    """Counts a memory."""
    tags: Counter[str] = Counter()
    actions: Counter[str] = Counter()
    outcomes: Counter[str] = Counter()
    steps: dict[int, int] = {}
    episodes = 0
    for row in journal.rows(layout.index):
        episodes += 1
        said = row.get("tags")
        tags.update(tag for tag in (said if isinstance(said, list) else ()) if isinstance(tag, str))
        for counter, key in ((actions, "action_kind"), (outcomes, "outcome")):
            name = row.get(key)
            counter[name if name and isinstance(name, str) else "-"] += 1
        life, last = row.get("life") or 1, row.get("last_step") or 0
        if type(life) is int and type(last) is int:
            steps[life] = max(steps.get(life, 0), last)
    cells = Counter(str(row.get("kind")) for row in journal.rows(layout.grid))
    tally = _tally(layout)
    counts = {"episodes": episodes, "index": episodes, "grid": cells.total(), "lives": _lives(layout)}
    parts = tuple(Part(name, counts.get(name, files), files, size) for name, (files, size) in tally.items() if files)
    return Contents(parts, counts["lives"], sum(steps.values()), tags, actions, outcomes, cells)


def _lives(layout: Layout) -> int:
    return sum(row.get("event") == "start" for row in journal.rows(layout.lives))


def _tally(layout: Layout) -> dict[str, tuple[int, int]]:
    """Files and bytes of every part, by the part's name."""
    names = ("episodes", "states", "frames", "index", "grid", "lives", "documents", "inspections", "adapters", "cache")
    found = {name: [0, 0] for name in names}
    seen: set[tuple[int, int]] = set()
    for path, info in _files(layout.root):
        part = found[_part_of(layout.relative(path))]
        part[0] += 1
        if (info.st_dev, info.st_ino) not in seen:
            part[1] += info.st_size
        if info.st_nlink > 1:
            seen.add((info.st_dev, info.st_ino))
    return {name: (files, size) for name, (files, size) in found.items()}


def _files(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    for entry in os.scandir(folder):
        if entry.name == ".locks":  # empty files, not to be deleted while anybody writes
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _files(entry.path)
        elif entry.name != "lock" and not entry.path.endswith(".lock"):
            yield entry.path, entry.stat(follow_symlinks=False)


_TOP = {
    "index.jsonl": "index", "grid.jsonl": "grid", "lives.jsonl": "lives", "worlds.jsonl": "lives", "lives": "lives",
    "inspections.jsonl": "inspections", "adapters": "adapters", ".cache": "cache",
}  # fmt: skip


def _part_of(path: str) -> str:
    top, _, rest = path.partition("/")
    if top != "episodes":
        return _TOP.get(top, "documents")
    name = rest.rpartition("/")[2]
    if name == Layout.EPISODE_RECORD:
        return "episodes"
    return "states" if name == Layout.STEPS else "frames"
