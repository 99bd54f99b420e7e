"""The frames of one episode on their way to disk: `start`, `end` and `frames.tar`.

It knows these files and what `episode.json` will say of them. It does not know states or rows, nor who calls it when.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tarfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from scrubjay.errors import InvalidInput, storage_error
from scrubjay.memory.disk import durability, let_go, storage, write_all
from scrubjay.memory.frames import Picture
from scrubjay.memory.jsonio import Json
from scrubjay.memory.layout import Layout

__all__ = ["HELD", "Arriving", "CueMaker", "EpisodeFrames", "LastFrame"]

# Of so many cameras the newest frame waits, for it may be the episode's end; of more it goes into the tar at once.
HELD = 4

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


@dataclass(frozen=True, slots=True)
class _Mark:
    """How the tar was before the frames of a step."""

    step: int
    size: int
    hash: Any


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
    _newest: dict[str | None, Arriving] = field(default_factory=dict)
    _before_newest: _Mark | None = None
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
        if before is None and len(self._pending) >= HELD:
            self._store_at_once(item)
            return
        if before is not None:
            self._append(before)
            if self._before_newest is not None and self._before_newest.step == item.step:
                self._before_newest = None  # it lies behind frames of this step: they stay in the tar
        self._pending[item.camera] = item

    def _store_at_once(self, item: Arriving) -> None:
        """Puts a frame that may be the last into the tar, so that it waits nowhere; `close` takes it out again."""
        if self._before_newest is None or self._before_newest.step != item.step:
            digest = hashlib.sha256() if self._tar_hash is None else self._tar_hash.copy()
            self._before_newest = _Mark(item.step, self._tar_size, digest)
        self._append(item)
        self._newest[item.camera] = item

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
        for item in self._newest.values():
            if item.step == last_step:
                self._store_end(item)
        self._shorten_tar(last_step)
        for camera, item in list(self._pending.items()):
            if item.step != last_step:
                self._append(item)
            else:
                self._store_end(item)
            del self._pending[camera]
        path = os.path.join(self.folder, Layout.FRAMES)
        if self._tar >= 0 and self._tar_size == 0:
            with storage(path):
                os.unlink(path)
            self.abandon()
        if self._tar >= 0:
            with storage(path):
                os.ftruncate(self._tar, self._tar_size)
            self._extend(bytes(1024), path)
            self.files[Layout.FRAMES] = {"size": self._tar_size, "sha256": self._tar_hash.hexdigest()}
            self.abandon()

    def _shorten_tar(self, last_step: int) -> None:
        """Takes the last observation's frames off the tar's end: they are stored as `end`."""
        mark, self._before_newest = self._before_newest, None
        if mark is not None and mark.step == last_step:
            with storage(os.path.join(self.folder, Layout.FRAMES)):
                os.ftruncate(self._tar, mark.size)
                os.lseek(self._tar, mark.size, os.SEEK_SET)
            self._tar_size, self._tar_hash = mark.size, mark.hash

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
