"""A life that waits for its model: it says so, and a single Ctrl-C, or a kill, ends the waiting and keeps the life."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from scrubjay import Memory
from scrubjay.memory.checking import check
from scrubjay.models.waiting import Outage
from scrubjay.surfaces.cli.run_progress import Outages

NOBODY = "vllm:small@http://127.0.0.1:1/v1"  # no server answers there


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_one_signal_ends_the_waiting(tmp_path: Path, how: signal.Signals) -> None:
    command = [sys.executable, "-m", "scrubjay", "run", "corridor:Corridor", "--model", NOBODY, "--steps", "9"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    process = subprocess.Popen(
        [*command, "--memory", str(tmp_path / "m")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip
    assert process.stderr is not None
    assert "does not answer" in process.stderr.readline()
    process.send_signal(how)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Stopped: the open episode is kept" in said
    with Memory.open(tmp_path / "m", read_only=True) as memory:
        assert [life.outcome for life in memory.lives()] == ["interrupted"]
        assert check(memory.layout).is_sound


def test_in_a_log_an_outage_has_a_line_for_each_attempt(capsys: pytest.CaptureFixture[str]) -> None:
    told = Outages()
    for attempts, since in ((1, 0.0), (1, 1.0), (2, 2.0), (2, 3.0)):
        told(Outage("vllm:small", "connection refused", attempts, since, 4.0))
    told(None)
    told(Outage("vllm:small", "connection refused", 1, 0.0, 4.0))
    assert capsys.readouterr().err.splitlines() == [
        f"no answer for {since} s: connection refused; asked again in 4 s" for since in (0, 2, 0)
    ]
