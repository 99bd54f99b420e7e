"""Writing out a picture or a page that a person or an agent asked for: whole or not at all, and over no evidence.

It knows which files of a memory nobody may write over by naming them; it does not know what is written.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from scrubjay.errors import InvalidInput, storage_error
from scrubjay.memory.disk import storage, write_all, write_file
from scrubjay.memory.layout import Layout

__all__ = ["hand_out"]

_HANDED_OUT = (".png", ".jpg", ".jpeg", ".webp", ".html")


def hand_out(path: str, data: bytes) -> None:
    """Puts `data` into the file `path`; what stood there before stays where that fails.

    A pipe or a device (`/dev/stdout`) is written to. Raises InvalidInput where `path` is a file of a memory, its
    evidence or a document; StorageFull, StorageFailed or ReadOnly.
    """
    where = os.path.realpath(path)
    _refuse_evidence(path, where)
    if os.path.exists(path) and not os.path.isfile(path):  # the real path of a pipe is none
        _write_through(path, data)
        return
    try:
        write_file(where, data, sync_parent=False)
    except FileNotFoundError as error:  # the folder
        raise storage_error(error, path) from error


def _write_through(path: str, data: bytes) -> None:
    with storage(path):
        descriptor = os.open(path, os.O_WRONLY)
        try:
            write_all(descriptor, data)
        finally:
            os.close(descriptor)


def _refuse_evidence(path: str, where: str) -> None:
    for layout in _memories_around(where):
        inside = layout.relative(where).split("/")
        top = layout.at(inside[0])
        is_document = top == layout.mine and os.path.exists(where) and not where.lower().endswith(_HANDED_OUT)
        if top in layout.evidence or is_document:
            raise InvalidInput(f"{path} belongs to the memory {layout.root}: choose another name or folder")


def _memories_around(where: str) -> Iterator[Layout]:
    folder = os.path.dirname(where)
    while True:
        layout = Layout(folder)
        if os.path.isfile(layout.manifest) or os.path.isfile(layout.index):
            yield layout
        if folder == os.path.dirname(folder):
            return
        folder = os.path.dirname(folder)
