"""Where the derived index of a memory lies: in its `.cache/`, or in the user's where that can't be written.

Each build has a file name of its own, since the write-ahead log of a replaced file must never meet its successor.
"""

from __future__ import annotations

import contextlib
import os
import time
import zlib

from scrubjay.memory.layout import Layout
from scrubjay.retrieval.cache_schema import SCHEMA

__all__ = ["current_files", "folder_to_build_in", "lock_file", "new_file", "remove_all_but", "remove_file"]

_PREFIX = f"index-{SCHEMA}-"
_SUFFIX = ".sqlite"
_COMPANIONS = ("-wal", "-shm", "-journal")


def _folders(layout: Layout, bare: bool) -> list[str]:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    name = f"{os.path.basename(layout.root)}-{zlib.crc32(os.fsencode(layout.root)):08x}"
    own = os.path.join(base, "scrubjay", name)
    # A published folder is read and never written to.
    return [own] if bare else [layout.cache, own]


def current_files(layout: Layout, *, bare: bool) -> list[str]:
    """The newest index in each folder that may hold one."""
    found = []
    for folder in _folders(layout, bare):
        names = _names(folder)
        if names:
            found.append(os.path.join(folder, names[-1]))
    return found


def _names(folder: str) -> list[str]:
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return sorted(name for name in names if name.startswith(_PREFIX) and name.endswith(_SUFFIX))


def folder_to_build_in(layout: Layout, *, bare: bool) -> str | None:
    """The first folder that can be written, made where it is not there; None where there is none."""
    for folder in _folders(layout, bare):
        with contextlib.suppress(OSError):
            os.makedirs(folder, mode=0o700, exist_ok=True)
            probe = os.path.join(folder, f".probe-{os.getpid()}")
            os.close(os.open(probe, os.O_WRONLY | os.O_CREAT, 0o600))
            os.unlink(probe)
            return folder
    return None


def lock_file(folder: str) -> str:
    """What a builder holds flock on."""
    return os.path.join(folder, "index.lock")


def new_file(folder: str) -> tuple[str, str]:
    """Names for a build: while it is made, and when it is whole."""
    name = f"{_PREFIX}{time.time_ns():020d}{_SUFFIX}"
    return os.path.join(folder, f"{name}.building"), os.path.join(folder, name)


def remove_file(path: str) -> None:
    """Removes an index and what SQLite keeps beside it."""
    for companion in ("", *_COMPANIONS):
        with contextlib.suppress(OSError):
            os.unlink(path + companion)


def remove_all_but(path: str) -> None:
    """Removes every other build beside this one, unfinished ones too."""
    folder, kept = os.path.split(path)
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            if name.startswith("index-") and not name.startswith(kept):
                with contextlib.suppress(OSError):
                    os.unlink(os.path.join(folder, name))
