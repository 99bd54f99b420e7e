"""Keeping a coding agent's hands off the evidence: what was recorded is compared, restored and reported.

The agent runs as the same user as we do, so permissions alone bind it little. A copy of every recorded file lies in a
nameless file; before and after each turn all of them are compared, by what the system says of a file first, by digest
where that changed. It knows files of a memory by kind: those that grow (journals, logs) and those that never change.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from scrubjay.agent.spool import Spool
from scrubjay.memory import folder
from scrubjay.memory.disk import exclusive, let_go, lock_exclusive, sync_folder, write_file
from scrubjay.memory.layout import Layout

__all__ = ["Guard"]

_CHUNK = 1 << 20

_Signature = tuple[int, int, int, int]


@dataclass(slots=True)
class _Kept:
    """A recorded file as it must be: where its copy lies, its digest, and what the system said of it when it was so."""

    grows: bool
    signature: _Signature
    pieces: list[tuple[int, int]]
    digest: Any
    size: int


class Guard:
    """Guards the evidence of one memory while an agent lives one life in it.

    `keep` takes in what was recorded since, `restore` puts back what was changed or removed and returns a line on
    each. Finished episodes are made read-only meanwhile; `close` undoes that. What the agent's commands and other
    lives add is left.
    """

    def __init__(self, layout: Layout, life: int) -> None:
        self._layout, self.life = layout, life
        self._spool = Spool(os.path.dirname(layout.root))
        self._kept: dict[str, _Kept] = {}
        self._folders: dict[str, None] = {}
        self._sealed: set[str] = set()
        self._is_running = folder.is_running(layout, life)  # an ended one may be consolidated
        self._lock: int | None = None
        self._carried_out = b""  # which edits of documents are done stands in the lock of the documents

    @property
    def size(self) -> int:
        """Bytes of the copy."""
        return self._spool.size

    def kept_size(self, path: str) -> int:
        """How much of a file was there when it was last kept."""
        return self._kept[path].size if path in self._kept else 0

    @property
    def episodes(self) -> set[str]:
        """The ids of the episodes it keeps."""
        return {os.path.basename(path) for path in self._sealed}

    # --- taking in

    def keep(self) -> None:
        """Takes in what was recorded since the last time. Raises StorageFull."""
        layout = self._layout
        for one in (layout.root, layout.mine, layout.lives_folder, layout.episodes_folder, layout.locks):
            self._keep_folder(one)
        self._carried_out = _read_from(layout.lock_of(layout.mine), 0) or self._carried_out
        for path in self._growing():
            self._keep_file(path, True)
        for path in (layout.manifest, layout.agents_guide, *_files_below(layout.adapters)):
            self._keep_file(path, False)
        for path in self._new_episodes():
            self._keep_folder(os.path.dirname(path))
            self._keep_folder(path)
            for name in sorted(os.listdir(path)):
                if not name.startswith("."):
                    self._keep_file(os.path.join(path, name), False)
                    _seal(os.path.join(path, name))
                    self._note(os.path.join(path, name))
            _seal(path)
            self._sealed.add(path)

    def _growing(self) -> Iterator[str]:
        layout = self._layout
        yield from (layout.index, layout.grid, layout.lives, layout.worlds, layout.inspections)
        yield from (layout.documents_journal, layout.procedures_journal)
        for name in _names(layout.lives_folder):
            if name.isdigit():
                self._keep_folder(layout.life(int(name)))
                self._keep_file(layout.life_lock(int(name)), False)
                yield from (layout.begun(int(name)), layout.turns(int(name)), layout.log(int(name)))

    def _new_episodes(self) -> Iterator[str]:
        """Folders of finished episodes that are not kept yet."""
        top = self._layout.episodes_folder
        for bucket in _names(top):
            for name in _names(os.path.join(top, bucket)):
                path = os.path.join(top, bucket, name)
                if path not in self._sealed and os.path.isfile(os.path.join(path, Layout.EPISODE_RECORD)):
                    yield path

    def _keep_folder(self, path: str) -> None:
        if os.path.isdir(path):
            self._folders.setdefault(path)

    def _keep_file(self, path: str, grows: bool) -> None:
        kept = self._kept.get(path)
        try:
            status = os.lstat(path)
        except FileNotFoundError:
            return
        if not stat.S_ISREG(status.st_mode) or (kept is not None and (not grows or status.st_size == kept.size)):
            return
        if kept is None:
            kept = self._kept[path] = _Kept(grows, _signature(status), [], hashlib.sha256(), 0)
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            kept.signature = _signature(os.fstat(descriptor))
            piece = self._spool.add(descriptor, kept.size, kept.digest)
        finally:
            let_go(descriptor)
        kept.pieces.append(piece)
        kept.size += piece[1]

    def _note(self, path: str) -> None:
        self._kept[path].signature = _signature(os.lstat(path))

    # --- putting back

    def restore(self) -> list[str]:
        """Puts back what is not as it was; a line on each file, folder or lock that had to be."""
        said, parents = [], set[str]()
        for path in sorted(self._folders):
            if not _is_folder(path):
                _clear(path)
                os.mkdir(path)
                parents.add(os.path.dirname(path))
                said.append(f"restored {self._layout.relative(path)}: the folder was gone or replaced")
            elif path in self._sealed:
                _seal(path)
            else:
                _need_access(path)
        note = self._layout.lock_of(self._layout.mine)
        if self._carried_out and not os.path.lexists(note):
            write_file(note, self._carried_out)
            said.append(f"restored {self._layout.relative(note)}: it was removed")
        for path, kept in self._kept.items():
            why = self._why_not(path, kept)
            if why:
                self._put_back(path, kept)
                parents.add(os.path.dirname(path))
                said.append(f"restored {self._layout.relative(path)}: {why}")
        for path in parents:
            sync_folder(path)
        if said:  # what is derived may have been derived from what was false
            shutil.rmtree(self._layout.cache, ignore_errors=True)
        return said + self._lock_again()

    def _why_not(self, path: str, kept: _Kept) -> str:
        """What is wrong with a file, by its signature first; empty where nothing is."""
        try:
            status = os.lstat(path)
        except OSError:
            return "it was removed"
        if _signature(status) == kept.signature:
            return ""
        if not stat.S_ISREG(status.st_mode):
            return "it was replaced by something that is no file"
        if status.st_size < kept.size or (not kept.grows and status.st_size > kept.size):
            return f"{kept.size} bytes were recorded, {status.st_size} found"
        if _digest_of(path, kept.size) != kept.digest.digest():
            return "its content was changed"
        if os.path.dirname(path) in self._sealed:
            _seal(path)
            status = os.lstat(path)
        kept.signature = _signature(status)
        return ""

    def _put_back(self, path: str, kept: _Kept) -> None:
        """The recorded bytes under the file's name again; what was added behind them since stays."""
        parent = os.path.dirname(path)
        sealed = parent in self._sealed
        if sealed:
            _unseal(parent)
        # Others append to a journal under the same lock: what they add is read and written back within it.
        with exclusive(self._layout.lock_of(path)) if kept.grows else contextlib.nullcontext():
            added = _read_from(path, kept.size) if kept.grows else b""
            _clear(path, keep_file=True)
            recorded = b"".join(piece for place in kept.pieces for piece in self._spool.read(*place))
            write_file(path, recorded + added, sync_parent=False)
        if sealed:
            _seal(path)
            _seal(parent)
        self._note(path)

    def _lock_again(self) -> list[str]:
        """A life that runs goes on: where its lock was removed or replaced, holds the one that is there now."""
        path = self._layout.life_lock(self.life)
        if not self._is_running or folder.is_running(self._layout, self.life):
            return []
        if self._lock is not None:
            let_go(self._lock)
        self._lock = lock_exclusive(path, wait=False)
        return [f"held {self._layout.relative(path)} again: the lock of the running life was removed or replaced"]

    # --- the end

    def close(self) -> None:
        """Makes finished episodes writable for their owner again, and lets go of the copy and the lock."""
        for path in self._sealed:
            with contextlib.suppress(OSError):
                _unseal(path)
                for name in os.listdir(path):
                    _unseal(os.path.join(path, name))
        if self._lock is not None:
            let_go(self._lock)
            self._lock = None
        self._spool.close()


