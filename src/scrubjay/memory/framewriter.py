"""A thread that encodes frames and puts them on disk while the caller goes on.

It knows work that waits, and faults. What the work does to the files of an episode it does not know. Once a step has
returned, at most QUEUE frames are not on disk yet; a full queue slows the caller and drops nothing.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

from scrubjay.errors import StorageFull
from scrubjay.memory.episode_frames import HELD

__all__ = ["QUEUE", "SYNC_EVERY", "FrameWriter"]

QUEUE = 8
SYNC_EVERY = 4.0  # seconds; the format promises that power loss takes at most 5


class FrameWriter:
    """The thread of one life, and the bounded queue before it.

    `reserve`, then `put` for each camera, then `settle`; a fault of the disk is raised by the next reserve or drain,
    once, and the work it concerned is tried again after that.
    """

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._queue: deque[Callable[[], None]] = deque()
        self._error: BaseException | None = None
        self._tick: Callable[[], None] | None = None
        self._idle: Callable[[], None] | None = None
        self._closed = self._works = False
        self._thread: threading.Thread | None = None
        self._next_sync = 0.0
        self._done = 0  # how often the thread came to rest

    def begin(self) -> None:
        """An episode begins."""
        self.release()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="scrubjay-frames", daemon=True)
            self._thread.start()

    def attend(self, tick: Callable[[], None], idle: Callable[[], None]) -> None:
        """From now on `tick` runs every few seconds, to make durable what was written, and `idle` after the last work
        in the queue; until `drain`."""
        if self._tick is None:
            with self._condition:
                self._tick, self._idle = tick, idle
                if not self._next_sync:  # it goes on from one episode to the next: short ones get their turn too
                    self._next_sync = time.monotonic() + SYNC_EVERY
                self._condition.notify_all()

    def reserve(self, cameras: int) -> None:
        """Waits until there is room for a frame of each camera. Raises the fault of an earlier frame."""
        room = max(1, _most_waiting(cameras) - cameras + 1)
        with self._condition:
            while True:
                self._raise_error()
                if len(self._queue) < room:
                    return
                self._condition.wait()

    def put(self, work: Callable[[], None]) -> None:
        """Hands over work for the thread; never waits and never fails."""
        with self._condition:
            self._queue.append(work)
            self._condition.notify_all()

    def settle(self, cameras: int) -> None:
        """Waits until no more than QUEUE frames are not on disk. A fault is left to the next `reserve`."""
        with self._condition:
            while self._error is None and len(self._queue) > _most_waiting(cameras):
                self._condition.wait()

    def drain(self) -> None:
        """Waits until everything handed over is done and the thread rests; nothing runs in it until the next `put`.

        Raises the fault that keeps work from being done.
        """
        with self._condition:
            self._tick = self._idle = None
            while True:
                self._raise_error()
                if not self._queue and not self._works:
                    return
                self._condition.wait()

    def release(self) -> None:
        """Ends the work for the current episode; what still waits is dropped, what is being done comes to its end."""
        with self._condition:
            self._queue.clear()
            self._tick = self._idle = None
            self._condition.notify_all()
            while self._works and self._thread is not None and self._thread.is_alive():
                self._condition.wait()
            self._error = None

    def close(self) -> None:
        """Ends the thread."""
        with self._condition:
            self._closed = True
            self._queue.clear()
            self._condition.notify_all()
        if self._thread is not None:
            self._thread.join()

    def _raise_error(self) -> None:
        if isinstance(self._error, StorageFull):
            # It may be old, and space free by now: what counts is whether the same work still fails.
            self._error, done = None, self._done
            self._condition.notify_all()
            while self._queue and self._done == done:
                self._condition.wait()
        if self._error is not None:
            error, self._error = self._error, None
            self._condition.notify_all()  # the thread tries again
            raise error

    def _run(self) -> None:
        while True:
            with self._condition:
                self._works = False
                self._done += 1
                self._condition.notify_all()
                while not self._closed and (self._error is not None or not self._queue) and not self._sync_due():
                    self._condition.wait(self._until_sync())
                if self._closed:
                    return
                self._works = True
                work = self._queue[0] if self._queue and self._error is None else None
            self._do(work)

    def _do(self, work: Callable[[], None] | None) -> None:
        """The first of the queue, which leaves it only when it is done; then what is due or can be done ahead."""
        fault = None if work is None else _fault_of(work)
        with self._condition:
            if fault is None and work is not None and self._queue and self._queue[0] is work:
                self._queue.popleft()
            self._condition.notify_all()
            idle = self._idle if work is not None and fault is None and not self._queue else None
            tick = self._tick if fault is None and self._sync_due() else None
        if idle is not None:
            fault = _fault_of(idle)
        if tick is not None and fault is None:
            self._next_sync = time.monotonic() + SYNC_EVERY
            fault = _fault_of(tick)
        if fault is not None:
            with self._condition:
                self._error = fault

    def _until_sync(self) -> float | None:
        return None if self._tick is None else max(0.01, self._next_sync - time.monotonic())

    def _sync_due(self) -> bool:
        return self._tick is not None and self._error is None and time.monotonic() >= self._next_sync


def _most_waiting(cameras: int) -> int:
    """How many frames may wait in the queue: some wait outside it, each of them perhaps the episode's end."""
    return QUEUE - min(cameras, HELD)


def _fault_of(work: Callable[[], None]) -> BaseException | None:
    try:
        work()
    except BaseException as error:
        return error
    return None
