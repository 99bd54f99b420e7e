"""A scripted player of VizDoom: shoots what it sees, takes what lies about, and goes where it was least.

It follows rules, sees the observation of the turn and what the memory tells it, and keeps nothing. What it asks the
memory is where it was (episodes near a point) and which ways led nowhere from here; a memory that can't tell lets it go
straight ahead until it is stuck.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from scrubjay.errors import InvalidInput
from scrubjay.memory.jsonio import Json
from scrubjay.memory.records import Row
from scrubjay.models.contract import Entry, Plan, Turn
from scrubjay.retrieval.query import Query

__all__ = ["DoomPlayer"]

_WAY = 192.0  # map units of one walk: three cells
_NEAR = 128.0
_HERE = 400.0
_HEADINGS = tuple(range(0, 360, 45))
_AGAIN = 20.0  # visits that a walk that led nowhere counts as
_MANY = 40
_RANGE = 700.0
_TAKEN = ("weapon", "key", "armor", "ammo", "health")
_AIM = re.compile(r"go_to\(x=(-?[\d.]+), y=(-?[\d.]+)")


class DoomPlayer:
    """Plays a map of Doom by rules. Has no state."""

    name = "scripted"

    def decide(self, turn: Turn) -> Plan:
        """One atom, or a few raw actions."""
        return _fight(turn) or _collect(turn) or _explore(turn)


def _fight(turn: Turn) -> Plan | None:
    """Shoots at a monster in view, unless the last try led to nothing."""
    if not turn.state["ammo"] or _last_failed(turn, "attack"):
        return None
    if any(one["kind"] == "monster" and one["distance"] <= _RANGE for one in turn.state["nearby"]):
        return Plan((Entry("attack", 1, {"what": "monster"}),), "fight the monster in view")
    return None


def _collect(turn: Turn) -> Plan | None:
    """Takes the nearest thing that was not tried here before."""
    for one in turn.state["nearby"]:
        if one["kind"] not in _TAKEN or one["distance"] > _RANGE or not _has_room(turn.state, one["kind"]):
            continue
        tried = _asked(turn, Query(near=_here(turn), radius=_RANGE, action="collect", grep=one["name"], last=1))
        if tried and tried[-1].outcome != "success":
            continue
        if _last_failed(turn, "collect"):
            continue
        return Plan((Entry("collect", 1, {"what": one["name"]}),), f"take the {one['name']}")
    return None


def _has_room(state: Json, kind: str) -> bool:
    return bool(state["health"] < 100) if kind == "health" else True


def _explore(turn: Turn) -> Plan:
    """Walks three cells in the direction in which the fewest episodes were, the least turn first."""
    yaw, here = float(turn.state["yaw"]), _here(turn)
    failed = _led_nowhere(turn)
    last = turn.recent[-1] if turn.recent else None
    if last is not None and not failed and _did_fail(last):
        # Nothing tells which way that was but where I look: another one, by the step, so that it is not for ever.
        yaw = (yaw + 90 + 45 * (turn.step % 5)) % 360
    best = min(_HEADINGS, key=lambda heading: _cost(turn, here, (yaw + heading) % 360, heading, failed))
    x, y = _point(here, (yaw + best) % 360, _WAY)
    return Plan((Entry("go_to", 1, {"x": round(x), "y": round(y)}),), "explore where I was least")


def _cost(
    turn: Turn, here: tuple[float, float], yaw: float, heading: int, failed: Sequence[tuple[float, float]]
) -> tuple[float, int]:
    aim = _point(here, yaw, _WAY)
    visits = len(_asked(turn, Query(near=aim, radius=_NEAR, last=_MANY)))
    again = sum(math.dist(aim, other) <= _NEAR for other in failed)
    return visits + _AGAIN * again, min(heading, 360 - heading)


def _led_nowhere(turn: Turn) -> list[tuple[float, float]]:
    """Where walks from about here were aimed that did not arrive."""
    rows = _asked(turn, Query(near=_here(turn), radius=_HERE, action="go_to", last=_MANY))
    found = [_AIM.search(row.summary or "") for row in rows if _did_fail(row)]
    return [(float(aim[1]), float(aim[2])) for aim in found if aim is not None]


def _asked(turn: Turn, query: Query) -> Sequence[Row]:
    """Episodes of this world, oldest first; none where the memory can't tell."""
    try:
        return turn.recall.find(query).rows
    except InvalidInput:
        return ()


def _last_failed(turn: Turn, action: str) -> bool:
    return any(row.action_kind == action and _did_fail(row) for row in turn.recent)


def _did_fail(row: Row) -> bool:
    return (row.outcome or "").startswith("failure")


def _here(turn: Turn) -> tuple[float, float]:
    x, y, _ = turn.state["pos"]
    return float(x), float(y)


def _point(here: tuple[float, float], yaw: float, distance: float) -> tuple[float, float]:
    return here[0] + distance * math.cos(math.radians(yaw)), here[1] + distance * math.sin(math.radians(yaw))
