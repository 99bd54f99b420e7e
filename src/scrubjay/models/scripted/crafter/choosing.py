"""Ores that the words do not tell apart: which of them was good, and which looks like it."""

from __future__ import annotations

from scrubjay.errors import InvalidInput
from scrubjay.models.scripted.crafter.moves import Move
from scrubjay.models.scripted.crafter.situation import Situation
from scrubjay.retrieval.places import describe
from scrubjay.retrieval.query import Query

__all__ = ["choose"]

_VIEW = 4
_MOST = 200
_FOUND, _UP = "find_good_ore", (0, -1)


def choose(now: Situation) -> Move | None:
    """Walks from ore to ore, touches all of the first room, and in the second the one that looks like the good one."""
    room = now.turn.state.get("room")
    if room is None:
        return None
    if now.at((now.here[0], now.here[1] - 1)) != "ore":
        return Move(("move_right",), "walk to the next ore")
    if now.facing != _UP:
        return Move(("move_up",), "face the ore")
    last = now.turn.recent[-1] if now.turn.recent else None
    if last is not None and last.action_kind == "do":
        return Move(("move_right",), "walk to the next ore")
    if room == "first":
        return Move(("do",), "touch the ore")
    if not _is_other(now):
        return Move(("do",), "touch the ore that looks right")
    return Move(("move_right",), "walk past an ore that looks otherwise")


def _is_other(now: Situation) -> bool:
    """True where the memory tells that what is in front is not of the good kind; without an answer it may be."""
    recall, life = now.turn.recall, now.turn.life
    try:
        good = recall.find(Query(tag="milestone", grep=_FOUND, life=life)).rows
        alike = recall.find(Query(like=describe(now.turn.frame), life=life, limit=_MOST)).rows
    except InvalidInput:
        return False
    stood = [row for row in alike if row.end is not None and row.end == row.position]  # so that both frames are of it
    elsewhere = [row for row in stood if row.end is not None and abs(row.end[0] - now.here[0]) > _VIEW]
    return bool(good and elsewhere) and elsewhere[0].end != good[-1].end
