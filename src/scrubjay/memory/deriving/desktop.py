"""Deriving for desktops: what a click opened, where it did nothing, and which success was only claimed.

States say `windows`, `active` and `screen` (a hash of the settled screen); cells are regions of the screen by window.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from scrubjay.memory.deriving.contract import Derived, Happened
from scrubjay.memory.deriving.default import DefaultDeriver, cell_of, position_of
from scrubjay.memory.jsonio import Json
from scrubjay.memory.records import World

__all__ = ["CLAIMED", "DesktopDeriver"]

CLAIMED = "claimed_ok_state_unchanged"
_LOOKS = frozenset({"mouse_move", "wait", "screenshot", "done"})  # they claim no effect
_POINTS = ("click", "drag")


class DesktopDeriver(DefaultDeriver):
    """Windows that opened and closed, by title; a click without any effect blocks its cell.

    An episode that reported success while screen and windows are what they were is tagged
    `claimed_ok_state_unchanged`, unless it was one of those that only look.
    """

    stuck_cells = 0.0  # a pointer that stays is not stuck

    def begin(self, world: World) -> None:
        """The episode begins in this world."""
        super().begin(world)
        self._shown: list[str] = []
        self._gone: list[str] = []

    def observe(self, step: int, state: Json, after: Any) -> None:
        """o_k and the action that led to it."""
        before, is_first = self._state, not self._steps
        super().observe(step, state, after)
        position = position_of(state)
        if is_first or position is None:
            return
        was = position_of(before) or position
        cell, window = cell_of((position[0], position[1], was[2]), self.world), _title(before)
        opened, closed = _changes(before, state)
        for title in opened:
            self._opened = True
            self._event("opened", cell, step, {"what": title, "window": window})
        self._shown += opened
        self._gone += closed
        if _name(after) in _POINTS and _seen(state) == _seen(before):
            self._event("blocked", cell, step, {"what": f"{_name(after)} without effect", "window": window})

    def derive(self, happened: Happened) -> Derived:
        """What the episode was."""
        derived = super().derive(happened)
        claims = happened.outcome == "success" and (happened.action_kind or "") not in _LOOKS
        if claims and self._steps > 1 and _seen(self._state) == _seen(self._first):
            derived = replace(derived, tags=(*derived.tags, CLAIMED))
        return replace(derived, cells=tuple(_by_window(derived.cells, _title(self._first))))

    def _summary(
        self, happened: Happened, moved: float | None, lost: float, delta: dict[str, Any], reached: list[str]
    ) -> str:
        head = super()._summary(happened, None, 0.0, delta, reached)
        if happened.kind == "initial":
            return f"{head} in {_title(self._state)!r}"
        parts = [f"opened {title!r}" for title in self._shown] + [f"closed {title!r}" for title in self._gone]
        if self._state.get("problem"):
            parts.append(f"problem {self._state['problem']!r}")
        if not parts and self._steps > 1 and _seen(self._state) == _seen(self._first):
            parts.append("the screen did not change")
        said = ", ".join([f"in {_title(self._first)!r}", *parts])
        return f"{head.removesuffix(': done')}: {said}" if head.endswith(": done") else f"{head}, {said}"


def _seen(state: Json) -> tuple[Any, ...]:
    """What a person would call the state of the screen: its pixels, its windows, the active one."""
    return (state.get("screen"), state.get("windows"), state.get("active"))


def _name(action: Any) -> str:
    return next(iter(action), "") if isinstance(action, dict) else str(action)


def _title(state: Json) -> str:
    place = state.get("place")
    return place if isinstance(place, str) else ""


def _windows(state: Json) -> list[Json]:
    windows = state.get("windows")
    return [one for one in windows if isinstance(one, dict)] if isinstance(windows, list) else []


def _changes(before: Json, after: Json) -> tuple[list[str], list[str]]:
    """Titles of the windows that opened and that closed; one in the same place with another title was renamed."""
    gone, new = _windows(before), []
    for window in _windows(after):
        same = next((one for one in gone if _words(one) == _words(window)), None)
        if same is None:
            new.append(window)
        else:
            gone.remove(same)
    for window in list(new):
        renamed = next((one for one in gone if _frame(one) == _frame(window)), None)
        if renamed is not None:
            gone.remove(renamed)
            new.remove(window)
    return [_words(one)[0] for one in new], [_words(one)[0] for one in gone]


def _words(window: Json) -> tuple[str, str]:
    """Title, without the star of unsaved changes, and class."""
    kind = str(window.get("class") or "")
    return str(window.get("title") or kind).lstrip("*"), kind


def _frame(window: Json) -> tuple[Any, Any]:
    return window.get("region"), window.get("class")


def _by_window(cells: tuple[Json, ...], window: str) -> Iterator[Json]:
    for cell in cells:
        yield cell if "window" in cell else {**cell, "window": window}
