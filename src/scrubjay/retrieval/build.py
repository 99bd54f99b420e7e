"""Building the derived index, or bringing it up to date, in a process that nobody waits for.

`python -m scrubjay.retrieval.build DIR`. One builds at a time; a build becomes visible when it is whole. It is
silent, also where the folder vanishes under it: the index is derived, and the next query asks again.
"""

from __future__ import annotations

import contextlib
import gc
import itertools
import os
import re
import sqlite3
import sys
from collections.abc import Iterator

from scrubjay.errors import ScrubjayError
from scrubjay.memory.disk import datasync, lock_exclusive
from scrubjay.memory.layout import Layout
from scrubjay.retrieval.cache import Cache, open_cache
from scrubjay.retrieval.cache_files import folder_to_build_in, lock_file, new_file, remove_all_but, remove_file
from scrubjay.retrieval.cache_fill import Filler
from scrubjay.retrieval.cache_schema import start_building
from scrubjay.retrieval.cues import Line, is_bare, read_lines
from scrubjay.retrieval.search import DerivedFailed

__all__ = ["bring_up_to_date"]

_LOWEST_PRIORITY = 19
# Seconds: a query that adds some rows holds the lock for a part of one. What fails for longer is built anew.
_PATIENCE = 5.0
_ID = re.compile(rb'"id": ?"ep_([0-9]+)"')


def bring_up_to_date(root: str) -> bool:
    """Makes or completes the derived index of a memory. False where another process does, or nothing can be written."""
    layout = Layout(root)
    bare = is_bare(layout)
    folder = folder_to_build_in(layout, bare=bare)
    if folder is None:
        return False
    lock = lock_exclusive(lock_file(folder), wait=False)
    if lock is None:
        return False
    try:
        descriptor = os.open(layout.index, os.O_RDONLY | os.O_CLOEXEC)
        try:
            cache = open_cache(layout, descriptor, bare=bare)
            if cache is not None:
                with contextlib.closing(cache), contextlib.suppress(DerivedFailed):
                    _complete(cache, layout, bare)
                    return True
            _build(layout, folder, descriptor, bare)
            return True
        finally:
            os.close(descriptor)
    finally:
        os.close(lock)


def _complete(cache: Cache, layout: Layout, bare: bool) -> None:
    end = cache.rows_mark.offset
    behind = read_lines(layout, cache.evidence_mark.offset, bare=bare)
    cache.catch_up(itertools.takewhile(lambda line: line.place.offset < end, behind), rows=False, wait=_PATIENCE)
    cache.catch_up(read_lines(layout, end, bare=bare), wait=_PATIENCE)


def _build(layout: Layout, folder: str, descriptor: int, bare: bool) -> None:
    unfinished, path = new_file(folder)
    try:
        connection = start_building(unfinished)
        try:
            filler = Filler(connection, layout, descriptor, bare=bare)
            end = os.fstat(descriptor).st_size
            last = _last_offsets(layout, end, bare)
            filler.add(_only_last(layout, end, last, bare))
            connection.execute("PRAGMA journal_mode=WAL")
        finally:
            connection.close()
        datasync(unfinished)
        os.rename(unfinished, path)
    except BaseException:
        remove_file(unfinished)
        raise
    remove_all_but(path)


def _last_offsets(layout: Layout, end: int, bare: bool) -> dict[int, int]:
    """Where the last row of each id lies that has several."""
    seen: set[bytes] = set()
    twice: set[bytes] = set()
    with open(layout.index, "rb") as file:
        for line in file:
            for found in _ID.findall(line):
                (twice if found in seen else seen).add(found)
    if not twice:
        return {}
    places = (line.place for line in read_lines(layout, bare=bare) if line.place.offset < end)
    return {place.number: place.offset for place in places if b"%06d" % place.number in twice}


def _only_last(layout: Layout, end: int, last: dict[int, int], bare: bool) -> Iterator[Line]:
    for line in read_lines(layout, bare=bare):
        if line.place.offset >= end:
            return
        if last.get(line.place.number, line.place.offset) == line.place.offset:
            yield line


def _main() -> int:
    with contextlib.suppress(OSError):
        os.setsid()
    with contextlib.suppress(OSError):
        os.nice(_LOWEST_PRIORITY)
    # Nothing here is cyclic, and looking through so many small objects again and again costs a third of the time.
    gc.disable()
    try:
        return 0 if bring_up_to_date(sys.argv[1]) else 1
    except (OSError, sqlite3.Error, DerivedFailed, ScrubjayError):
        return 1


if __name__ == "__main__":
    raise SystemExit(_main())
