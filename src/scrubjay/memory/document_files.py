"""The files in `mine/`: listed, read, put in place whole, moved and removed.

It knows files and refuses links; it knows nothing of history. Whoever writes holds the lock of the documents.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
import unicodedata
from dataclasses import dataclass, field

from scrubjay.errors import Conflict, InvalidInput
from scrubjay.memory.disk import make_folder, storage, sync_folder, write_all
from scrubjay.memory.document_changes import digest_of
from scrubjay.memory.paths import locate, locate_new, why_refused

__all__ = ["MAX_BYTES", "DocumentFiles", "Listing"]

MAX_BYTES = 64 << 20
# A file may change twice within the clock's grain without its times telling; younger ones are read again.
_GRAIN = 50_000_000


@dataclass(frozen=True, slots=True)
class Listing:
    """What lies in a folder: documents by path, folders, and what can be no document, with the reason."""

    documents: dict[str, os.stat_result] = field(default_factory=dict)
    folders: dict[str, os.stat_result] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)


class DocumentFiles:
    """The documents under one folder. `staged` is a file on the same disk where a new content waits."""

    def __init__(self, folder: str, staged: str) -> None:
        self._folder = folder
        self._staged = staged
        self._digests: dict[str, tuple[tuple[int, ...] | None, str]] = {}
        self._read: dict[str, tuple[int, ...] | None] = {}

    def listing(self, path: str = "", *, depth: int | None = None, tidy: bool = False) -> Listing:
        """Everything below `path`, in the order of names.

        With `tidy` a name that another program wrote in another normal form of Unicode is brought to form C.
        """
        found = Listing()
        self._list(path, locate(self._folder, path), depth, tidy, found)
        return found

    def _list(self, path: str, at: str, depth: int | None, tidy: bool, found: Listing) -> None:
        try:
            names = sorted(os.listdir(at))
        except (FileNotFoundError, NotADirectoryError):
            return
        for name in names:
            if tidy:
                name = _tidied(at, name)
            inner = f"{path}/{name}" if path else name
            absolute = os.path.join(at, name)
            try:
                status = os.lstat(absolute)
            except FileNotFoundError:
                continue
            reason = why_refused(name) or _why_no_document(status)
            if reason is not None:
                found.left_out[inner] = reason
            elif stat.S_ISDIR(status.st_mode):
                found.folders[inner] = status
                if depth is None or depth > 1:
                    self._list(inner, absolute, None if depth is None else depth - 1, tidy, found)
            else:
                found.documents[inner] = status

    def status(self, path: str) -> os.stat_result | None:
        """What is at `path`, or None. Raises InvalidInput where a link is on the way."""
        try:
            return os.lstat(locate(self._folder, path))
        except (FileNotFoundError, NotADirectoryError):
            return None

    def read(self, path: str) -> bytes | None:
        """A document's bytes, or None where nothing is. Raises InvalidInput for what is no document."""
        status = self.status(path)
        self._read[path] = _key(status)
        if status is None:
            return None
        if stat.S_ISDIR(status.st_mode):
            raise InvalidInput(f"{path} is a folder")
        reason = _why_no_document(status)
        if reason is not None:
            raise InvalidInput(f"{path}: {reason}")
        absolute = os.path.join(self._folder, path)
        with storage(absolute):
            try:
                descriptor = os.open(absolute, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            except FileNotFoundError:
                return None
            with os.fdopen(descriptor, "rb") as file:
                self._read[path] = _key(os.fstat(descriptor))
                return file.read()

    def need_unchanged(self, path: str) -> None:
        """Raises Conflict where the document is not the file any more that `read` gave."""
        if _key(self.status(path)) != self._read.get(path):
            raise Conflict(f"{path} is being changed by another program: read it again, then edit")

    def digest(self, path: str, status: os.stat_result) -> str | None:
        """sha256 of a document, read only where size and times say that it may have changed."""
        key = _key(status)
        known = self._digests.get(path)
        if known is not None and known[0] == key:
            return known[1]
        content = self.read(path)
        if content is None:
            return None
        digest = digest_of(content)
        if time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns) > _GRAIN:
            self._digests[path] = (key, digest)
        return digest

    def make_way(self, path: str) -> str:
        """Makes the folders above `path`, and returns where it shall lie. Raises InvalidInput where one is a file."""
        target = locate_new(self._folder, path)
        make_folder(os.path.dirname(target))
        return target

    def stage(self, path: str, content: bytes) -> None:
        """Makes a new content of `path` durable aside, so that only names are left to change.

        Raises StorageFull with nothing changed.
        """
        target = self.make_way(path)
        status = self.status(path)
        mode = 0o644 if status is None else stat.S_IMODE(status.st_mode)
        with storage(target):
            descriptor = os.open(self._staged, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
            try:
                write_all(descriptor, content)
                os.fchmod(descriptor, mode)
                os.fsync(descriptor)
            except OSError:
                # A full disk is not made fuller by what could not be used.
                os.ftruncate(descriptor, 0)
                raise
            finally:
                os.close(descriptor)

    def unstage(self) -> None:
        """Gives back the space of a staged content that will not be used."""
        with contextlib.suppress(OSError):
            os.unlink(self._staged)

    def place(self, path: str) -> None:
        """Puts the staged content in place: a reader sees the old one or the new one, never a part."""
        target = locate(self._folder, path)
        with storage(target):
            os.replace(self._staged, target)
        sync_folder(os.path.dirname(target))

    def remove(self, path: str) -> None:
        """Removes a document. Nothing where it is gone already."""
        target = locate(self._folder, path)
        with storage(target):
            try:
                os.unlink(target)
            except FileNotFoundError:
                return
        sync_folder(os.path.dirname(target))

    def remove_folders(self, path: str) -> None:
        """Removes a folder and those in it, all of them empty."""
        below = self.listing(path).folders
        for inner in sorted([path, *below], reverse=True):
            target = locate(self._folder, inner)
            with storage(target):
                os.rmdir(target)
        sync_folder(os.path.dirname(locate(self._folder, path)))

    def move(self, old: str, new: str) -> None:
        """Moves a document or a folder to a name that is free."""
        source, target = locate(self._folder, old), self.make_way(new)
        with storage(target):
            os.rename(source, target)
        sync_folder(os.path.dirname(target))
        sync_folder(os.path.dirname(source))


def _key(status: os.stat_result | None) -> tuple[int, ...] | None:
    return None if status is None else (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _why_no_document(status: os.stat_result) -> str | None:
    if stat.S_ISLNK(status.st_mode):
        return "it is a symbolic link"
    if stat.S_ISDIR(status.st_mode):
        return None
    if not stat.S_ISREG(status.st_mode):
        return "it is no regular file"
    if status.st_size > MAX_BYTES:
        return f"it has {status.st_size} bytes; a document has at most {MAX_BYTES}"
    return None


def _tidied(folder: str, name: str) -> str:
    try:
        normal = unicodedata.normalize("NFC", name)
        target = os.path.join(folder, normal)
        if normal == name or os.path.lexists(target):
            return name
        os.rename(os.path.join(folder, name), target)
    except (OSError, ValueError):
        return name
    return normal
