"""The solver: goals in order, one move a turn, each looked at before the next.

It sees what a turn shows, by pixels and titles of windows, and keeps nothing: how far it has come is its working
memory, what it has learned are notes and procedures. It opens no file.
"""

from __future__ import annotations

from scrubjay.models.contract import Entry, Plan, Turn
from scrubjay.models.scripted.kicad.changing import change, save
from scrubjay.models.scripted.kicad.drawing import label, locate, place, wire
from scrubjay.models.scripted.kicad.goals import Change, Check, Export, Goal, Label, Locate, Place, Wire
from scrubjay.models.scripted.kicad.menus import check, export
from scrubjay.models.scripted.kicad.recipes import recipe
from scrubjay.models.scripted.kicad.situation import Move, Situation, load_progress, save_progress

__all__ = ["KiCadSolver"]


class KiCadSolver:
    """Solves KiCad tasks by rules. Has no state."""

    name = "scripted"

    def decide(self, turn: Turn) -> Plan:
        """The next move, and the documents brought up to date."""
        goals = recipe(str(turn.state.get("task") or turn.task))
        now = Situation(turn, load_progress(turn))
        while now.progress.goal < len(goals):
            goal = goals[now.progress.goal]
            intention = f"{type(goal).__name__.lower()} {_of(goal)}".strip()
            move = _move(now, goal)
            if move.stage is None:
                now.progress.goal, now.progress.stage, now.progress.data = now.progress.goal + 1, "", {}
            else:
                kept = {"sheet": now.data["sheet"]} if "sheet" in now.data else {}
                now.progress.stage, now.progress.data = move.stage, {**kept, **move.data}
            if move.entries:
                save_progress(now, len(goals), intention)
                return Plan(move.entries, intention)
        save_progress(now, len(goals), "done")
        return Plan((Entry("done"),), "it is durably done" if goals else "no rule knows this task")


def _move(now: Situation, goal: Goal) -> Move:
    if isinstance(goal, Change):
        return change(now, goal)
    if isinstance(goal, Locate):
        return locate(now, goal)
    if isinstance(goal, Place):
        return place(now, goal)
    if isinstance(goal, Wire):
        return wire(now, goal)
    if isinstance(goal, Label):
        return label(now, goal)
    if isinstance(goal, Check):
        return check(now)
    return export(now) if isinstance(goal, Export) else save(now)


def _of(goal: Goal) -> str:
    if isinstance(goal, Change):
        return f"{goal.find} to {goal.value}"
    if isinstance(goal, Locate):
        return goal.find
    if isinstance(goal, Label):
        return goal.text
    return goal.symbol if isinstance(goal, Place) else ""
