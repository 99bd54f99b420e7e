"""What the solver has before it in a turn: the screen, the memory, how far it has come; and what it may answer."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from scrubjay.errors import NotFound
from scrubjay.memory.jsonio import Json
from scrubjay.memory.layout import Layout
from scrubjay.models.contract import Entry, Turn
from scrubjay.models.scripted.kicad.seeing import Box

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Frame = NDArray[np.uint8]

__all__ = [
    "Move", "Progress", "Situation", "click", "key", "load_progress", "move_to", "save_progress", "type_text", "wait",
]  # fmt: skip

_MARK = "progress: "
_PATIENCE = 8  # seconds for a dialog
_ATTEMPTS = 2
_TITLE_BAR = 12.0  # from the upper edge of a window to the middle of its title


@dataclass(slots=True)
class Progress:
    """How far a life has come: which goal, at which stage of it, and what it must not forget meanwhile."""

    goal: int = 0
    stage: str = ""
    data: Json = field(default_factory=dict)
    anchor: list[int] | None = None  # what was located, in mils


@dataclass(frozen=True, slots=True)
class Move:
    """What to do now, and the stage that follows. `stage` is None where the goal is reached with it."""

    entries: tuple[Entry, ...]
    stage: str | None
    data: Json = field(default_factory=dict)


class Situation:
    """One turn."""

    def __init__(self, turn: Turn, progress: Progress) -> None:
        self.turn, self.progress = turn, progress
        self.frame: Frame = turn.frame
        self.state: Json = turn.state
        active = turn.state.get("active")
        self.heading = str(active.get("title", "")) if isinstance(active, dict) else ""

    @property
    def title(self) -> str:
        """The title of the active window, without the star of unsaved changes."""
        return self.heading.lstrip("*")

    @property
    def is_unsaved(self) -> bool:
        """True where the title bar says that there is something to save."""
        return self.heading.startswith("*") or "[Unsaved]" in self.heading

    @property
    def is_in_editor(self) -> bool:
        """True where the editor has the focus and no dialog is open."""
        return self.title.endswith("Schematic Editor") and len(self.state.get("windows", ())) == 1

    @property
    def stage(self) -> str:
        """The stage of the present goal; empty at its beginning."""
        return self.progress.stage

    @property
    def data(self) -> Json:
        """What was kept for this goal."""
        return self.progress.data

    @property
    def citation(self) -> str:
        """The newest episode: what this observation is evidence of."""
        return self.turn.recent[-1].id if self.turn.recent else "ep_000000"

    @property
    def succeeded(self) -> bool:
        """True where the last episode did what it was to do."""
        return bool(self.turn.recent) and self.turn.recent[-1].outcome == "success"

    def region(self, title: str) -> Box | None:
        """Where the window with a title that begins so lies."""
        for window in self.state.get("windows", ()):
            if str(window.get("title", "")).startswith(title):
                x, y, width, height = window["region"]
                return Box(x, y, x + width, y + height)
        return None

    def read(self, path: str) -> str:
        """A document of the memory, or nothing."""
        try:
            return self.turn.recall.documents.read(path)
        except NotFound:
            return ""

    def awaits(self, titles: str | tuple[str, ...]) -> Move | None:
        """None where a window with such a title has the focus; else gives it the focus, or waits for it."""
        return None if self.title.startswith(titles) else self.patience(self.stage)

    def patience(self, stage: str) -> Move:
        """What was expected is not there yet: looks to the focus, waits, begins the goal again, gives it up.

        A dialog that is open and has lost the focus gets it back by a click on its title bar.
        """
        dialog = self.state["windows"][-1] if len(self.state.get("windows", ())) > 1 else None
        if dialog is not None and dialog["title"] != self.heading and not self.data.get("raised"):
            x, y, width, _ = dialog["region"]
            return Move((click((x + width / 2, y - _TITLE_BAR)),), stage, {**self.data, "raised": True})
        waited = int(self.data.get("waited", 0))
        if waited < _PATIENCE:
            return Move((wait(1.0),), stage, {**self.data, "waited": waited + 1, "raised": False})
        attempt = int(self.data.get("attempt", 0)) + 1
        given_up = None if attempt >= _ATTEMPTS else ""
        return Move((key("Escape"), key("Escape")), given_up, {"attempt": attempt, "by_hand": True})


def load_progress(turn: Turn) -> Progress:
    """How far this life has come, from its working memory."""
    try:
        text = turn.recall.documents.read(Layout.working(turn.life))
    except NotFound:
        return Progress()
    line = next((one for one in text.splitlines() if one.startswith(_MARK)), None)
    if line is None:
        return Progress()
    kept: dict[str, Any] = json.loads(line.removeprefix(_MARK).rpartition(" [")[0])
    return Progress(kept["goal"], kept["stage"], kept["data"], kept["anchor"])


def save_progress(now: Situation, total: int, intention: str) -> None:
    """Writes the working memory of this life."""
    kept = now.progress
    line = json.dumps({"goal": kept.goal, "stage": kept.stage, "data": kept.data, "anchor": kept.anchor})
    text = (
        f"# Working memory of life {now.turn.life}\n\n- goal {kept.goal + 1} of {total}: {intention} [{now.citation}]\n"
        f"\n{_MARK}{line} [{now.citation}]\n"
    )
    now.turn.recall.documents.write(Layout.working(now.turn.life), text)


def click(place: tuple[float, float]) -> Entry:
    """A click of the left button."""
    return Entry("click", arguments={"x": place[0], "y": place[1]})


def move_to(place: tuple[float, float]) -> Entry:
    """A move of the pointer."""
    return Entry("mouse_move", arguments={"x": place[0], "y": place[1]})


def key(keys: str) -> Entry:
    """A key, or several at once."""
    return Entry("key", arguments={"keys": keys})


def type_text(text: str) -> Entry:
    """Text for what has the focus."""
    return Entry("type_text", arguments={"text": text})


def wait(seconds: float) -> Entry:
    """A pause."""
    return Entry("wait", arguments={"seconds": seconds})
