"""The workshop turn: at the beginning of a later life the agent goes through earlier lives' evidence, and acts not yet.

Who does it may read, look and write its documents; no environment step is taken, and a row among the turns says what
it used and changed. What is made of the evidence is the model's business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from scrubjay.agent import turn_rows
from scrubjay.agent.stepping import MILESTONE
from scrubjay.errors import ModelUnavailable, RequestTooLarge
from scrubjay.memory.records import LifeRow, Row
from scrubjay.models.contract import Account, Turn
from scrubjay.retrieval.query import Query

if TYPE_CHECKING:
    from scrubjay.agent.consolidation import Consolidation
    from scrubjay.memory.lives import Life
    from scrubjay.public import Memory

__all__ = ["RULES", "Work", "WorkshopTurns", "by_rules", "earlier_lives"]

Work = Callable[[Turn], Account]  # reads, looks and writes documents; takes no step

RULES = (
    "This is a workshop turn: a new life begins, and earlier lives left evidence. You act from the next turn on; no "
    "step is taken now. Go through that evidence, look where a picture tells more, and bring your documents to what "
    "helps this life: what is true here, what is true in general, methods that worked, what to do first. Each claim "
    "cites its episodes; a claim that turned out wrong is corrected in its place and keeps its citation."
)
_MOST_LIVES = 8


class WorkshopTurns:
    """The workshop turns of a run. An outage costs the workshop, not the life."""

    def __init__(self, memory: Memory, work: Work) -> None:
        self._memory, self._work = memory, work

    def hold(self, life: Life, turn: Turn) -> bool:
        """Holds one where earlier lives have ended; `turn` is what this life sees before it acts. True where it did."""
        if not any(_is_over(one, life.number) for one in self._memory.lives()):
            return False
        before, failed = self._newest_change(), None
        try:
            account = self._work(turn)
        except (ModelUnavailable, RequestTooLarge) as error:
            account, failed = Account(), str(error)
        changes = [
            change.number
            for change in self._memory.documents.history()
            if change.number > before and change.life in (None, life.number)
        ]
        turn_rows.write(life, turn_rows.workshop(account, changes, failed))
        return True

    def _newest_change(self) -> int:
        changes = self._memory.documents.history()
        return changes[-1].number if changes else 0


def by_rules(consolidation: Consolidation) -> Work:
    """The workshop of a player that asks no language model: a consolidation by rules."""

    def work(turn: Turn) -> Account:
        outcome = consolidation.run(f"workshop of life {turn.life}", life=turn.life, turn=0)
        return Account() if outcome is None else Account(outcome.done.usage)

    return work


def earlier_lives(memory: Memory, life: int) -> str:
    """What the newest earlier lives came to, a line each, with the episode in which each of them ended."""
    over = [one for one in memory.lives() if _is_over(one, life)]
    lines = [*_left_out(over), *(_line(memory, one) for one in over[-_MOST_LIVES:])]
    return "Earlier lives:\n" + "\n".join(f"- {line}" for line in lines)


def _is_over(one: LifeRow, life: int) -> bool:
    return one.life < life and one.ended is not None


def _left_out(over: list[LifeRow]) -> Iterator[str]:
    if len(over) > _MOST_LIVES:
        yield f"{len(over) - _MOST_LIVES} older ones, in the memory as well"


def _line(memory: Memory, one: LifeRow) -> str:
    last = memory.find(Query(life=one.life, last=1)).rows
    reached = memory.find(Query(life=one.life, tag="milestone")).rows
    ended = f"{one.outcome or 'ended'} at step {last[0].last_step} [{last[0].id}]" if last else "nothing recorded"
    return f"life {one.life} in {_plain(one.world)} ({_plain(one.task)}): {ended}; {_reached(reached)}"


def _reached(rows: Iterable[Row]) -> str:
    told = [
        f"{_plain(event.removeprefix(MILESTONE))} [{row.id}]"
        for row in rows
        for event in row.events
        if event.startswith(MILESTONE)
    ]
    return f"reached {', '.join(told)}" if told else "reached nothing"


def _plain(text: str | None) -> str:
    return "".join(filter(str.isprintable, " ".join((text or "").split())))[:200]