def _signature(status: os.stat_result) -> _Signature:
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _names(path: str) -> list[str]:
    try:
        return sorted(os.listdir(path))
    except (FileNotFoundError, NotADirectoryError):
        return []


def _files_below(path: str) -> Iterator[str]:
    for at, _, names in os.walk(path):
        yield from (os.path.join(at, name) for name in sorted(names) if not name.startswith("."))


def _is_folder(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def _seal(path: str) -> None:
    """Readable for us, and writable for nobody."""
    status = os.lstat(path)
    mode = stat.S_IMODE(status.st_mode)
    sealed = (mode | (0o500 if stat.S_ISDIR(status.st_mode) else 0o400)) & ~0o222
    if mode != sealed:
        os.chmod(path, sealed)


def _unseal(path: str) -> None:
    os.chmod(path, stat.S_IMODE(os.lstat(path).st_mode) | 0o200)


def _need_access(path: str) -> None:
    mode = stat.S_IMODE(os.lstat(path).st_mode)
    if mode & 0o700 != 0o700:
        os.chmod(path, mode | 0o700)


def _clear(path: str, *, keep_file: bool = False) -> None:
    """Makes room for a name; a plain file stays where it will be replaced as a whole."""
    if _is_folder(path):
        shutil.rmtree(path)
    elif os.path.lexists(path) and not (keep_file and stat.S_ISREG(os.lstat(path).st_mode)):
        os.unlink(path)


def _read_from(path: str, start: int) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return b""
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return b""
        with open(descriptor, "rb", closefd=False) as file:
            file.seek(start)
            return file.read()
    finally:
        let_go(descriptor)


def _digest_of(path: str, size: int) -> bytes:
    """The digest of the first `size` bytes; of nothing where it can't be read."""
    digest = hashlib.sha256()
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return b""
    with open(descriptor, "rb", buffering=0) as file:
        while size > 0 and (data := file.read(min(_CHUNK, size))):
            digest.update(data)
            size -= len(data)
    return digest.digest()
