"""The record of calls: rows of `procedures.jsonl`, written by the harness, and what they add up to.

It knows rows and counts; what a procedure is, and who decided to call it, it does not know.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from scrubjay.errors import InvalidInput
from scrubjay.memory import journal
from scrubjay.memory.following import Follower
from scrubjay.memory.jsonio import Json, clean
from scrubjay.memory.layout import Layout
from scrubjay.memory.procedure_files import KINDS
from scrubjay.memory.records import is_number

__all__ = ["OUTCOMES", "Run", "Runs", "Statistics"]

OUTCOMES = ("success", "failure", "budget", "stopped")
_MAX_ERROR = 8000


@dataclass(frozen=True, slots=True)
class Run:
    """One call of a procedure or reflex: with what, in which episodes, how it went and what it took.

    `steps` are environment steps, `seconds` wall time, `digest` that of the code which ran. `life`, `step` and `turn`
    say when, `category` under which skill adapters count it.
    """

    procedure: str
    outcome: str
    kind: str = "procedure"
    arguments: Json = field(default_factory=dict)
    episodes: tuple[str, ...] = ()
    error: str | None = None
    steps: int = 0
    seconds: float = 0.0
    life: int | None = None
    step: int | None = None
    turn: int | None = None
    digest: str | None = None
    category: str | None = None
    time: str | None = None
    extra: Json = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.outcome not in OUTCOMES:
            raise InvalidInput(f"outcome: one of {', '.join(OUTCOMES)} was expected, found {self.outcome!r:.80}")
        if self.kind not in KINDS:
            raise InvalidInput(f"kind: one of {', '.join(KINDS)} was expected, found {self.kind!r:.80}")

    @classmethod
    def from_json(cls, row: Json) -> Run:
        """Reads a row. Raises ValueError, naming the key, where it is none."""
        values: Json = {}
        for key, value in row.items():
            expected = _TYPES.get(key)
            if expected is not None and value is not None:
                if not isinstance(value, expected) or isinstance(value, bool):
                    raise ValueError(f"{key}: found {value!r:.80}")
                values[key] = tuple(map(str, value)) if key == "episodes" else value
        if "procedure" not in values or "outcome" not in values:
            raise ValueError("procedure and outcome were expected")
        return cls(**values, extra={key: value for key, value in row.items() if key not in _TYPES})

    def to_json(self) -> Json:
        """The object that `procedures.jsonl` holds. Raises InvalidInput for arguments that JSON can't hold."""
        row: Json = {name: getattr(self, name) for name in _TYPES if name != "category" or self.category is not None}
        row["arguments"] = clean(self.arguments)[0]
        row["episodes"] = list(self.episodes)
        row["error"] = None if self.error is None else self.error[:_MAX_ERROR]
        row["time"] = self.time or datetime.now(UTC).isoformat(timespec="milliseconds")
        return {**row, **self.extra}


_TYPES: dict[str, Any] = {
    "procedure": str, "kind": str, "arguments": dict, "episodes": list, "outcome": str, "error": str, "steps": int,
    "seconds": (int, float), "life": int, "step": int, "turn": int, "digest": str, "category": str, "time": str,
}  # fmt: skip


@dataclass(slots=True)
class Statistics:
    """What the calls of one procedure add up to.

    `failures_in_a_row` counts failures and spent budgets since the last success of the code that ran last; calls that
    were stopped from outside say nothing about it.
    """

    called: int = 0
    succeeded: int = 0
    failures_in_a_row: int = 0
    steps: int = 0
    digest: str | None = None
    error: str | None = None

    def __str__(self) -> str:
        if not self.called:
            return "never called"
        text = f"called {self.called}, succeeded {self.succeeded}"
        return text + (f", the last {self.failures_in_a_row} failed" if self.failures_in_a_row >= 2 else "")

    def add(self, outcome: str, digest: str | None, steps: int, error: str | None) -> None:
        """Counts one more call, later than those before."""
        self.called += 1
        self.steps += steps
        if digest != self.digest:
            self.digest, self.failures_in_a_row, self.error = digest, 0, None
        if outcome == "success":
            self.succeeded += 1
            self.failures_in_a_row, self.error = 0, None
        elif outcome != "stopped":
            self.failures_in_a_row += 1
            self.error = error


class Runs:
    """`procedures.jsonl`, read on from where it was last read. `broken` counts lines that are no rows."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._follower = Follower(layout.procedures_journal)
        self._forget()

    def _forget(self) -> None:
        self._statistics: dict[tuple[str, str], Statistics] = {}
        self.broken = 0

    def record(self, run: Run) -> None:
        """Appends a call. Durable when it returns."""
        path = self._layout.procedures_journal
        journal.append(path, self._layout.lock_of(path), [run.to_json()])

    def newest(self) -> Iterator[Run]:
        """The calls, last first, reading no more of the file than is asked for."""
        for entry in journal.read_backwards(self._layout.procedures_journal):
            try:
                yield Run.from_json(entry.row)
            except ValueError:
                continue

    def oldest(self) -> Iterator[Run]:
        """The calls in order."""
        for row in journal.rows(self._layout.procedures_journal):
            try:
                yield Run.from_json(row)
            except ValueError:
                continue

    def statistics(self, name: str, kind: str = "procedure") -> Statistics:
        """What the calls of one procedure add up to."""
        self.refresh()
        return self._statistics.get((kind, name), Statistics())

    def refresh(self) -> None:
        """Counts what was appended since. A file that is another one, or was rewritten, is counted anew."""
        lines = self._follower.look()
        if self._follower.is_anew:
            self._forget()
        for line in lines:
            if isinstance(line, journal.Entry):
                self._count(line.row)
            else:
                self.broken += 1

    def _count(self, row: Json) -> None:
        name, outcome = row.get("procedure"), row.get("outcome")
        if not isinstance(name, str) or outcome not in OUTCOMES:
            self.broken += 1
            return
        key = (str(row.get("kind", "procedure")), name)
        statistics = self._statistics.get(key)
        if statistics is None:
            statistics = self._statistics[key] = Statistics(digest=row.get("digest"))
        steps = row.get("steps")
        statistics.add(outcome, row.get("digest"), int(steps) if is_number(steps) else 0, row.get("error"))
