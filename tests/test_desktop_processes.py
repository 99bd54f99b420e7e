"""No process and no folder outlives its owner: one that ends well, one that is killed, one that starts others."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from scrubjay.environments.desktop.display import Home
from scrubjay.environments.desktop.environment import Desktop
from scrubjay.environments.desktop.processes import Program, end_left_over

pytestmark = pytest.mark.xdist_group("screens")
PROGRAM = [sys.executable, str(Path(__file__).with_name("desk_program.py"))]
# Starts a process that leaves the session, and one that stays in it; both tell who they are.
STARTS_OTHERS = "setsid sh -c 'echo $$ > {0}/left; exec sleep 600' & sh -c 'echo $$ > {0}/stayed; exec sleep 600' & "


def test_nothing_is_left_behind() -> None:
    desktop = Desktop([*PROGRAM], (640, 480))
    desktop.reset()
    assert desktop.program is not None
    assert desktop.display is not None
    assert desktop.home is not None
    pids, home = (desktop.program.pid, desktop.display.server), desktop.home.root.parent
    desktop.close()
    desktop.close()
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
    assert not home.exists()


def test_a_program_is_ended_with_what_it_started_and_let_go(tmp_path: Path) -> None:
    desktop = Desktop(["sh", "-c", STARTS_OTHERS.format(tmp_path) + f"exec {PROGRAM[0]} {PROGRAM[1]}"], (640, 480))
    desktop.reset()
    pids = started_in(tmp_path)
    assert all(map(lives, pids))
    desktop.close()
    assert not any(map(lives, pids))


def test_what_a_program_started_that_ended_itself_is_ended(tmp_path: Path) -> None:
    program = Program(["sh", "-c", STARTS_OTHERS.format(tmp_path)], tmp_path / "log", os.environ, tmp_path)
    pids = started_in(tmp_path)
    wait_until(lambda: program.status is not None)
    program.end()
    assert not any(map(lives, pids))


def test_a_program_outlives_the_thread_that_started_it() -> None:
    desktop = Desktop(PROGRAM, (640, 480))
    try:
        starting = threading.Thread(target=desktop.reset)
        starting.start()
        starting.join()
        assert desktop.program is not None
        wait_until(lambda: not Path(f"/proc/self/task/{starting.native_id}").exists())
        *_, terminated, _, info = desktop.step({"wait": {"seconds": 0.2}})
        assert not terminated
        assert info["state"]["active"]["title"] == "desk"
    finally:
        desktop.close()


def test_programs_start_in_a_process_that_was_forked(tmp_path: Path) -> None:
    code = (
        "import os, pathlib; from scrubjay.environments.desktop.processes import Program\n"
        "start = lambda *words: Program(words, pathlib.Path('log'), os.environ, pathlib.Path())\n"
        "start('true').end()\n"
        "if os.fork():\n    os.wait()\n"
        "else:\n    program = start('touch', 'begun')\n    while program.status is None: pass\n    os._exit(0)\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], cwd=tmp_path, check=True, timeout=60)
    assert (tmp_path / "begun").exists()


def test_what_the_programs_of_a_living_owner_started_is_left_alone(tmp_path: Path) -> None:
    program = Program(["sh", "-c", STARTS_OTHERS.format(tmp_path) + "wait"], tmp_path / "log", os.environ, tmp_path)
    try:
        pids = started_in(tmp_path)
        end_left_over()
        assert all(map(lives, pids))
    finally:
        program.end()
    assert not any(map(lives, pids))


def test_a_killed_owner_leaves_no_processes_and_no_folder_for_long(tmp_path: Path) -> None:
    command = ["sh", "-c", STARTS_OTHERS.format(tmp_path) + f"exec {PROGRAM[0]} {PROGRAM[1]}"]
    code = (
        "import sys, time; from scrubjay.environments.desktop.environment import Desktop; "
        f"d = Desktop({command!r}, (640, 480)); d.reset(); "
        "print(d.program.pid, d.display.server, d.home.root, flush=True); time.sleep(60)"
    )
    owner = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    *pids, home = owner.stdout.readline().split()
    left, others = Path(home), started_in(tmp_path)
    owner.stdout.close()
    owner.kill()
    owner.wait()
    assert len(pids) == 2
    assert left.is_dir()
    wait_until(lambda: not any(map(lives, pids)))
    Home().remove()  # the next start
    assert not left.parent.exists()
    assert not any(map(lives, others))


def lives(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def started_in(folder: Path) -> list[str]:
    """The process ids that STARTS_OTHERS told."""
    files = [folder / "left", folder / "stayed"]
    wait_until(lambda: all(one.exists() and one.read_text().endswith("\n") for one in files))
    return [one.read_text().strip() for one in files]


def wait_until(holds: Callable[[], bool]) -> None:
    """Fails where it does not come to hold: a bound for a hang, not for how fast it is."""
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)
