"""The observation block: what a model is told at the beginning of a turn, as text beside the current frame.

Everything in it was verified by the environment or lies in the memory; nothing is guessed. It is written anew each
turn and depends on nothing that was said before, so a fresh context can begin from it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from scrubjay.agent.offer import Offer
from scrubjay.agent.toolbox import RECORDED
from scrubjay.memory.grid import Grid
from scrubjay.memory.jsonio import Json
from scrubjay.memory.layout import Layout
from scrubjay.memory.records import CELL_KINDS, Row, is_number
from scrubjay.models.contract import Turn

__all__ = ["block"]

_SHOWN_APART = frozenset({"pos", "yaw", "pitch", "inventory", "gui", "gui_open", "milestones", "achievements", "cells"})
_MOST_RECENT = 12
_MOST_WORKING = 4000
_MOST_VALUE = 600
_NEAREST = 3


def block(turn: Turn, offer: Offer, grid: Grid | None, own: Sequence[str] = (), working: str | None = None) -> str:
    """The text of a turn. `own` are lines on the agent's procedures, `working` the text of its working memory."""
    parts = [_standing(turn), _milestones(turn), *_state(turn.state)]
    if offer.recent:
        parts.append(_recent(turn))
    if offer.map and grid is not None:
        parts.append(_map(turn, grid))
    if offer.own:
        parts.append("[OWN]\n" + ("\n".join(f"  {line}" for line in own) or "  none yet"))
    if offer.working:
        parts.append(f"[WORKING] {Layout.working(turn.life)}\n{_clipped(working)}")
    return "\n".join(parts)


def _standing(turn: Turn) -> str:
    total = turn.step + turn.steps_left
    changed = "something changed in the last turn" if not turn.unchanged else f"{turn.unchanged} turns without a change"
    return f"Life {turn.life}, turn {turn.turn}. Step {turn.step}, {turn.steps_left} left of {total}; {changed}."


def _milestones(turn: Turn) -> str:
    unmet = [_line(name) for name in turn.known_milestones if name not in turn.milestones]
    reached = ", ".join(map(_line, turn.milestones)) or "none yet"
    count = (
        f"{len(turn.milestones)}/{len(turn.known_milestones)}" if turn.known_milestones else str(len(turn.milestones))
    )
    return f"Milestones verified: {count} ({reached})." + (f" First unmet: {unmet[0]}." if unmet else "")


def _state(state: Json) -> list[str]:
    pose = [f"pos ({_numbers(state['pos'])})"] if isinstance(state.get("pos"), list) else []
    pose += [f"{key} {_number(state[key])}" for key in ("yaw", "pitch") if is_number(state.get(key))]
    rest = {key: value for key, value in state.items() if key not in _SHOWN_APART}
    said = "; ".join([*pose, *(f"{_line(key)} {_value(value)}" for key, value in rest.items())])
    lines = [f"[STATE] {said}{f' {RECORDED}' if _holds_text(state) else ''}"]
    inventory = state.get("inventory")
    if isinstance(inventory, dict):
        held = ", ".join(f"{_line(item)} {_number(count)}" for item, count in inventory.items() if count)
        lines.append(f"[INV] {held or 'nothing'}")
    gui = state.get("gui", state.get("gui_open"))
    if gui:
        lines.append(f"[GUI] {_value(gui)}")
    return lines


def _holds_text(value: Any) -> bool:
    """True where an environment's words stand in a value: they are data, and said to be."""
    if isinstance(value, dict):
        return any(map(_holds_text, value.values()))
    return isinstance(value, str) or (isinstance(value, list) and any(map(_holds_text, value)))


def _recent(turn: Turn) -> str:
    rows = turn.recent[-_MOST_RECENT:]
    return f"[RECENT] {RECORDED}\n" + ("\n".join(map(_finished, rows)) or "  nothing yet")


def _finished(row: Row) -> str:
    returned = f" returned {_value(row.extra['returned'])}" if "returned" in row.extra else ""
    return f"  {row.id} {_line(row.summary.removeprefix('[ACTION] '))} ({_line(row.outcome or 'no outcome')}){returned}"


def _map(turn: Turn, grid: Grid) -> str:
    """What is certain: cells walked, and the nearest known cells of every other kind with their evidence."""
    world = turn.world.world
    walked = len({row.cell for row in grid.rows(world) if row.kind == "walked"})
    lines = [f"[MAP] {walked} cells of {_line(world)} walked"]
    pos = turn.state.get("pos")
    if isinstance(pos, list) and len(pos) >= 3 and all(map(is_number, pos[:3])):
        here = (float(pos[0]), float(pos[1]), float(pos[2]))
        for kind in CELL_KINDS[1:]:
            near = grid.nearest(world, here, kind, _NEAREST)
            if near:
                cells = (f"{_what(row.extra)}{row.cell} [{_line(str(row.episode))}]" for row in near)
                lines.append(f"  {kind}: " + ", ".join(cells))
    if len(lines) > 1:
        lines[0] += f" {RECORDED}"
    return "\n".join(lines)


def _what(extra: Json) -> str:
    what = extra.get("item") or extra.get("what")
    return f"{_line(what)} " if isinstance(what, str) else ""


def _clipped(text: str | None) -> str:
    if not text:
        return "  empty: write down what you are doing and what is unresolved"
    return text if len(text) <= _MOST_WORKING else text[:_MOST_WORKING] + "\n(cut: keep it under 40 lines)"


def _numbers(values: list[Any]) -> str:
    return ", ".join(_number(value) for value in values[:3])


def _number(value: Any) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else _line(str(value))


def _value(value: Any) -> str:
    if is_number(value):
        return _number(value)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return _line(text if len(text) <= _MOST_VALUE else f"{text[:_MOST_VALUE]}… ({len(text) - _MOST_VALUE} more)")


def _line(text: str) -> str:
    """Recorded text as part of one line: a state that holds line breaks can't write lines of its own."""
    words = " ".join(text.split())
    return words if words.isprintable() else "".join(filter(str.isprintable, words))
