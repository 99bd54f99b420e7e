"""What a check finds: problems, each with its file and byte, and counts taken from disk."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from scrubjay.memory.jsonio import Json

__all__ = ["Problem", "Report"]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong.

    `kind` is a short stable name; `repair` says what `--repair` will do about it, or is None where it can't.
    """

    kind: str
    file: str
    message: str
    offset: int | None = None
    repair: str | None = None
    episode: str | None = None

    def __str__(self) -> str:
        where = self.file if self.offset is None else f"{self.file}, byte {self.offset}"
        return f"{where}: {self.message}" + (f" [{self.repair}]" if self.repair else "")

    def to_json(self) -> Json:
        """The problem as an object, for programs."""
        return {
            "kind": self.kind, "file": self.file, "offset": self.offset,
            "message": self.message, "repair": self.repair,
        }  # fmt: skip


@dataclass(slots=True)
class Report:
    """Everything that a check found, and what it counted on the way."""

    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def is_sound(self) -> bool:
        """True where nothing is wrong."""
        return not self.problems

    def add(
        self,
        kind: str,
        file: str,
        message: str,
        offset: int | None = None,
        repair: str | None = None,
        episode: str | None = None,
    ) -> None:
        """Notes a problem."""
        self.problems.append(Problem(kind, file, message, offset, repair, episode))

    def to_json(self) -> Json:
        """The report as an object, for programs."""
        return {
            "sound": self.is_sound,
            "counts": dict(self.counts),
            "problems": [problem.to_json() for problem in self.problems],
            "notes": self.notes,
        }
