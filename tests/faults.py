"""Kills a child process, with SIGKILL, at the n-th call by which it would change a file.

    outcome = run_with_kill(SCRIPT, n, folder)      # SCRIPT finds `folder` as arguments[0]
    outcome.killed, outcome.status, outcome.output

The script runs in a fork of one helper process that has imported scrubjay once, so a kill costs milliseconds. Nothing
in scrubjay knows of this: the child wraps the functions of its own `os` module before it runs the script.
"""

from __future__ import annotations

import atexit
import builtins
import contextlib
import importlib
import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

CALLS = (
    "open", "write", "pwrite", "fsync", "fdatasync", "ftruncate", "truncate", "replace", "rename", "link", "symlink",
    "unlink", "remove", "mkdir", "rmdir", "chmod", "fchmod", "utime",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended: by our kill, or with an exit status; and what it printed until then."""

    killed: bool
    status: int
    output: str


def run_with_kill(script: str, n: int, *arguments: str, half: bool = False) -> Outcome:
    """Runs `script` (its `arguments` are a global there) and kills it before its n-th call (from 1) is made.

    With `half`, an n-th call that is a write puts half of its bytes in place first. n = 0 kills nothing. A script
    that fails of itself raises AssertionError here, with its traceback.
    """
    outcome = _server().run({"script": script, "n": n, "half": half, "arguments": list(arguments)})
    assert outcome.killed or outcome.status == 0, outcome.output
    return outcome


def each_kill(script: str, prepare: Callable[[], list[str]], *, half: bool = False) -> Iterator[tuple[int, list[str]]]:
    """Kills `script` at each of its calls in turn, a fresh `prepare()` for its arguments each time.

    Yields (n, arguments) after each kill, and ends when the script came to its end.
    """
    for n in itertools.count(1):
        arguments = prepare()
        if not run_with_kill(script, n, *arguments, half=half).killed:
            return
        yield n, arguments


class _Server:
    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, os.path.abspath(__file__)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        atexit.register(self.close)

    def run(self, job: dict[str, Any]) -> Outcome:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        return Outcome(**json.loads(self._process.stdout.readline()))

    def close(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()
        self._process.wait()


_servers: dict[int, _Server] = {}


def _server() -> _Server:
    # One for each process: a fork of the test runner must not share the pipe of its parent.
    if os.getpid() not in _servers:
        _servers[os.getpid()] = _Server()
    return _servers[os.getpid()]


# --- in the helper process


def _serve() -> None:
    for module in ("scrubjay.memory.documents", "scrubjay.public"):
        with contextlib.suppress(Exception):  # imported once, for every fork; what fails is told by the script
            importlib.import_module(module)
    for line in sys.stdin:
        with tempfile.TemporaryFile() as printed:
            child = os.fork()
            if child == 0:
                _run(json.loads(line), printed.fileno())
            _, status = os.waitpid(child, 0)
            printed.seek(0)
            code = os.waitstatus_to_exitcode(status)
            answer = {"killed": code == -signal.SIGKILL, "status": code, "output": printed.read().decode()}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def _run(job: dict[str, Any], output: int) -> None:
    os.dup2(output, 1)
    os.dup2(output, 2)
    leave = os._exit
    status = 1
    try:
        if job["n"]:
            _arm(job["n"], job["half"])
        exec(compile(job["script"], "<script>", "exec"), {"arguments": job["arguments"], "__name__": "__main__"})
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        leave(status)


def _arm(n: int, half: bool) -> None:
    calls = itertools.count(1)

    def wrap(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*positional: Any, **named: Any) -> Any:
            # A kill at a call that only reads leaves what the kill at the next one leaves.
            if not _only_reads(name, positional, named) and next(calls) == n:
                if half and name == "write" and len(positional[1]) > 1:
                    call(positional[0], bytes(positional[1])[: len(positional[1]) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*positional, **named)

        return wrapped

    for name in CALLS:
        setattr(os, name, wrap(name, getattr(os, name)))
    builtins.open = wrap("file", open)


def _only_reads(name: str, positional: tuple[Any, ...], named: dict[str, Any]) -> bool:
    if name == "open":
        flags = named.get("flags", positional[1] if len(positional) > 1 else 0)
        return not flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    if name == "file":
        mode = named.get("mode", positional[1] if len(positional) > 1 else "r")
        return not set(mode) & set("wax+")
    return False


if __name__ == "__main__":
    _serve()
