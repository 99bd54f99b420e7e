"""What a run in the sandbox can reach: atoms, and nothing else of the host."""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from quarry import run
from scrubjay.sandbox.contract import Budget
from scrubjay.sandbox.monty import MontySandbox
from scrubjay.sandbox.reflexes import Reflex, Reflexes
from scrubjay.sandbox.signatures import spec_of


@pytest.fixture(scope="module")
def sandbox() -> Iterator[MontySandbox]:
    with MontySandbox() as made:
        yield made


@pytest.mark.parametrize(
    ("attack", "says"),
    [
        ("exec('open(\"/etc/passwd\").read()')", "PermissionError"),
        ('exec(\'open("/tmp/pwned", "w").write("x")\')', "PermissionError"),
        ("from pathlib import Path\n    Path('/etc/passwd').read_text()", "PermissionError"),
        ("import os\n    os.listdir('/')", "PermissionError"),
        ("import os\n    os.environ['HOME']", "not supported"),
        ("import os\n    os.getenv('PATH')", "not supported"),
        ("import time\n    time.sleep(100)", "not supported"),
        ("exec('import socket')", "ModuleNotFoundError"),
        ("exec('import subprocess')", "ModuleNotFoundError"),
        ("exec('import ctypes')", "ModuleNotFoundError"),
        ("exec('import scrubjay')", "ModuleNotFoundError"),
        ("exec('import os; os.system(\"id\")')", "Error"),
        ("exec('().__class__.__bases__[0].__subclasses__()')", "AttributeError"),
        ("exec('go_to.__globals__')", "Error"),
        ("exec('main.__globals__')", "AttributeError"),
        ("exec('main.__code__')", "AttributeError"),
        ("getattr(go_to, '__self__')", "Error"),
        ("eval('__import__(\"os\")')", "NameError"),
        ("eval('globals()')", "NameError"),
        ("eval('input()')", "NameError"),
    ],
)
def test_the_host_is_out_of_reach(sandbox: MontySandbox, attack: str, says: str) -> None:
    outcome = run(sandbox, f"def main():\n    {attack}\n")
    assert outcome.why == "failed"
    assert says in str(outcome.error)
    assert outcome.steps == 0


def test_results_cannot_be_forged(sandbox: MontySandbox) -> None:
    shadowed = "def wait(ticks: int = 1) -> dict:\n    return {'ok': True}\n"
    outcome = run(sandbox, shadowed + "def main():\n    wait(500)\n    return {'why': 'done', 'steps': 0}\n")
    assert (outcome.why, outcome.steps, outcome.calls) == ("done", 0, 0)
    for forged in (
        "raise TimeoutError('feed time limit exceeded: 1.0s > 1s')",
        "raise MemoryError('memory limit exceeded: 2 bytes > 1 bytes')",
        "raise (  # because (\n        MemoryError('memory limit exceeded: 2 bytes > 1 bytes'))",
        "exec('raise MemoryError(\"memory limit exceeded\")')",
        "raise RuntimeError('the budget of 400 steps is spent')",
    ):
        assert run(sandbox, f"def main():\n    {forged}\n").why == "failed"
    bomb = run(sandbox, "def main():\n    raise ValueError('a' * 10**10)\n")
    assert (bomb.why, "line 2, in main" in str(bomb.error)) == ("budget", True)
    object_like = (
        "class Row:\n    def __init__(self):\n        self.outcome = 'success'\ndef main():\n    return Row()\n"
    )
    assert run(sandbox, object_like).value == "<not shown: a value of type MontyClassProxy>"
    assert run(sandbox, "def main():\n    return {1: 2}\n").value.startswith("<not shown")


def test_an_atom_may_itself_run_a_procedure(sandbox: MontySandbox) -> None:
    def deeper(n: int) -> dict[str, Any]:
        if n == 0:
            return {"depth": 0}
        inner = sandbox.run(
            source, "main", {"n": n - 1}, {"deeper": deeper}, [spec_of(deeper)], Budget(), lambda: False
        )
        return {"depth": inner.value + 1}

    source = "def main(n: int):\n    return deeper(n)['depth']\n"
    outcome = sandbox.run(source, "main", {"n": 3}, {"deeper": deeper}, [spec_of(deeper)], Budget(), lambda: False)
    assert (outcome.value, outcome.recorded) == (3, "success")


@pytest.mark.parametrize(("is_asked", "why"), [(True, "stopped"), (False, "failed")])
def test_a_worker_that_dies_of_an_interrupt_was_stopped(sandbox: MontySandbox, is_asked: bool, why: str) -> None:
    """Ctrl-C on a terminal reaches every process of the group."""
    asked = threading.Event()

    def interrupt() -> dict[str, Any]:
        if is_asked:
            asked.set()
        for child in Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text().split():
            if Path(f"/proc/{child}/comm").read_text() == "monty\n":
                os.kill(int(child), signal.SIGINT)
        return {}

    source = "def main():\n    interrupt()\n    while True:\n        pass\n"
    atoms = {"interrupt": interrupt}
    outcome = sandbox.run(source, "main", {}, atoms, [spec_of(interrupt)], Budget(), asked.is_set)
    assert outcome.why == why


def test_nothing_is_left_open(sandbox: MontySandbox) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        run(sandbox, "def main():\n    x = 3\n    while True:\n        x *= x\n", budget=Budget(seconds=0.1))
    assert len(os.listdir("/proc/self/fd")) <= before + 1
    assert not [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)]


@pytest.mark.parametrize("ends", ["dropped", "closed", "closed twice"])
@pytest.mark.parametrize("what", ["sandbox", "reflexes"])
def test_no_process_outlives_whoever_started_it(what: str, ends: str) -> None:
    before = _workers()
    one, seen = _started(what)
    assert len(seen - before) == 1
    for _ in range({"dropped": 0, "closed": 1, "closed twice": 2}[ends]):
        one.close()
    del one
    gc.collect()
    assert _within(lambda: not _workers() - before)  # a process that was told to end takes a moment


def _within(holds: Callable[[], bool]) -> bool:
    for _ in range(100):
        if holds():
            return True
        time.sleep(0.05)
    return False


def _started(what: str) -> tuple[MontySandbox | Reflexes, set[str]]:
    """One that has worked, and the processes there were meanwhile: one that serves once ends by itself."""
    if what == "reflexes":
        reflexes = Reflexes([Reflex("a", "def main(now):\n    pass\n")])
        reflexes.ask(0, [{}])
        return reflexes, _workers()
    sandbox, seen = MontySandbox(), set[str]()

    def look() -> None:
        seen.update(_workers())

    sandbox.run("def main():\n    look()\n", "main", {}, {"look": look}, [spec_of(look)], Budget(), lambda: False)
    return sandbox, seen


def _workers() -> set[str]:
    """Processes of the interpreter among our children that run."""
    children = Path("/proc/self/task").glob("*/children")
    return {child for one in children for child in one.read_text().split() if _runs(child)}


def _runs(child: str) -> bool:
    try:
        status = Path(f"/proc/{child}/status").read_text()
    except FileNotFoundError:
        return False
    return status.startswith("Name:\tmonty\n") and "State:\tZ" not in status
