"""What an evaluator notes is kept as it comes, also by a harness that is killed, and out of a running agent's sight."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scrubjay import Memory
from scrubjay.agent.evaluating import evaluated, evaluations
from scrubjay.environments.tasked import Tasked
from scrubjay.memory.jsonio import Json


class Judged:
    """As much of an environment as is judged: it notes what it is told, and a score at the end."""

    usual_steps, lives = 1, 1

    def __init__(self) -> None:
        self._rows: list[Json] = []
        self._keep: Callable[[Json], None] | None = None

    def choose_task(self, name: str) -> str:
        return name

    def tell_evaluator(self, keep: Callable[[Json], None] | None) -> None:
        self._keep = keep

    def note(self, event: str) -> None:
        self._rows.append({"event": event, "step": len(self._rows)})
        if self._keep is not None:
            self._keep(self._rows[-1])

    def end_life(self, ending: str | None) -> None:
        self.note("score")

    def evaluation(self) -> tuple[Json, ...]:
        return tuple(self._rows)


def environment() -> Any:
    made = Judged()
    assert isinstance(made, Tasked)
    return made


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


def events(memory: Memory) -> dict[int, list[str]]:
    return {life: [row["event"] for row in rows] for life, rows in evaluations(memory).items()}


def files_that_say(folder: Path, word: bytes) -> list[Path]:
    return [one for one in folder.rglob("*") if one.is_file() and word in one.read_bytes()]


def test_rows_are_kept_as_they_come_and_lie_in_the_memory_once_the_life_is_over(tmp_path: Path, state: Path) -> None:
    with Memory.create(tmp_path / "memory") as memory, memory.live("t", "w") as life:
        judged = environment()
        with evaluated(judged, memory, life):
            judged.note("saved-now")
            assert events(memory) == {1: ["saved-now"]}
            assert files_that_say(tmp_path / "memory", b"saved-now") == []
            assert [one.stat().st_mode & 0o077 for one in state.glob("scrubjay/evaluations/*")] == [0]
        assert events(memory) == {1: ["saved-now", "score"]}
        assert files_that_say(state, b"saved-now") == []
        judged.note("later")
        assert events(memory) == {1: ["saved-now", "score"]}


_KILLED = """
import os, signal, sys
sys.path.insert(0, sys.argv[2])
from test_evaluating import environment
from scrubjay import Memory
from scrubjay.agent.evaluating import evaluated
with Memory.open(sys.argv[1]) as memory, memory.live("t", "w") as life:
    judged = environment()
    with evaluated(judged, memory, life):
        judged.note("saved")
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_harness_loses_no_row(tmp_path: Path, state: Path) -> None:
    Memory.create(tmp_path / "memory").close()
    command = [sys.executable, "-c", _KILLED, str(tmp_path / "memory"), str(Path(__file__).parent)]
    assert subprocess.run(command).returncode == -signal.SIGKILL
    with Memory.open(tmp_path / "memory", read_only=True) as memory:
        assert events(memory) == {1: ["saved"]}
    with Memory.open(tmp_path / "memory") as memory, memory.live("t", "w") as life:
        with evaluated(environment(), memory, life):
            assert files_that_say(state, b"saved") == []
        assert events(memory) == {1: ["saved"], 2: ["score"]}
        assert not list(state.glob("scrubjay/evaluations/*"))


def test_where_rows_can_t_be_kept_meanwhile_the_life_goes_on(tmp_path: Path, state: Path) -> None:
    state.write_text("no folder")
    with Memory.create(tmp_path / "memory") as memory, memory.live("t", "w") as life:
        judged = environment()
        with evaluated(judged, memory, life):
            judged.note("saved")
        assert events(memory) == {1: ["saved", "score"]}
