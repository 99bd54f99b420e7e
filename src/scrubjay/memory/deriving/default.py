"""Deriving for any environment whose states use the usual keys, all of them optional:

pos [x, y, z], facing [dx, dy, dz], inventory {item: count}, health, milestones (or achievements), gui (or gui_open:
what is open), dead, cells (cell events that the environment saw itself).
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

from scrubjay.memory.deriving.contract import Derived, Happened
from scrubjay.memory.jsonio import Json
from scrubjay.memory.records import World, is_number

__all__ = ["DefaultDeriver", "cell_of", "inventory_delta", "milestones_of", "position_of"]

_MOVES = frozenset({"go_to", "goto", "move", "walk", "forward", "explore", "navigate", "run", "sprint"})
_BREAKS = ("attack", "break", "mine", "dig", "harvest", "collect", "chop", "cut")
_HEIGHT_CELLS = 0.5


def position_of(state: Json) -> tuple[float, float, float] | None:
    """x, y, z of a state, or None where any of them is missing or not finite."""
    pos = state.get("pos")
    if isinstance(pos, dict):
        pos = [pos.get(axis) for axis in "xyz"]
    if not (isinstance(pos, list) and len(pos) >= 3 and all(map(is_number, pos[:3]))):
        return None
    try:
        return (float(pos[0]), float(pos[1]), float(pos[2]))
    except OverflowError:  # JSON's whole numbers have no end
        return None


def cell_of(position: tuple[float, float, float], world: World) -> list[int]:
    """The grid cell that holds a position: floor, so that −0.5 lies in cell −1."""
    return [math.floor(value / world.cell) for value in position]


def inventory_delta(before: Json, after: Json) -> dict[str, int | float]:
    """What was gained (positive) and spent between two states, by item, in alphabetical order."""
    a, b = before.get("inventory"), after.get("inventory")
    if not (isinstance(a, dict) and isinstance(b, dict)):
        return {}
    changes = {item: _count(b.get(item)) - _count(a.get(item)) for item in sorted({*a, *b})}
    return {item: change for item, change in changes.items() if change}


def _count(value: Any) -> int | float:
    return value if is_number(value) else 0


def milestones_of(state: Json) -> list[str]:
    """The milestones a state says are reached, in its own order."""
    reached = state.get("milestones", state.get("achievements"))
    if isinstance(reached, dict):
        return [name for name, count in reached.items() if count]
    return [name for name in reached if isinstance(name, str)] if isinstance(reached, list) else []


def _seen_cells(state: Json) -> list[Json]:
    """The cell events that the environment saw itself, as far as they are whole."""
    seen = state.get("cells")
    events = [event for event in seen if isinstance(event, dict)] if isinstance(seen, list) else []
    return [event for event in events if isinstance(event.get("kind"), str) and _is_cell(event.get("cell"))]


def _is_cell(cell: Any) -> bool:
    return isinstance(cell, list) and len(cell) == 3 and all(type(part) is int for part in cell)


def _gui(state: Json) -> str | None:
    shown = state.get("gui", state.get("gui_open"))
    if isinstance(shown, str):
        return shown or None
    return "gui" if shown else None


class DefaultDeriver:
    """Summary in the form of MFM, its tags, cell events of the five kinds, the section of the log.

    A move that leads less far than `stuck_cells` is stuck.
    """

    stuck_cells = 0.5

    def begin(self, world: World) -> None:
        """The episode begins in this world."""
        self.world = world
        self._cells: dict[tuple[Any, ...], Json] = {}
        self._first: Json = {}
        self._state: Json = {}
        self._actions: list[Any] = []
        self._repeated = True
        self._steps = 0
        self._damaged = self._opened = self._broke = self._died = False

    def observe(self, step: int, state: Json, after: Any) -> None:
        """o_k and the action that led to it."""
        before, self._state = self._state, state
        position = position_of(state)
        if position is not None:
            self._event("walked", cell_of(position, self.world), step)
        for event in _seen_cells(state):
            rest = {key: value for key, value in event.items() if key not in ("cell", "kind", "step")}
            self._event(event["kind"], event["cell"], step, rest)
        if not self._steps:
            self._first = state
        else:
            self._note_action(after)
            self._changes(step, before, state, position)
        self._steps += 1

    def _note_action(self, action: Any) -> None:
        if not self._actions:
            self._actions.append(action)
        elif action != self._actions[0]:
            self._repeated = False

    def _changes(self, step: int, before: Json, state: Json, position: tuple[float, float, float] | None) -> None:
        cell = None if position is None else cell_of(position, self.world)
        health, was = state.get("health"), before.get("health")
        if is_number(health) and is_number(was) and health < was:
            self._damaged = True
            if cell is not None:
                self._event("hazard", cell, step, {"what": "damage", "damage": round(was - health, 3)})
        if (is_number(health) and health <= 0) or state.get("dead"):
            self._died = True
        opened = _gui(state)
        if opened is not None and _gui(before) is None:
            self._opened = True
            if cell is not None:
                self._event("opened", cell, step, {"what": opened})

    def _event(self, kind: str, cell: list[int], step: int, rest: Json | None = None) -> None:
        row = {"cell": cell, "kind": kind, **(rest or {}), "step": step}
        if kind == "walked":
            self._cells.setdefault(("walked", *cell), row)
        else:
            self._cells[(kind, *cell, step)] = row

    # --- when the episode ends

    def derive(self, happened: Happened) -> Derived:
        """What the episode was."""
        kind = (happened.action_kind or "").lower()
        delta = inventory_delta(self._first, self._state)
        gained = any(change > 0 for change in delta.values())
        self._broke = (gained and kind.startswith(_BREAKS)) or any(e.startswith("broke") for e in happened.events)
        reached = [name for name in milestones_of(self._state) if name not in milestones_of(self._first)]
        moved, climbed = self._moved()
        is_stuck = self._is_stuck(kind, moved)
        if is_stuck:
            self._blocked(happened.last_step)
        self._placed(kind, happened, delta)
        tests = {
            "initial": happened.kind == "initial",
            "milestone": bool(reached),
            "inventory_changed": bool(delta),
            "broke": self._broke,
            "damage": self._damaged,
            "opened": self._opened,
            "stuck": is_stuck,
            "died": self._died or happened.outcome == "died",
            "note": bool(happened.note),
            "frame_unchanged": happened.frame_unchanged,
        }
        summary = self._summary(happened, moved, climbed, delta, reached)
        return Derived(
            summary=summary,
            tags=tuple(tag for tag, holds in tests.items() if holds),
            cells=tuple(self._cells.values()),
            log_header=self._header(happened),
            log_lines=tuple(self._log(happened, summary, delta)),
        )

    def _moved(self) -> tuple[float | None, float]:
        """Distance over the ground from start to end, and height lost, both in the world's unit."""
        a, b = position_of(self._first), position_of(self._state)
        if a is None or b is None:
            return None, 0.0
        first, second = self.world.ground
        up = "xyz".index(self.world.up)
        return math.hypot(b[first] - a[first], b[second] - a[second]), a[up] - b[up]

    def _is_stuck(self, kind: str, moved: float | None) -> bool:
        is_move = kind in _MOVES or kind.startswith(("go_", "move_", "walk_"))
        return is_move and self._steps > 1 and moved is not None and moved < self.stuck_cells * self.world.cell

    def _faced(self) -> list[int] | None:
        position, facing = position_of(self._state), self._state.get("facing")
        if position is None or not (isinstance(facing, list) and len(facing) == 3 and all(map(is_number, facing))):
            return None
        x, y, z = (p + f * self.world.cell for p, f in zip(position, facing, strict=True))
        return cell_of((x, y, z), self.world)

    def _blocked(self, step: int) -> None:
        position = position_of(self._state)
        cell = self._faced() or (None if position is None else cell_of(position, self.world))
        if cell is not None and not any(key[0] == "blocked" for key in self._cells):
            self._event("blocked", cell, step)

    def _placed(self, kind: str, happened: Happened, delta: dict[str, int | float]) -> None:
        if not kind.startswith(("place", "put")) or any(key[0] == "placed" for key in self._cells):
            return
        spent = [item for item, change in delta.items() if change < 0]
        arguments = happened.arguments or {}
        given = [arguments.get(axis) for axis in "xyz"]
        target = position_of({"pos": given})
        cell = self._faced() if target is None else cell_of(target, self.world)
        if spent and cell is not None:
            item = arguments.get("item") or kind.partition("_")[2] or spent[0]
            self._event("placed", cell, happened.last_step, {"item": item})

    # --- text

    def _summary(
        self, happened: Happened, moved: float | None, lost: float, delta: dict[str, Any], reached: list[str]
    ) -> str:
        if happened.kind == "initial":
            return "initial state"
        taken = happened.last_step - happened.first_step
        parts = [] if moved is None else [f"moved {moved:.1f}"]
        if abs(lost) >= _HEIGHT_CELLS * self.world.cell:
            parts.append(f"descended {lost:.1f}")
        if delta:
            parts.append(f"inv {delta!r}")
        if reached:
            parts.append(f"milestone {reached!r}")
        parts += [] if happened.outcome in (None, "success") else [f"outcome {happened.outcome}"]
        if happened.arguments is None and self._repeated and self._actions:
            head = f"{_compact(self._actions[0])} x{taken}"
        else:
            head = f"{_call(happened)} -> {taken} step{'' if taken == 1 else 's'}"
        return f"[ACTION] {head}: {', '.join(parts) or 'done'}"

    def _header(self, happened: Happened) -> str:
        plan = happened.plan if isinstance(happened.plan, dict) else {}
        reached = milestones_of(self._state)
        known = happened.milestones or tuple(reached)
        return (
            f"Action {happened.ordinal} | Step {happened.first_step} | "
            f"Plan Step {plan.get('step', 1)}/{plan.get('of', 1)} | "
            f"{sum(name in reached for name in known)}/{len(known)} verified"
        )

    def _log(self, happened: Happened, summary: str, delta: dict[str, Any]) -> list[str]:
        plan = happened.plan.get("text") if isinstance(happened.plan, dict) else happened.plan
        vitals = {
            key: value
            for key, value in self._state.items()
            if key not in ("inventory", "cells", "gui", "gui_open") and len(_compact(value)) <= 200
        }
        inventory = self._state.get("inventory")
        shown: list[tuple[str, Any]] = [
            ("[PLAN]", plan),
            ("[ACTION]", summary.removeprefix("[ACTION] ")),
            ("[STATE]", _compact(vitals) if vitals else None),
            ("[GUI]", _gui(self._state)),
            ("[INV]", f"{_compact(inventory)} change {delta!r}" if inventory is not None else None),
            *(("[EVENT]", event) for event in happened.events),
            ("[NOTE]", happened.note),
        ]
        # Text of the environment must not begin a section or a line of its own.
        return [f"{tag} {' '.join(str(text).split())}" for tag, text in shown if text]


_encode: Callable[[Any], str] = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str).encode


def _compact(value: Any) -> str:
    return _encode(value)


def _call(happened: Happened) -> str:
    arguments = happened.arguments or {}
    inside = ", ".join(f"{k}={v if isinstance(v, str) else _compact(v)}" for k, v in arguments.items())
    return f"{happened.action_kind or 'act'}({inside})"
