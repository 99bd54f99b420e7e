"""The rows of `turns.jsonl`: what a turn planned, did, used and cost.

It knows plans, episodes and accounts; what they led to it does not judge. A row with a `kind` is no turn in which the
agent acted: a workshop turn, a consolidation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from scrubjay.agent.execution import Executed
from scrubjay.memory import journal
from scrubjay.memory.jsonio import Json, clean
from scrubjay.models.contract import Account, Entry, Plan

if TYPE_CHECKING:
    from scrubjay.memory.lives import Life

__all__ = ["WORKSHOP", "acted", "workshop", "write"]

WORKSHOP = "workshop"


def acted(number: int, first_step: int, last_step: int, plan: Plan, done: Sequence[Executed]) -> Json:
    """The row of a turn in which the agent acted. An entry is [action, repeat], with its arguments where it has any."""
    return {
        "turn": number,
        "first_step": first_step,
        "last_step": last_step,
        "episodes": [one.row.id for one in done],
        "milestones": [name for one in done for name in one.new],
        "entries": [_entry(entry) for entry in plan.entries],
        "intention": plan.intention,
        **_used(plan.account),
    }


def workshop(account: Account, changes: Sequence[int], failed: str | None = None) -> Json:
    """The row of a workshop turn: turn 0 of its life. `changes` are numbers of rows of `documents.jsonl`."""
    row: Json = {"kind": WORKSHOP, "turn": 0, "changes": list(changes), **_used(account)}
    return row if failed is None else {**row, "failed": failed}


def write(life: Life, row: Json) -> None:
    """Appends a row to the turns of a life; it is durable when the life's journals are next made so."""
    path = life.layout.turns(life.number)
    journal.append(path, life.layout.lock_of(path), [row], durable=False)


def _entry(entry: Entry) -> list[object]:
    if not entry.arguments:
        return [entry.action, entry.repeat]
    return [entry.action, entry.repeat, clean(entry.arguments)[0]]


def _used(account: Account) -> Json:
    """What a turn used, where it used anything: the scripted player makes no request."""
    usage = account.usage
    if not (usage.requests or account.tool_calls):
        return {}
    return {
        "requests": usage.requests,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "images": usage.images,
        "cost": usage.cost,
        "tool_calls": account.tool_calls,
        "inspected": list(account.inspected),
        "resets": account.resets,
        "refusals": account.refusals,
        "seconds": round(account.seconds, 3),
        **({"events": list(account.events)} if account.events else {}),
        **({"encoders": list(account.encoders)} if account.encoders else {}),
    }
