"""A process between the harness and an agent's command, which ends everything that the command leaves behind.

It is run as a script and imports nothing of ours. Its first line of input is what to run; when the rest of its input
ends, because the harness closed it or died, it ends the command. On Linux the system gives it every orphan among the
command's descendants, so what made itself a daemon is found too; elsewhere it reaches the command's process group.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sys
import time

_GRACE = 2.0  # seconds between asking and killing
_GIVE_UP = 5.0  # seconds of killing what goes on forking
_POLL = 0.02
_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER


def main() -> int:
    """Runs the command to its end, or to the end of our input; returns its status, 128 + n where a signal ended it."""
    _adopt_orphans()
    told = json.loads(_line())
    child = os.fork()
    if child == 0:
        _become(told["command"], told["folder"], told["environment"])
    status = None
    while status is None:
        if select.select([0], [], [], _POLL)[0] and not os.read(0, 1):
            break
        status, _ = _reap(child)
    found = _end(child)
    return _code(found if status is None else status)


def _line() -> bytes:
    data = b""
    while not data.endswith(b"\n"):
        piece = os.read(0, 65536)  # nothing follows the line
        if not piece:
            raise SystemExit(1)
        data += piece
    return data


def _adopt_orphans() -> None:
    with contextlib.suppress(Exception):  # not Linux: the process group is what is reached
        import ctypes

        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)


def _become(command: list[str], folder: str, environment: dict[str, str]) -> None:
    try:
        os.setsid()
        os.chdir(folder)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        words = [os.fsencode(word.replace("\0", "")) for word in command]
        os.execvpe(words[0], words, {os.fsencode(k): os.fsencode(v) for k, v in environment.items()})
    except Exception as error:
        os.write(2, f"{command[0]}: {error}\n".encode(errors="replace"))
    finally:
        os._exit(127)


def _reap(child: int) -> tuple[int | None, bool]:
    """Buries every process that ended; the status of `child` where it is among them, and whether any is left."""
    found = None
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return found, False
        if pid == 0:
            return found, True
        if pid == child:
            found = status


def _end(child: int) -> int | None:
    """Ends the command's process group and every child of ours; returns the status of `child` where it ended now."""
    began = time.monotonic()
    found, is_anyone_left = _reap(child)
    if is_anyone_left:
        _signal(child, signal.SIGTERM)
    while is_anyone_left and time.monotonic() - began < _GRACE + _GIVE_UP:
        if time.monotonic() - began > _GRACE:
            _signal(child, signal.SIGKILL)
        time.sleep(_POLL / 2)
        status, is_anyone_left = _reap(child)
        found = status if status is not None else found
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    return found


def _signal(child: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, number)
    for pid in _children():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def _children() -> list[int]:
    found = []
    names = os.listdir("/proc") if os.path.isdir("/proc") else []
    for name in filter(str.isdigit, names):
        with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{name}/stat", "rb") as file:
            if int(file.read().rpartition(b")")[2].split()[1]) == os.getpid():
                found.append(int(name))
    return found


def _code(status: int | None) -> int:
    if status is None:
        return 128 + signal.SIGKILL
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    sys.exit(main())
