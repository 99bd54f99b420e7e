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
import errno
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


def run_with_kill(script: str, n: int, *arguments: str, half: bool = False, after: bool = False) -> Outcome:
    """Runs `script` (its `arguments` are a global there) and kills it before its n-th call (from 1) is made.

    With `half` only writes count, and half of the bytes are put in place first; with `after` the call is made whole.
    n = 0 kills nothing. A script that fails of itself raises AssertionError here, with its traceback.
    """
    outcome = _server().run({"script": script, "n": n, "half": half, "after": after, "arguments": list(arguments)})
    assert outcome.killed or outcome.status == 0, outcome.output
    return outcome


def run_with_fault(
    script: str, n: int, *arguments: str, error: str, after: bool = False, half: bool = False, lasting: bool = False
) -> Outcome:
    """Runs `script`, whose n-th call (from 1) raises OSError `error` (`EIO`), instead of the call or `after` it.

    With `half` a write that fails has put half of its bytes in place. With `lasting` every write, flush, truncation
    and new file after it fails too. The script may call `repair()`, which says whether a call has failed, and ends it.
    It must come to its end.
    """
    job: dict[str, Any] = {"script": script, "n": n, "error": error, "arguments": list(arguments)}
    job.update({"after": after, "half": half, "lasting": lasting})
    outcome = _server().run(job)
    assert outcome.status == 0, outcome.output
    return outcome


def each_kill(
    script: str, prepare: Callable[[], list[str]], *, half: bool = False, after: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Kills `script` at each of its calls in turn, a fresh `prepare()` for its arguments each time.

    Yields (n, arguments) after each kill, and ends when the script came to its end.
    """
    for n in itertools.count(1):
        arguments = prepare()
        if not run_with_kill(script, n, *arguments, half=half, after=after).killed:
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
    with contextlib.suppress(Exception):
        importlib.import_module("recorder").warm()
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
    names: dict[str, Any] = {"arguments": job["arguments"], "__name__": "__main__"}
    try:
        if "error" in job:
            names["repair"] = _fail(job, getattr(errno, job["error"]))
        elif job["n"]:
            _arm(job["n"], job["half"], job["after"])
        exec(compile(job["script"], "<script>", "exec"), names)
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        leave(status)


def _arm(n: int, half: bool, after: bool) -> None:
    calls = itertools.count(1)

    def wrap(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*positional: Any, **named: Any) -> Any:
            # A kill at a call that only reads leaves what the kill at the next one leaves.
            counts = name in ("write", "pwrite") if half else not _only_reads(name, positional, named)
            if counts and next(calls) == n:
                if half:
                    call(positional[0], bytes(positional[1])[: len(positional[1]) // 2], *positional[2:])
                elif after:
                    with contextlib.suppress(OSError):
                        call(*positional, **named)
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


def _fail(job: dict[str, Any], number: int) -> Callable[[], bool]:
    n, lasting = job["n"], job["lasting"]
    calls, failed, broken = itertools.count(1), False, False

    def wrap(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        gives_back = name in ("close", "unlink", "remove", "rmdir")  # that does not fail for the lack of space

        def wrapped(*positional: Any, **named: Any) -> Any:
            nonlocal failed, broken
            is_nth = next(calls) == n
            if is_nth or (broken and not gives_back and not _only_reads(name, positional, named)):
                failed, broken = True, broken or lasting
                if job["after"] or name == "close":  # a close that fails has closed all the same
                    call(*positional, **named)
                elif job["half"] and name in ("write", "pwrite"):
                    call(positional[0], bytes(positional[1])[: len(positional[1]) // 2], *positional[2:])
                raise OSError(number, os.strerror(number), "injected")
            return call(*positional, **named)

        return wrapped

    def repair() -> bool:
        nonlocal failed, broken
        was, failed, broken = failed, False, False
        return was

    for name in (*CALLS, "close"):
        setattr(os, name, wrap(name, getattr(os, name)))
    return repair


if __name__ == "__main__":
    _serve()
