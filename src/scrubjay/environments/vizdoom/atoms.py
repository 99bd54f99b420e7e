"""Atoms of VizDoom, from what the state shows: pose, things in view, messages. They know no map.

Walking is greedy: straight at the aim, `use` where that is blocked (it may be a door), then round it to both sides.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import Any

from scrubjay.environments.atoms import SUCCESS, Atom, Moves, atom, failure
from scrubjay.memory.jsonio import Json

__all__ = ["ATOMS"]

_TURN = 10.0  # degrees of one action
_MOST = 200  # actions of a walk
_PATIENCE = 60  # actions without coming nearer
_BLOCKED = 6.0  # map units in one action; a walk makes 7 from standing, then more
_REACH = 20.0  # at which something is walked over
_TRIES = 8  # at getting round what is in the way
_SHOTS = 60
_TO_OPEN = 8  # actions until a door that was used is open

Part = Generator[str, Json, Json]  # a part of an atom: returns the last state


def go_to(state: Json, x: float, y: float, within: float = 48.0) -> Moves:
    """Walks straight towards (x, y) until within that many map units; opens doors and goes round small obstacles."""
    walk = _Walk(state, x, y, within)
    yield from walk.moves()
    return walk.outcome


def turn_to(state: Json, yaw: float) -> Moves:
    """Turns until the yaw is at most 5 degrees off: 0 looks along +x, 90 along +y."""
    yield from _turn(state, yaw)
    return SUCCESS


def look_around(state: Json) -> Moves:
    """Turns once round to the left, 36 steps; what was in view is in their frames and states."""
    for _ in range(round(360 / _TURN)):
        yield "turn_left"
    return SUCCESS


def use(state: Json) -> Moves:
    """Presses what is straight ahead (a door, a switch) and waits a second; fails where the game names a need."""
    state = yield "use"
    for _ in range(_TO_OPEN):
        refusal = next((line for line in state["messages"] if "need" in line.lower()), None)
        if refusal is not None:
            return failure(refusal)
        state = yield "noop"
    return SUCCESS


def collect(state: Json, what: str) -> Moves:
    """Walks over the nearest thing in view of that name or kind: "BlueCard", "health", "ammo", "weapon", "key"."""
    aim = _nearest(state, what)
    if aim is None:
        return failure(f"no {what} in view: {_in_view(state)}")
    x, y, _ = aim["pos"]
    carried = _carried(state)
    walk = _Walk(state, x, y, _REACH, until=lambda now: _carried(now) != carried and _is_gone(now, aim))
    yield from walk.moves()
    if walk.outcome == SUCCESS and not walk.is_done:
        return failure(f"walked over the {aim['name']} and it stays; is there room for it?")
    return walk.outcome


def attack(state: Json, what: str = "monster") -> Moves:
    """Turns to the nearest thing in view of that name or kind and fires until one more is killed."""
    kills, seen = state["kills"], False
    for _ in range(_SHOTS):
        if state["kills"] > kills:
            return SUCCESS
        aim = _nearest(state, what)
        if aim is None:
            return failure(f"the {what} is out of view" if seen else f"no {what} in view: {_in_view(state)}")
        seen = True
        state = yield "attack" if abs(aim["bearing"]) <= _TURN / 2 else _towards(aim["bearing"])
    return SUCCESS if state["kills"] > kills else failure(f"the {what} stands after {_SHOTS} steps")


class _Walk:
    """A walk to a point, until it is within reach or `until` says that its aim was reached otherwise."""

    def __init__(self, state: Json, x: float, y: float, within: float, until: Any = lambda state: False) -> None:
        self.state, self.x, self.y, self.within, self._until = state, x, y, within, until
        self.outcome = ""
        self._taken = self._tries = self._nearest_at = 0
        self._nearest = math.inf
        self._side = 1

    @property
    def is_done(self) -> bool:
        """True where `until` holds."""
        return bool(self._until(self.state))

    def moves(self) -> Generator[str, Json, None]:
        """The actions; `outcome` and `state` are set when they end."""
        while not self.outcome:
            distance, bearing = self._aim()
            if self.is_done or distance <= self.within:
                self.outcome = SUCCESS
            elif self._tries > _TRIES or self._taken >= min(_MOST, self._nearest_at + _PATIENCE):
                x, y, _ = self.state["pos"]
                self.outcome = failure(
                    f"stuck at ({x:.0f}, {y:.0f}), {distance:.0f} map units away, never nearer than {self._nearest:.0f}"
                )
            elif abs(bearing) > max(_TURN / 2, math.degrees(math.atan2(self.within / 2, distance))):
                yield from self._take(_towards(bearing))
            else:
                yield from self._forward()

    def _aim(self) -> tuple[float, float]:
        x, y, _ = self.state["pos"]
        yaw = math.degrees(math.atan2(self.y - y, self.x - x))
        return math.hypot(self.x - x, self.y - y), _difference(yaw, self.state["yaw"])

    def _take(self, action: str) -> Generator[str, Json, float]:
        """Takes one action and gives how far it moved."""
        before = self.state["pos"]
        self.state = yield action
        self._taken += 1
        distance, _ = self._aim()
        if distance < self._nearest:
            self._nearest, self._nearest_at = distance, self._taken
        return math.hypot(self.state["pos"][0] - before[0], self.state["pos"][1] - before[1])

    def _forward(self) -> Generator[str, Json, None]:
        if (yield from self._take("forward")) >= _BLOCKED or self._aim()[0] <= self.within:
            return
        self._tries += 1
        if self._tries % 2 == 1:
            yield from self._take("use")
            for _ in range(_TO_OPEN):
                if (yield from self._take("forward")) >= _BLOCKED:
                    return
        yield from self._round()

    def _round(self) -> Generator[str, Json, None]:
        """Sideways, further at each try, first to one side and then to the other; then a little ahead."""
        sideways = "strafe_left" if self._side > 0 else "strafe_right"
        for _ in range(2 + 2 * self._tries):
            if (yield from self._take(sideways)) < _BLOCKED / 3:
                break
        self._side = -self._side
        for _ in range(3):
            yield from self._take("forward")


def _turn(state: Json, yaw: float) -> Part:
    for _ in range(round(360 / _TURN)):
        off = _difference(yaw, state["yaw"])
        if abs(off) <= _TURN / 2 + 0.1:
            break
        state = yield _towards(off)
    return state


def _towards(bearing: float) -> str:
    return "turn_left" if bearing > 0 else "turn_right"


def _difference(yaw: float, from_yaw: float) -> float:
    return (yaw - from_yaw + 180) % 360 - 180


def _nearest(state: Json, what: str) -> Json | None:
    wanted = what.lower()
    return next((one for one in state["nearby"] if wanted in (one["name"].lower(), one["kind"])), None)


def _in_view(state: Json) -> str:
    return ", ".join(dict.fromkeys(one["name"] for one in state["nearby"])) or "nothing"


def _carried(state: Json) -> tuple[Any, ...]:
    """What changes where something is picked up."""
    return (state["inventory"], state["health"], state["armor"])


def _is_gone(state: Json, thing: Json) -> bool:
    return not any(one["name"] == thing["name"] and one["pos"] == thing["pos"] for one in state["nearby"])


ATOMS: tuple[Atom, ...] = tuple(atom(function) for function in (go_to, turn_to, look_around, use, collect, attack))
