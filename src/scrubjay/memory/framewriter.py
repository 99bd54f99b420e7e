"""A thread that encodes frames and puts them on disk while the caller goes on.

It knows the files of one episode's frames: `start`, `end` and `frames.tar`. It does not know states or rows.
At most QUEUE frames wait, the last of each camera among them; a full queue slows the caller and drops nothing.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tarfile
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from scrubjay.errors import InvalidInput, StorageFull, storage_error
from scrubjay.memory.disk import durability, let_go, storage, write_all
from scrubjay.memory.frames import Picture
from scrubjay.memory.jsonio import Json
from scrubjay.memory.layout import Layout

__all__ = ["QUEUE", "SYNC_EVERY", "Arriving", "CueMaker", "EpisodeFrames", "FrameWriter", "LastFrame"]

QUEUE = 8
SYNC_EVERY = 4.0  # seconds; the format promises that power loss takes at most 5

CueMaker = Callable[[Any], str]


@dataclass(slots=True)
class Arriving:
    """A frame on its way to disk: whose it is, what it will be called, and its bytes once encoded."""

    step: int
    camera: str | None
    picture: Picture
    name: str
    data: bytes | None = None
    cues: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class LastFrame:
    """A frame that lies on disk as a file of its own, and may be linked where the next episode begins with it."""

    picture: Picture
    path: str
    size: int
    sha256: str
    cues: Mapping[str, str]


@dataclass(slots=True)
class EpisodeFrames:
    """The frames of one episode in its folder, and what `episode.json` will say of them.

    Used by one thread at a time: the writer's while frames come, the recorder's once they are drained.
    """

    folder: str
    first_step: int
    cue_makers: Mapping[str, CueMaker]
    previous: Mapping[str | None, LastFrame] = field(default_factory=dict)
    files: dict[str, Json] = field(default_factory=dict)
    frames: dict[str, Json] = field(default_factory=dict)
    cues: dict[str, dict[str, str]] = field(default_factory=dict)
    last: dict[str | None, LastFrame] = field(default_factory=dict)
    linked: set[str] = field(default_factory=set)
    missing: dict[str, str] = field(default_factory=dict)
    _pending: dict[str | None, Arriving] = field(default_factory=dict)
    _tar: int = -1
    _tar_size: int = 0
    _tar_hash: Any = None
    _first_camera: str | None = None
    _start: LastFrame | None = None

    def store(self, item: Arriving) -> None:
        """Encodes a frame and puts the one before it (which is now known not to be the last) into the tar."""
        if item.name in self.missing:
            return
        if not self.frames and not self._pending:
            self._first_camera = item.camera
        if item.step == self.first_step:
            self._store_start(item)
            return
        self._encoded(item)
        before = self._pending.get(item.camera)
        if before is not None:
            self._append(before)
        self._pending[item.camera] = item

    def _encoded(self, item: Arriving) -> bytes:
        if item.data is None:
            try:
                item.data = item.picture.encode()
            except Exception as error:  # a codec of somebody else's: its fault costs this frame alone
                why = f"it could not be encoded: {type(error).__name__}: {error}"
                self.missing[item.name] = why
                raise InvalidInput(f"frame {item.name}: {why}; its step is recorded without it") from error
        return item.data

    def _store_start(self, item: Arriving) -> None:
        name = Layout.edge_frame_name("start", item.picture.extension, item.camera)
        path = os.path.join(self.folder, name)
        before = self.previous.get(item.camera)
        if before is not None and before.picture.same_as(item.picture) and _linked(before.path, path):
            self._note_file(name, item.name, before.size, before.sha256)
            self.linked.add(name)
            cues: Mapping[str, str] = before.cues
        else:
            data = self._encoded(item)
            self._write_edge(path, data)
            self._note_file(name, item.name, len(data), hashlib.sha256(data).hexdigest())
            cues = self.make_cues(item.picture) if item.camera == self._first_camera else {}
        if item.camera == self._first_camera:
            self._note_cues("start", cues)
        start = LastFrame(item.picture, path, self.files[name]["size"], self.files[name]["sha256"], cues)
        self.last[item.camera] = start
        if item.camera == self._first_camera:
            self._start = start

    def _write_edge(self, path: str, data: bytes) -> None:
        with storage(path):
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
            try:
                write_all(descriptor, data)
            finally:
                os.close(descriptor)

    def _append(self, item: Arriving) -> None:
        """Header, bytes and padding of one member in one write; nothing of it stays where that fails."""
        path = os.path.join(self.folder, Layout.FRAMES)
        assert item.data is not None
        with storage(path):
            if self._tar < 0:
                self._tar = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
                self._tar_hash = hashlib.sha256()
        member = tarfile.TarInfo(item.name)
        member.size = len(item.data)
        block = member.tobuf(tarfile.USTAR_FORMAT) + item.data + bytes(-len(item.data) % 512)
        self._extend(block, path)
        self.frames[item.name] = {
            "file": Layout.FRAMES,
            "offset": self._tar_size - len(block) + 512,
            "size": len(item.data),
        }

    def _extend(self, block: bytes, path: str) -> None:
        try:
            write_all(self._tar, block)
        except OSError as error:
            os.lseek(self._tar, self._tar_size, os.SEEK_SET)
            with contextlib.suppress(OSError):  # where even that fails, `close` does it
                os.ftruncate(self._tar, self._tar_size)
            raise storage_error(error, path) from error
        self._tar_hash.update(block)
        self._tar_size += len(block)

    def close(self, last_step: int) -> None:
        """Writes what is pending: the last observation's frames as `end`, others into the tar, and the tar's end."""
        for camera, item in list(self._pending.items()):
            if item.step != last_step:
                self._append(item)
            else:
                self._store_end(item)
            del self._pending[camera]
        if self._tar >= 0:
            path = os.path.join(self.folder, Layout.FRAMES)
            with storage(path):
                os.ftruncate(self._tar, self._tar_size)
            self._extend(bytes(1024), path)
            self.files[Layout.FRAMES] = {"size": self._tar_size, "sha256": self._tar_hash.hexdigest()}
            self.abandon()

    def _store_end(self, item: Arriving) -> None:
        assert item.data is not None
        name = Layout.edge_frame_name("end", item.picture.extension, item.camera)
        path = os.path.join(self.folder, name)
        self._write_edge(path, item.data)
        self._note_file(name, item.name, len(item.data), hashlib.sha256(item.data).hexdigest())
        size, digest = self.files[name]["size"], self.files[name]["sha256"]
        self.last[item.camera] = LastFrame(item.picture, path, size, digest, item.cues or {})

    def foresee(self) -> None:
        """Makes the cues of the newest frame, for it may be the last: called when the thread has nothing else to do."""
        newest = self._pending.get(self._first_camera)
        if newest is not None and newest.cues is None:
            newest.cues = self._cues_of_last(newest.picture)

    @property
    def knows_end_cues(self) -> bool:
        """True where `end_cues` has next to nothing to do: they were foreseen, or there is no last frame."""
        last = self.last.get(self._first_camera)
        return last is None or last is self._start or bool(last.cues)

    def end_cues(self) -> None:
        """Makes the cues of the last frame. Slow next to the rest: it runs while the disk makes files durable."""
        last, start = self.last.get(self._first_camera), self._start
        if last is None or last is start:
            return
        cues = last.cues or self._cues_of_last(last.picture)
        self.last[self._first_camera] = LastFrame(last.picture, last.path, last.size, last.sha256, cues)
        self._note_cues("end", cues)

    def _cues_of_last(self, picture: Picture) -> Mapping[str, str]:
        start = self._start
        return start.cues if start is not None and start.picture.same_as(picture) else self.make_cues(picture)

    def make_cues(self, picture: Picture) -> dict[str, str]:
        """Every cue of a picture; none where encoded bytes can't be decoded."""
        try:
            pixels = picture.array()
        except (OSError, ValueError, SyntaxError):
            return {}
        return {name: make(pixels) for name, make in self.cue_makers.items()}

    def _note_file(self, name: str, frame: str, size: int, digest: str) -> None:
        self.files[name] = {"size": size, "sha256": digest}
        self.frames[frame] = {"file": name}

    def _note_cues(self, edge: str, cues: Mapping[str, str]) -> None:
        for cue, value in cues.items():
            self.cues.setdefault(cue, {})[edge] = value

    def sync(self) -> None:
        """Makes what the tar holds so far durable."""
        if self._tar >= 0:
            with durability(os.path.join(self.folder, Layout.FRAMES)):
                os.fdatasync(self._tar)

    def abandon(self) -> None:
        """Lets go of the open file; what is on disk stays for recovery."""
        tar, self._tar = self._tar, -1
        if tar >= 0:
            let_go(tar)


def _linked(source: str, target: str) -> bool:
    # A link that was reported as failed may be there: to write into it would be to change the other's evidence.
    with contextlib.suppress(OSError):  # a file system without links, or too many of them: the frame is written again
        os.link(source, target)
        return True
    return os.path.exists(target) and os.path.samefile(source, target)


class FrameWriter:
    """The thread of one life, and the bounded queue before it.

    `reserve` then `put`; a fault of the disk is raised by the next reserve or drain, once, and the work it concerned
    is tried again after that.
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
        # The last frame of each camera waits outside the queue, for it may be the episode's end.
        room = max(1, QUEUE - 2 * cameras + 1)
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


def _fault_of(work: Callable[[], None]) -> BaseException | None:
    try:
        work()
    except BaseException as error:
        return error
    return None
