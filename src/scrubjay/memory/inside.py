"""Paths that a memory's files name: followed only where they stay inside the memory.

It knows parts of paths and symbolic links. It opens nothing.
"""

from __future__ import annotations

import os

from scrubjay.errors import Damaged
from scrubjay.memory.layout import Layout

__all__ = ["inside"]


def inside(layout: Layout, *parts: str) -> str:
    """The absolute path of stored, slash-separated parts.

    Raises Damaged, naming the path, for an absolute part, `..`, a NUL, or a symbolic link below the memory's folder.
    """
    for part in parts:
        if not isinstance(part, str):
            raise _refused(parts, "a path is text")
        if os.path.isabs(part) or "\0" in part or ".." in part.split("/"):
            raise _refused(parts, "a path inside the memory was expected")
    path = layout.root
    for name in "/".join(parts).split("/"):
        if name in ("", "."):
            continue
        path = os.path.join(path, name)
        if os.path.islink(path):
            raise _refused(parts, f"{name!r} is a symbolic link; evidence is read from the memory's own files alone")
    return path


def _refused(parts: tuple[str, ...], why: str) -> Damaged:
    # As its text in code shows it: what is refused may hold any character.
    return Damaged(why, file=repr("/".join(map(str, parts)))[1:-1])
