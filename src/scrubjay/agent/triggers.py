"""When to consolidate: the six reasons, as pure functions of what a turn showed.

It knows counts and records, no file and no model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from scrubjay.errors import InvalidInput
from scrubjay.memory.records import Row
from scrubjay.statistics import two_proportions

__all__ = ["Calls", "Signals", "When", "failing", "has_died", "reason_of"]


@dataclass(frozen=True, slots=True)
class When:
    """Which reasons count. `every` is a number of turns, or None for never.

    A procedure fails more than its history where the two-proportion test says so at level `alpha`, with at least
    `least` calls on either side.
    """

    every: int | None = 25
    at_end: bool = True
    on_death: bool = True
    on_contradiction: bool = True
    before_reset: bool = True
    on_failures: bool = True
    alpha: float = 0.05
    least: int = 3

    def __post_init__(self) -> None:
        if self.every is not None and self.every < 1:
            raise InvalidInput(f"every: a count of turns above 0 was expected, found {self.every!r}")
        if not 0 < self.alpha < 1:
            raise InvalidInput(f"alpha: a level between 0 and 1 was expected, found {self.alpha!r}")


@dataclass(frozen=True, slots=True)
class Calls:
    """Calls of one procedure: how many, and how many of them failed."""

    called: int = 0
    failed: int = 0

    def add(self, failed: bool) -> Calls:
        """One call more."""
        return Calls(self.called + 1, self.failed + failed)

    def __add__(self, other: Calls) -> Calls:
        return Calls(self.called + other.called, self.failed + other.failed)


@dataclass(frozen=True, slots=True)
class Signals:
    """What a turn showed. `turn` and `last` are the numbers of this turn and of the last consolidated one.

    `tried` is the turn after which a consolidation last failed: what fails is not asked for again after every turn.
    """

    turn: int
    last: int = 0
    tried: int = 0
    died: bool = False
    contradictions: tuple[str, ...] = ()
    failing: tuple[str, ...] = ()


def reason_of(when: When, signals: Signals) -> str | None:
    """Why to consolidate after this turn, in words for row and model; None where there is no reason to."""
    if when.on_death and signals.died:
        return "death"
    if when.on_contradiction and signals.contradictions:
        return f"contradicted: {'; '.join(signals.contradictions)}"
    if when.on_failures and signals.failing:
        return f"failing: {', '.join(signals.failing)}"
    if when.every is not None and signals.turn - max(signals.last, signals.tried) >= when.every:
        return f"{signals.turn - signals.last} turns"
    return None


def has_died(rows: Iterable[Row]) -> bool:
    """True where one of these episodes ended in death."""
    return any("died" in row.tags or row.outcome == "died" for row in rows)


def failing(when: When, history: Mapping[str, Calls], recent: Mapping[str, Calls]) -> tuple[str, ...]:
    """The procedures whose recent calls fail more often than those before, in the order of names.

    One test a procedure and turn: over many of them, some fire by chance at a rate of `alpha`.
    """
    names = []
    for name in sorted(recent):
        now, before = recent[name], history.get(name, Calls())
        test = two_proportions(now.failed, now.called, before.failed, before.called, when.least)
        if test.is_below(when.alpha):
            names.append(name)
    return tuple(names)
