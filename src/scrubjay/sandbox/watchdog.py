"""Kills a worker process at a deadline: the bound that holds where an interpreter can't be asked any more.

It knows a process; what runs in it, it does not know.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from types import TracebackType
from typing import Self

__all__ = ["Watchdog", "confine"]


def confine(process: int, memory_bytes: int, seconds: float | None = None) -> None:
    """Limits of the system on a worker, under the interpreter's own: address space, no core files, CPU time.

    They hold even when this process dies. Systems without prlimit have the interpreter's limits and the watchdog.
    """
    try:
        from resource import RLIMIT_AS, RLIMIT_CORE, RLIMIT_CPU, prlimit
    except ImportError:
        return
    limits = {RLIMIT_AS: memory_bytes, RLIMIT_CORE: 0}
    if seconds is not None:
        limits[RLIMIT_CPU] = int(seconds) + 2
    with contextlib.suppress(OSError, ValueError):
        for limit, value in limits.items():
            prlimit(process, limit, (value, value))


class Watchdog:
    """While entered, a thread that kills `process` after `seconds`. `has_bitten` says whether it did."""

    def __init__(self, process: int, seconds: float) -> None:
        # A descriptor names this process for good; its number may be another's by then.
        self._descriptor = os.pidfd_open(process) if hasattr(os, "pidfd_open") else None
        self._process = process
        self._timer = threading.Timer(seconds, self._bite)
        self._timer.daemon = True
        self.has_bitten = False

    def _bite(self) -> None:
        self.has_bitten = True
        with contextlib.suppress(ProcessLookupError):
            if self._descriptor is not None:
                signal.pidfd_send_signal(self._descriptor, signal.SIGKILL)
            else:
                os.kill(self._process, signal.SIGKILL)

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        self._timer.join()
        if self._descriptor is not None:
            os.close(self._descriptor)
