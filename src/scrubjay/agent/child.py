"""Running an agent's command: a process of its own, with a limit of time, whose output is kept within bounds.

It knows commands and bytes. When `run` returns, or raises, no process of the command is left that could be found.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import IO, Any, cast

from scrubjay.agent import supervising

__all__ = ["Ended", "run"]

_HEAD = 64 * 1024
_TAIL = 192 * 1024
_POLL = 0.1
_PATIENCE = 10.0  # seconds for the process between us to end everything; longer, and it is ended itself


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended. `why` is empty where it ended by itself, else `limit` or `stopped` (a person's Ctrl-C)."""

    status: int
    seconds: float
    out: bytes
    err: bytes
    why: str = ""


class _Kept:
    """The beginning and the end of what a command printed."""

    def __init__(self) -> None:
        self._head, self._tail, self._total = b"", b"", 0

    def add(self, data: bytes) -> None:
        self._total += len(data)
        room = _HEAD - len(self._head)
        if room > 0:
            self._head, data = self._head + data[:room], data[room:]
        self._tail += data
        if len(self._tail) > 2 * _TAIL:
            self._tail = self._tail[-_TAIL:]

    def bytes(self) -> bytes:
        tail = self._tail[-_TAIL:]
        left_out = self._total - len(self._head) - len(tail)
        return self._head + (b"\n[%d bytes left out]\n" % left_out if left_out else b"") + tail


def run(
    command: Sequence[str],
    folder: str,
    environment: Mapping[str, str],
    seconds: float,
    is_stopped: Callable[[], bool] = lambda: False,
) -> Ended:
    """Runs a command in a folder, at most so many seconds. Its input is empty.

    A SIGINT or SIGTERM of ours ends it and then means what it meant before.
    """
    began = time.monotonic()
    with _noticing() as struck:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", supervising.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        out, err, why = _Kept(), _Kept(), ""
        try:
            told = {"command": list(command), "folder": folder, "environment": dict(environment)}
            _say(process, json.dumps(told).encode() + b"\n")
            with _listening(process, out, err) as listen:
                while process.poll() is None and not why:
                    listen(_POLL)
                    if struck or is_stopped():
                        why = "stopped"
                    elif time.monotonic() - began > seconds:
                        why = "limit"
                _end(process, listen)
        finally:
            _end(process, _only_wait)
            for pipe in (process.stdout, process.stderr):
                cast(IO[bytes], pipe).close()
    return Ended(process.returncode, time.monotonic() - began, out.bytes(), err.bytes(), why)


def _say(process: subprocess.Popen[bytes], data: bytes) -> None:
    with contextlib.suppress(BrokenPipeError):
        pipe = cast(IO[bytes], process.stdin)
        pipe.write(data)
        pipe.flush()


def _end(process: subprocess.Popen[bytes], listen: Callable[[float], bool]) -> None:
    """Closing its input ends the process between us, which ends the command first."""
    with contextlib.suppress(BrokenPipeError):
        cast(IO[bytes], process.stdin).close()
    asked = time.monotonic()
    while process.poll() is None:
        if time.monotonic() - asked > _PATIENCE:
            process.kill()
        listen(_POLL / 5)
    while listen(0):  # what is still in the pipes
        if time.monotonic() - asked > _PATIENCE:
            break


def _only_wait(timeout: float) -> bool:
    time.sleep(timeout)
    return False


@contextlib.contextmanager
def _listening(process: subprocess.Popen[bytes], out: _Kept, err: _Kept) -> Iterator[Callable[[float], bool]]:
    """A function that waits for output and keeps it; true where there was some."""
    with selectors.DefaultSelector() as selector:
        for pipe, kept in ((process.stdout, out), (process.stderr, err)):
            selector.register(cast(IO[bytes], pipe), selectors.EVENT_READ, kept)

        def listen(timeout: float) -> bool:
            if not selector.get_map():
                time.sleep(timeout)
                return False
            is_some = False
            for key, _ in selector.select(timeout):
                data = os.read(key.fd, 1 << 20)
                if data:
                    key.data.add(data)
                    is_some = True
                else:
                    selector.unregister(key.fileobj)
            return is_some

        yield listen


@contextlib.contextmanager
def _noticing() -> Iterator[list[int]]:
    """The SIGINT and SIGTERM that come meanwhile; each is passed on to who handled it before."""
    struck: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield struck
        return
    before: dict[signal.Signals, Any] = {}

    def notice(number: int, frame: FrameType | None) -> None:
        struck.append(number)
        handler = before[signal.Signals(number)]
        if callable(handler):
            handler(number, frame)

    for one in (signal.SIGINT, signal.SIGTERM):
        if callable(signal.getsignal(one)):
            before[one] = signal.signal(one, notice)
    try:
        yield struck
    finally:
        for one, handler in before.items():
            if signal.getsignal(one) is notice:  # else who handled it before has let go of it meanwhile
                signal.signal(one, handler)
