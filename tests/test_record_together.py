"""Several recorders in one memory at once: threads with a life each, and processes."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import numpy as np

from scrubjay import Memory
from scrubjay.testing import check_memory
from scrubjay.testing.counting import frame_of
from shapes import rows_of, shape_of

RECORDERS, EPISODES, STEPS = 4, 6, 3


def live(memory: Memory, who: int) -> None:
    """One life whose frames show its recorder and its step."""
    with memory.live(task=f"recorder {who}", world=f"w{who}") as life:
        for n in range(EPISODES):
            first = n == 0
            frame, state = (frame_of(0, who), {"who": who, "pos": [who, 0, 0]}) if first else (None, None)
            with life.episode("go", {"who": who}, frame=frame, state=state) as episode:
                for _ in range(STEPS):
                    at = life.step + 1
                    episode.step(who, frame=frame_of(at, who), state={"who": who, "pos": [who, at, 0]})
                episode.finish("success")


def assert_all_there(root: str | Path) -> None:
    check_memory(root)
    with Memory.open(root, read_only=True) as memory:
        rows = rows_of(memory)
        assert len({row.id for row in rows}) == len(rows) == RECORDERS * EPISODES
        assert Counter(row.life for row in rows) == dict.fromkeys(range(1, RECORDERS + 1), EPISODES)
        assert {life.outcome for life in memory.lives()} == {"ended"}
        for row in rows:
            episode = memory.episode(row)
            who = episode.record["arguments"]["who"]
            assert row.world == f"w{who}"
            for step in episode.steps():
                assert step.state["who"] == who
                assert np.array_equal(episode.frame(step.step).array(), frame_of(step.step, who))
        for number in range(1, RECORDERS + 1):
            counts = [shown for life, _, shown in shape_of(memory) if life == number]
            assert counts == [list(range(STEPS * n, STEPS * (n + 1) + 1)) for n in range(EPISODES)]
            with open(memory.layout.log(number), encoding="utf-8") as log:
                assert log.read().count("=" * 80) == EPISODES


def test_four_threads_record_in_one_memory(tmp_path: Path) -> None:
    with Memory.create(tmp_path / "m") as memory:
        threads = [threading.Thread(target=live, args=(memory, who)) for who in range(RECORDERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert_all_there(tmp_path / "m")


def test_four_processes_record_in_one_memory(tmp_path: Path) -> None:
    Memory.create(tmp_path / "m").close()
    code = "import sys; from test_record_together import *; live(Memory.open(sys.argv[1]), int(sys.argv[2]))"
    recorders = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", code, str(tmp_path / "m"), str(who)], cwd=Path(__file__).parent
        )
        for who in range(RECORDERS)
    ]
    assert [recorder.wait() for recorder in recorders] == [0] * RECORDERS
    assert_all_there(tmp_path / "m")
