"""SIGKILL at a random moment, again and again, in one memory that goes on."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import aftermath
from faults import run_with_kill
from recorder import Sayings
from scrubjay import Memory

# A killer is forked before the recorder has a thread, and strikes whatever it is doing by then.
KILLED = """
import os, signal, sys, time
from recorder import record_until_killed
recorder = os.getpid()
if os.fork() == 0:
    time.sleep(float(arguments[1]))
    os.kill(recorder, signal.SIGKILL)
    os._exit(0)
record_until_killed(arguments[0], int(arguments[2]))
"""


@pytest.mark.parametrize("kills", [100, pytest.param(1000, marks=pytest.mark.long)])
def test_random_kills_lose_nothing_acknowledged(scratch: Path, kills: int) -> None:
    root = str(scratch / "memory")
    Memory.create(root).close()
    chance, everything = random.Random(kills), Sayings()
    for nth in range(kills):
        outcome = run_with_kill(KILLED, 0, root, str(chance.uniform(0.01, 0.12)), str(nth))
        assert outcome.killed, outcome.output
        said = Sayings.of(outcome.output)
        everything.add(said)
        with Memory.open(root) as memory:
            aftermath.check_said(memory, said)
    assert everything.done
    assert set(everything.steps) - set(everything.done), "no kill struck within an episode"
    aftermath.check(root, everything)
