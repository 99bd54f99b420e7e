"""The record of consolidations: rows among the turns of a life, and what they say of the last one.

It knows rows and byte offsets; what was consolidated, and how, it does not know.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from scrubjay.memory import journal
from scrubjay.memory.claims import life_numbers
from scrubjay.memory.document_changes import Change
from scrubjay.memory.jsonio import Json
from scrubjay.memory.layout import Layout
from scrubjay.models.chat import Usage

__all__ = ["CONSOLIDATION", "FAILED", "UNDONE", "Consolidations", "Done", "Marks", "Used"]

CONSOLIDATION, UNDONE, FAILED = "consolidation", "consolidation undone", "consolidation failed"


@dataclass(frozen=True, slots=True)
class Marks:
    """How far evidence was read: bytes of the index, of the questions asked, of the calls of procedures.

    Bytes, not ids: several lives finish their episodes in another order than they begin them.
    """

    index: int = 0
    inspections: int = 0
    procedures: int = 0


@dataclass(frozen=True, slots=True)
class Done:
    """One consolidation. `when` is its reason, `turn` the last turn of its life then.

    `since` is the newest episode that was known before (None: none), `until` the newest that was read. `changes` are
    the numbers of rows of `documents.jsonl`, `refused` counts what was not taken.
    """

    life: int
    when: str
    turn: int = 0
    since: str | None = None
    until: str | None = None
    read: Marks = field(default_factory=Marks)
    changes: tuple[int, ...] = ()
    refused: int = 0
    model: str = ""
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    time: str = ""

    @classmethod
    def from_json(cls, row: Json, life: int) -> Done:
        """Reads a row; what is not there, or of another type, stands as its default."""
        usage = {name: row[name] for name in Usage.__dataclass_fields__ if _is_number(row.get(name))}
        read = row.get("read")
        marks = {name: at for name, at in read.items() if type(at) is int} if isinstance(read, dict) else {}
        changes = row.get("changes")
        return cls(
            life=life,
            when=str(row.get("when", "")),
            turn=row["turn"] if type(row.get("turn")) is int else 0,
            since=_text(row.get("since")),
            until=_text(row.get("until")),
            read=Marks(**{name: marks[name] for name in Marks.__dataclass_fields__ if name in marks}),
            changes=tuple(n for n in changes if type(n) is int) if isinstance(changes, list) else (),
            refused=row["refused"] if type(row.get("refused")) is int else 0,
            model=str(row.get("model", "")),
            usage=Usage(**usage),
            seconds=row["seconds"] if _is_number(row.get("seconds")) else 0.0,
            time=str(row.get("time", "")),
        )

    def to_json(self) -> Json:
        """The row of `turns.jsonl`."""
        return {
            "kind": CONSOLIDATION,
            "when": self.when,
            "turn": self.turn,
            "since": self.since,
            "until": self.until,
            "read": asdict(self.read),
            "changes": list(self.changes),
            "refused": self.refused,
            "model": self.model,
            **asdict(self.usage),
            "seconds": round(self.seconds, 3),
            "time": self.time,
        }


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


@dataclass(frozen=True, slots=True)
class Used:
    """What was used for a consolidation that came to nothing, for what reason it was begun."""

    when: str
    model: str
    usage: Usage
    seconds: float


class Consolidations:
    """The consolidations of a memory, in the journals of its lives."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    def last(self) -> Done | None:
        """The newest one of all lives that stands; None where there is none."""
        found = [done for life in life_numbers(self._layout) if (done := self.last_of(life)) is not None]
        return max(found, key=lambda done: done.time, default=None)

    def last_of(self, life: int) -> Done | None:
        """The newest one of a life that stands."""
        undone: set[Any] = set()
        for entry in journal.read_backwards(self._layout.turns(life)):
            kind = entry.row.get("kind")
            if kind == UNDONE:
                undone.add(entry.row.get("undoes"))
            elif kind == CONSOLIDATION and entry.row.get("time") not in undone:
                return Done.from_json(entry.row, life)
        return None

    def last_turn(self, life: int) -> int:
        """The number of the newest turn of a life; 0 where it has none."""
        for entry in journal.read_backwards(self._layout.turns(life)):
            if "kind" not in entry.row and type(entry.row.get("turn")) is int:
                return int(entry.row["turn"])
        return 0

    def write(self, done: Done) -> None:
        """Appends the row of a consolidation. Durable when it returns."""
        self._append(done.life, done.to_json())

    def write_undone(self, done: Done, changes: Iterable[Change]) -> None:
        """Appends the row which says that a consolidation was taken back, by which changes."""
        row: Json = {"kind": UNDONE, "undoes": done.time, "changes": [change.number for change in changes]}
        self._append(done.life, {**row, "time": now()})

    def write_failed(self, life: int, used: Used, why: str) -> None:
        """Appends the row of a consolidation that was broken off: it changed nothing, and was paid for."""
        row: Json = {"kind": FAILED, "when": used.when, "why": why, "model": used.model, **asdict(used.usage)}
        self._append(life, {**row, "seconds": round(used.seconds, 3), "time": now()})

    def _append(self, life: int, row: Json) -> None:
        path = self._layout.turns(life)
        journal.append(path, self._layout.lock_of(path), [row])


def now() -> str:
    """The time, as rows have it."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def usable(path: str, offset: int) -> int:
    """`offset` where a line of the file begins there; 0 for a file that is another one now: all of it is read again."""
    try:
        with open(path, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            if offset == 0 or offset > size:
                return 0
            file.seek(offset - 1)
            return offset if file.read(1) == b"\n" else 0
    except FileNotFoundError:
        return 0
