"""A recorder is killed at every call it makes to the system: before it, after it, and in the middle of each write."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import aftermath
from faults import each_kill, run_with_kill
from recorder import Sayings
from scrubjay import Memory
from scrubjay.errors import NotFound

RECORD = "from recorder import record\nrecord(arguments[0])"
CREATE = "from scrubjay import Memory\nMemory.create(arguments[0]).close()"
OPEN = "from scrubjay import Memory\nMemory.open(arguments[0]).close()"
IN_AN_EPISODE = """
import itertools, os, signal, time
from recorder import record
calls = itertools.count(1)
def again(call):
    result = call()
    if next(calls) == 25:
        time.sleep(0.05)  # some frames reach the disk
        os.kill(os.getpid(), signal.SIGKILL)
    return result
record(arguments[0], again=again)
"""
BEFORE_THE_COMMIT = """
import os, signal
from recorder import record
replace = os.replace
def replace_and_die(source, target):
    replace(source, target)
    if target.endswith("ep_000004/episode.json"):
        os.kill(os.getpid(), signal.SIGKILL)
os.replace = replace_and_die
record(arguments[0])
"""
# After a call is before the next one, but for the thread that writes frames: that is for the long version.
ways = pytest.mark.parametrize(
    "way",
    [
        pytest.param({}, id="before"),
        pytest.param({"half": True}, id="half"),
        pytest.param({"after": True}, id="after", marks=pytest.mark.long),
    ],
)


def empty_memory(scratch: Path) -> Callable[[], list[str]]:
    """Prepares a new memory in the same place each time."""

    def prepare() -> list[str]:
        root = scratch / "memory"
        shutil.rmtree(root, ignore_errors=True)
        Memory.create(root).close()
        return [str(root)]

    return prepare


@ways
def test_a_recorder_killed_at_any_call_loses_nothing_acknowledged(scratch: Path, way: dict[str, bool]) -> None:
    prepare = empty_memory(scratch)
    n = 0
    while True:
        n += 1
        (root,) = prepare()
        outcome = run_with_kill(RECORD, n, root, **way)
        said = Sayings.of(outcome.output)
        aftermath.check(root, said, goes_on=n % 4 == 0)
        if not outcome.killed:
            assert len(said.done) == 5
            assert n > 50
            return


@ways
def test_a_creation_killed_at_any_call_can_be_made_again(scratch: Path, way: dict[str, bool]) -> None:
    def prepare() -> list[str]:
        shutil.rmtree(scratch / "memory", ignore_errors=True)
        return [str(scratch / "memory")]

    for _, (root,) in each_kill(CREATE, prepare, **way):
        try:
            Memory.open(root).close()
        except NotFound:
            Memory.create(root).close()
        aftermath.check_goes_on(root)


@ways
@pytest.mark.parametrize("script", [IN_AN_EPISODE, BEFORE_THE_COMMIT], ids=["in an episode", "before the commit"])
def test_a_recovery_killed_at_any_call_is_completed_by_the_next(
    scratch: Path, way: dict[str, bool], script: str
) -> None:
    dead = scratch / "dead"
    Memory.create(dead).close()
    outcome = run_with_kill(script, 0, str(dead))
    said = Sayings.of(outcome.output)
    assert outcome.killed
    assert len(said.done) == 4

    def prepare() -> list[str]:
        shutil.rmtree(scratch / "memory", ignore_errors=True)
        shutil.copytree(dead, scratch / "memory")
        return [str(scratch / "memory")]

    for _, (root,) in each_kill(OPEN, prepare, **way):
        aftermath.check(root, said, goes_on=False)
