"""Starting programs so that none of them outlives its owner, and ending them with all that they started.

Each program leads a session of its own and is marked in its environment, which what it starts inherits: ending it ends
every process of that session and every one with the mark. Where its owner is killed, the kernel ends the program
(`setpriv --pdeathsig`), and what it started is ended by whoever asks next for `end_left_over`.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from scrubjay.errors import InvalidInput

__all__ = ["Program", "end_left_over"]

_TICKS = os.sysconf("SC_CLK_TCK")
_PATIENCE = 2.0  # seconds between asking and killing
_MARK = "SCRUBJAY_PROGRAM"  # its value: namespace and process id of the owner, when it was started, a number
_numbers = itertools.count(1)


class Program:
    """A program that runs. Its output goes to `log`, the last lines of which tell why it failed."""

    def __init__(
        self, command: Sequence[str], log: Path, environment: Mapping[str, str], folder: Path, keep: Sequence[int] = ()
    ) -> None:
        """Raises InvalidInput where there is no such program. `keep` are file descriptors that it inherits."""
        self.name = os.path.basename(command[0])
        found = shutil.which(command[0], path=environment.get("PATH"))
        if found is None:
            raise InvalidInput(f"{command[0]!r} was not found; install it, or give the path of the program")
        self._log = log
        self._mark = f"{_owner(os.getpid())}:{next(_numbers)}"
        guard = shutil.which("setpriv")
        guarded = [guard, "--pdeathsig", "KILL", found] if guard else [found]
        with log.open("ab") as output:
            self._process = _starter.submit(
                subprocess.Popen,
                [*guarded, *command[1:]],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**environment, _MARK: self._mark},
                cwd=folder,
                start_new_session=True,
                pass_fds=tuple(keep),
            ).result()

    @property
    def pid(self) -> int:
        """The process id, which is that of its session as well."""
        return self._process.pid

    @property
    def status(self) -> int | None:
        """The exit status, negative for a signal; None while it runs."""
        return self._process.poll()

    @property
    def ending(self) -> str | None:
        """How it ended, in words: `eeschema ended by signal 11`; None while it runs."""
        status = self.status
        if status is None:
            return None
        return f"{self.name} ended {f'by signal {-status}' if status < 0 else f'with status {status}'}"

    def worked(self) -> float:
        """Seconds of CPU that it has used; 0 once it has ended."""
        fields = _stat(self.pid)
        return (int(fields[11]) + int(fields[12])) / _TICKS if fields else 0.0

    def said(self) -> str:
        """The last lines of its output."""
        with contextlib.suppress(OSError):
            lines = self._log.read_text(errors="replace").splitlines()
            return " / ".join(line.strip() for line in lines[-6:] if line.strip())[-400:]
        return ""

    def end(self) -> None:
        """Ends it and all that it started: asks first, then kills. A second call does nothing."""
        leader = [self.pid] if self.status is None else []  # one that has ended may have lent its number to another
        _signal([*leader, *self._members()], signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_PATIENCE)
        _kill_all(lambda: [*self._members(), *([self.pid] if self.status is None else [])])
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_PATIENCE)

    def _members(self) -> list[int]:
        """The processes that it started, without itself."""
        mine = f"{_MARK}={self._mark}"
        return [pid for pid, session in _running() if pid != self.pid and (session == self.pid or _mark(pid) == mine)]


def end_left_over() -> None:
    """Kills what programs started whose owner has ended without ending them."""
    _kill_all(lambda: [pid for pid, _ in _running() if _is_left_over(_mark(pid))])


def _is_left_over(mark: str) -> bool:
    owner, _, _ = mark.removeprefix(f"{_MARK}=").rpartition(":")
    space, _, rest = owner.partition(":")
    pid = rest.partition(":")[0]
    return space == _space() and pid.isdecimal() and _owner(int(pid)) != owner


def _owner(pid: int) -> str:
    """A process by its namespace, its number and when it was started: numbers are used again."""
    fields = _stat(pid)
    started = fields[19] if fields and fields[0] != "Z" else "ended"
    return f"{_space()}:{pid}:{started}"


def _space() -> str:
    """In which namespace process ids are meant: those of a container are others outside of it."""
    with contextlib.suppress(OSError):
        return str(os.stat("/proc/self/ns/pid").st_ino)
    return "unknown"


def _mark(pid: int) -> str:
    """The mark in the environment of a process, or nothing where it has none or is another user's."""
    with contextlib.suppress(OSError):
        for one in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
            if one.startswith(f"{_MARK}=".encode()):
                return os.fsdecode(one)
    return ""


def _signal(pids: Sequence[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def _kill_all(left: Callable[[], list[int]]) -> None:
    """Kills until none is left, or patience is: a process that is being killed may have started another."""
    deadline = time.monotonic() + _PATIENCE
    while (pids := left()) and time.monotonic() < deadline:
        _signal(pids, signal.SIGKILL)
        time.sleep(0.01)


def _running() -> Iterator[tuple[int, int]]:
    """Processes that are no zombies, each with the id of its session."""
    for entry in os.listdir("/proc"):
        if entry.isdecimal() and (fields := _stat(int(entry))) and fields[0] != "Z":
            yield int(entry), int(fields[3])


def _stat(pid: int) -> list[str]:
    """What the system says of a process from its state on; nothing where it has ended."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    return []


def _new_starter() -> None:
    # The kernel ends a program with the thread that started it: that has to be one that lives as long as the process.
    global _starter
    _starter = ThreadPoolExecutor(1, "scrubjay-starter")


_starter: ThreadPoolExecutor
_new_starter()
os.register_at_fork(after_in_child=_new_starter)
