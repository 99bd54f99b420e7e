"""Given Ctrl-C between any two lines of begin, step and finish: the memory is sound, nothing is there twice."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from conftest import numbered
from scrubjay import Memory
from scrubjay.memory.checking import check

INTERRUPTED = ("recording.py", "lives.py", "projections.py", "journal.py")


class Interrupt:
    """Raises KeyboardInterrupt once, at the n-th line run in the files that record."""

    def __init__(self, nth: int) -> None:
        self.left, self.struck = nth, False

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Any:
        if not frame.f_code.co_filename.endswith(INTERRUPTED) or self.struck:
            return None
        if event == "line":
            self.left -= 1
            if self.left == 0:
                self.struck = True
                raise KeyboardInterrupt
        return self


def live(memory: Memory, acknowledged: list[str]) -> None:
    """Three episodes of two steps; those whose finish returned are acknowledged."""
    with memory.live(task="walk", world="w") as life:
        for nth in range(3):
            first: dict[str, Any] = {"frame": numbered(0), "state": {"pos": [0, 0, 0]}} if nth == 0 else {}
            with life.episode("go", {"n": nth}, **first) as episode:
                for _ in range(2):
                    at = life.step + 1
                    episode.step(at, frame=numbered(at), state={"pos": [at, 0, 0]})
                acknowledged.append(episode.finish("success").id)


# An interrupt between open() and `with` leaves closing the file to the collector, which says so.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.mark.parametrize("start", [0, 19])
def test_an_interrupt_at_some_lines_loses_nothing(tmp_path: Path, start: int) -> None:
    interrupt_every(tmp_path, start, 38)


@pytest.mark.long
@pytest.mark.parametrize("start", range(8))
def test_an_interrupt_at_any_line_loses_nothing(tmp_path: Path, start: int) -> None:
    interrupt_every(tmp_path, start, 8)


def interrupt_every(tmp_path: Path, start: int, stride: int) -> None:
    nth, struck = 1 + start, True
    while struck:
        memory = Memory.create(tmp_path / f"m{nth}")
        interrupt, acknowledged = Interrupt(nth), list[str]()
        sys.settrace(interrupt)
        with contextlib.suppress(KeyboardInterrupt):
            try:
                live(memory, acknowledged)
            finally:
                sys.settrace(None)
        struck = interrupt.struck
        memory.close()
        with Memory.open(memory.root) as again:
            found = [row.id for row in again.find().rows]
            assert set(acknowledged) <= set(found), f"line {nth}"
            assert len(set(found)) == len(found)
            report = check(again.layout)
            assert report.is_sound, (nth, report.problems)
            with again.live(task="go on", world="w") as life:
                life.episode("go", {}, state={"pos": [0, 0, 0]}).finish()
        nth += stride
