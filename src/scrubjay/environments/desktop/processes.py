"""Starting programs so that none of them outlives its owner, and ending them with all that they started.

Each program leads a session of its own: ending it ends every process of that session. Where its owner is killed, the
kernel ends it (`setpriv --pdeathsig`).
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from scrubjay.errors import InvalidInput

__all__ = ["Program"]

_TICKS = os.sysconf("SC_CLK_TCK")
_PATIENCE = 2.0  # seconds between asking and killing


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
        guard = shutil.which("setpriv")
        guarded = [guard, "--pdeathsig", "KILL", found] if guard else [found]
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                [*guarded, *command[1:]],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=dict(environment),
                cwd=folder,
                start_new_session=True,
                pass_fds=tuple(keep),
            )

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
        with contextlib.suppress(OSError, ValueError, IndexError):
            user, system = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
            return (int(user) + int(system)) / _TICKS
        return 0.0

    def said(self) -> str:
        """The last lines of its output."""
        with contextlib.suppress(OSError):
            lines = self._log.read_text(errors="replace").splitlines()
            return " / ".join(line.strip() for line in lines[-6:] if line.strip())[-400:]
        return ""

    def end(self) -> None:
        """Ends it and all that it started: asks first, then kills. A second call does nothing."""
        members = _session(self.pid)
        _signal([self.pid, *members], signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_PATIENCE)
        deadline = time.monotonic() + _PATIENCE
        while (left := [*_session(self.pid), *([self.pid] if self.status is None else [])]) and (
            time.monotonic() < deadline
        ):
            _signal(left, signal.SIGKILL)
            time.sleep(0.01)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_PATIENCE)


def _signal(pids: Sequence[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def _session(leader: int) -> list[int]:
    """The processes of a session that are no zombies, without their leader."""
    members = []
    for entry in os.listdir("/proc"):
        if entry.isdigit() and int(entry) != leader:
            with contextlib.suppress(OSError, ValueError, IndexError):
                stat = Path("/proc", entry, "stat").read_text()
                state, _, _, session = stat.rpartition(")")[2].split()[:4]
                if int(session) == leader and state != "Z":
                    members.append(int(entry))
    return members
