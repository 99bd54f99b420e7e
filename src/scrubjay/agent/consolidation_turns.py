"""Consolidating while an agent lives: what a loop calls after each turn, before a reset, and at the end of a life.

It decides whether it is time and has it done; what is consolidated, and how, it leaves to others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from scrubjay.agent.consolidation import Consolidation, Outcome
from scrubjay.agent.expectations import Expectation
from scrubjay.agent.triggers import Calls, Signals, When, failing, has_died, reason_of
from scrubjay.errors import ModelUnavailable, NotFound, RequestTooLarge
from scrubjay.memory import journal
from scrubjay.memory.jsonio import Json
from scrubjay.memory.procedures import Run
from scrubjay.memory.records import Row
from scrubjay.models.contract import Turn

if TYPE_CHECKING:
    from scrubjay.public import Memory

__all__ = ["ConsolidationTurns"]


class ConsolidationTurns:
    """The consolidations of a run. `when` says which reasons count, `told` is given each outcome.

    An outage of the model costs the consolidation, not the life: its evidence is read the next time that it is time.
    """

    def __init__(
        self,
        memory: Memory,
        consolidation: Consolidation,
        when: When | None = None,
        told: Callable[[Outcome], None] = lambda outcome: None,
    ) -> None:
        self._memory, self._consolidation, self.when, self._told = memory, consolidation, when or When(), told
        self._last_turns: dict[int, int] = {}
        self._tried: dict[int, int] = {}  # the turn after which it was last asked for in vain
        last = consolidation.record.last()
        self._calls = _Calls(memory, last.read.procedures if last is not None else 0)

    def after_turn(self, life: int, turn: Json, rows: Sequence[Row] = ()) -> bool:
        """After the row of a turn was written; true where it was time, and something was consolidated.

        `rows` are the episodes of the turn; where none are given they are read from the memory.
        """
        found = rows or [self._memory.episode(ident).row for ident in turn["episodes"]]
        number = int(turn["turn"])
        history, recent = self._calls.split()
        signals = Signals(
            turn=number,
            last=self._last_turn(life),
            tried=self._tried.get(life, 0),
            died=has_died(found),
            contradictions=self._contradictions(str(turn.get("intention", "")), found),
            failing=failing(self.when, history, recent) if self.when.on_failures else (),
        )
        reason = reason_of(self.when, signals)
        return reason is not None and self._run(reason, life, number)

    def before_reset(self, turn: Turn) -> None:
        """Before a context is given up."""
        if self.when.before_reset:
            self._run("before a reset", turn.life, turn.turn - 1)

    def at_end(self, life: int, outcome: str | None) -> bool:
        """At the end of a life, while it still runs or after."""
        return self.when.at_end and self._run(f"end of life {life}: {outcome or 'ended'}", life, None)

    def _run(self, reason: str, life: int, turn: int | None) -> bool:
        try:
            outcome = self._consolidation.run(reason, life=life, turn=turn)
        except (ModelUnavailable, RequestTooLarge):
            if turn is not None:
                self._tried[life] = turn
            return False
        if outcome is None:
            return False
        self._last_turns[life] = outcome.done.turn
        self._calls.mark = outcome.done.read.procedures
        self._told(outcome)
        return True

    def _last_turn(self, life: int) -> int:
        if life not in self._last_turns:
            last = self._consolidation.record.last_of(life)
            self._last_turns[life] = last.turn if last is not None else 0
        return self._last_turns[life]

    def _contradictions(self, intention: str, rows: Sequence[Row]) -> tuple[str, ...]:
        expectation = Expectation.of(intention) if self.when.on_contradiction and rows else None
        if expectation is None:
            return ()
        try:
            state: Any = self._memory.episode(rows[-1].id).record["end"]["state"]
        except NotFound:
            return ()
        return expectation.contradictions(state)


class _Calls:
    """Calls of procedures, counted before and after the last consolidation; read on as the journal grows."""

    def __init__(self, memory: Memory, mark: int) -> None:
        self.mark = mark  # the byte up to which calls are history
        self._path = memory.layout.procedures_journal
        self._offset = 0
        self._seen: list[tuple[int, str, bool]] = []  # where a row begins, which procedure, whether it failed
        self._history: dict[str, Calls] = {}

    def split(self) -> tuple[dict[str, Calls], dict[str, Calls]]:
        """The history, and what came since."""
        self._read_on()
        while self._seen and self._seen[0][0] < self.mark:
            _, name, failed = self._seen.pop(0)
            self._history[name] = self._history.get(name, Calls()).add(failed)
        recent: dict[str, Calls] = {}
        for _, name, failed in self._seen:
            recent[name] = recent.get(name, Calls()).add(failed)
        return self._history, recent

    def _read_on(self) -> None:
        for line in journal.read(self._path, self._offset):
            if isinstance(line, journal.Broken):
                if line.tail:
                    return
            else:
                self._take(line.offset, line.row)
            self._offset = line.offset + line.length

    def _take(self, offset: int, row: Json) -> None:
        try:
            run = Run.from_json(row)
        except ValueError:
            return
        if run.outcome != "stopped":  # stopped from outside: it says nothing of the procedure
            self._seen.append((offset, run.procedure, run.outcome != "success"))
