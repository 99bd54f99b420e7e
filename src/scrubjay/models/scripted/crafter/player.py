"""The scripted player of crafter: rules in order, the first that has something to do decides.

It sees the observation of the turn and what the memory tells it, and keeps nothing: its map, its working memory and
its notes are documents, read at the start of a turn and written at its end.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby

from scrubjay.models.contract import Entry, Plan, Turn
from scrubjay.models.scripted.crafter import choosing, crafting, garden, needs, safety
from scrubjay.models.scripted.crafter.chart import Chart
from scrubjay.models.scripted.crafter.moves import Move
from scrubjay.models.scripted.crafter.notes import load_notes
from scrubjay.models.scripted.crafter.rules import DIRECTIONS
from scrubjay.models.scripted.crafter.situation import Situation
from scrubjay.models.scripted.crafter.working import load_working
from scrubjay.retrieval.query import Query

__all__ = ["CrafterPlayer"]

_RULES: tuple[Callable[[Situation], Move | None], ...] = (
    choosing.choose,
    safety.fight,
    safety.keep_sleeping,
    safety.rest,
    needs.drink,
    needs.eat,
    safety.shelter_to_rest,
    needs.search_for_both,
    garden.find_sapling,
    garden.plant,
    garden.harvest,
    crafting.first_stone,
    garden.protect,
    crafting.craft,
    crafting.hunt,
    crafting.gather,
    crafting.search,
)
_STUCK = 8  # episodes in one place without a result
_AVOID_FOR = 200  # steps


class CrafterPlayer:
    """Plays crafter by rules. Has no state."""

    name = "scripted"

    def decide(self, turn: Turn) -> Plan:
        """A few actions, and the documents brought up to date."""
        documents = turn.recall.documents
        citation = _newest(turn)
        notes = load_notes(turn)
        working = load_working(documents, turn.life)
        chart = Chart(documents, turn.world.world, turn.life, citation)
        now = Situation(turn, chart, working, notes)
        notes.learn(turn, citation)
        garden.watch(now)
        working.avoid = {cell: step for cell, step in working.avoid.items() if step > turn.step}
        move = _leave_dead_end(now) or _first(now)
        working.intention = move.intention
        chart.save()
        working.save(documents, citation)
        notes.save(turn)
        entries = tuple(Entry(action, len(list(group))) for action, group in groupby(move.actions))
        return Plan(entries, move.intention)


def _newest(turn: Turn) -> str:
    """The newest episode: what this turn's observation is evidence of."""
    if turn.recent:
        return turn.recent[-1].id
    rows = turn.recall.find(Query(last=1)).rows
    return rows[-1].id if rows else "ep_000000"


def _first(now: Situation) -> Move:
    for rule in _RULES:
        move = rule(now)
        if move is not None:
            return move
    raise AssertionError("the last rule always decides")


def _leave_dead_end(now: Situation) -> Move | None:
    """Where the last episodes all stayed here without a result: avoid what is in front for a while, and step aside."""
    last = now.turn.recent[-1] if now.turn.recent else None
    if last is None or now.sleeping or "inventory_changed" in last.tags or "stuck" not in last.tags:
        return None
    rows = now.turn.recall.find(Query(last=_STUCK, life=now.turn.life)).rows
    here = (float(now.here[0]), float(now.here[1]))
    if len(rows) < _STUCK or any(
        (row.x, row.z) != here or "inventory_changed" in row.tags or row.action_kind in ("sleep", "noop")
        for row in rows
    ):
        return None
    now.working.avoid[now.front] = now.step + _AVOID_FOR
    free = [
        name
        for direction, name in DIRECTIONS.items()
        if now.is_free((now.here[0] + direction[0], now.here[1] + direction[1]))
    ]
    return Move((f"move_{free[now.step % len(free)]}",), "step aside") if free else None
