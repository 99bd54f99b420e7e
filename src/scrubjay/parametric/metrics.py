"""What the parametric tier is measured by, over the statistics of this package.

Success with Wilson's interval and McNemar's exact test are in `scrubjay.statistics`; here is what only this tier has.
"""

from __future__ import annotations

import statistics
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scrubjay.memory import journal
from scrubjay.memory.records import is_number
from scrubjay.parametric.tiers import FAST

if TYPE_CHECKING:
    from scrubjay.public import Memory

__all__ = ["TierUse", "jaccard", "tier_use"]


@dataclass(frozen=True, slots=True)
class TierUse:
    """Turns of lives, and how many of them the fast tier took; tokens of all, and the fast tier's latency.

    `latency` is the median of seconds from an observation to the fast tier's action; None where it took no turn.
    """

    turns: int
    fast: int
    tokens: int
    latency: float | None

    @property
    def share(self) -> float:
        """Of turns on the fast path; 0 of none."""
        return self.fast / self.turns if self.turns else 0.0


def tier_use(memory: Memory, lives: Sequence[int] | None = None) -> TierUse:
    """Over these lives, or all."""
    turns = fast = tokens = 0
    seconds: list[float] = []
    for life in (one.life for one in memory.lives()):
        if lives is not None and life not in lives:
            continue
        for row in journal.rows(memory.layout.turns(life)):
            turns += "kind" not in row  # a consolidation is paid for, and is no turn
            tokens += sum(int(row[key]) for key in ("input_tokens", "output_tokens") if is_number(row.get(key)))
            events = row.get("events")
            if isinstance(events, list) and any(str(one).startswith(FAST) for one in events):
                fast += 1
                seconds += [float(row["seconds"])] if is_number(row.get("seconds")) else []
    return TierUse(turns, fast, tokens, statistics.median(seconds) if seconds else None)


def jaccard(one: Collection[str], other: Collection[str]) -> float:
    """Size of what is in both over what is in either; 1 where both are empty."""
    a, b = set(one), set(other)
    return len(a & b) / len(a | b) if a | b else 1.0
