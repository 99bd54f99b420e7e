"""Keeping the derived index near the end of the index: a little is added at once, much by a process of its own.

No query waits for a build: what the derived index lacks is scanned.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time

from scrubjay.memory.layout import Layout
from scrubjay.retrieval.cache import Cache, Outdated, open_cache
from scrubjay.retrieval.query import Query
from scrubjay.retrieval.search import DerivedFailed
from scrubjay.retrieval.tail import Tail

__all__ = ["Upkeep"]

_SCANNED = 128
_ADDED_AT_ONCE = 1024
_WAIT_TO_RANK = 1.0
_PAUSE = 20.0


class Upkeep:
    """The derived index of one memory as one reader uses it."""

    def __init__(self, layout: Layout, *, bare: bool, background: bool) -> None:
        self.cache: Cache | None = None
        self._layout = layout
        self._bare = bare
        self._background = background
        self._asked_at = float("-inf")
        self._builder: int | None = None

    def prepared(self, descriptor: int, tail: Tail, query: Query, *, changed: bool) -> Cache | None:
        """The derived index, if there is one that fits, and the tail set to what it lacks."""
        self._reap()
        if self.cache is not None and not (self.cache.refresh() and (not changed or self.cache.still_fits())):
            self._close_cache()
        if self.cache is None:
            self.cache = open_cache(self._layout, descriptor, bare=self._bare)
        self._set(tail, descriptor, query, changed=changed)
        if self.cache is None:
            self._ask_for_build()
            return None
        lacking = tail.count
        if lacking is None or lacking > _ADDED_AT_ONCE:
            self._ask_for_build()
        elif lacking > _SCANNED or (lacking and query.match is not None):
            self._add(tail, query)
            self._set(tail, descriptor, query, changed=changed)
        return self.cache

    def _set(self, tail: Tail, descriptor: int, query: Query, *, changed: bool) -> None:
        start = 0
        if self.cache is not None:
            start = (self.cache.evidence_mark if query.needs_record else self.cache.rows_mark).offset
        tail.refresh(descriptor, start, changed=changed)

    def _add(self, tail: Tail, query: Query) -> None:
        assert self.cache is not None
        wait = _WAIT_TO_RANK if query.match is not None else 0.0
        try:
            self.cache.catch_up(tail.lines(), rows=not query.needs_record, evidence=query.needs_record, wait=wait)
        except Outdated:
            self.drop()
            self._ask_for_build()
        except DerivedFailed:
            return

    def drop(self) -> None:
        """Forgets and deletes the derived index: it is broken or foreign."""
        if self.cache is not None:
            self.cache.remove()
            self.cache = None

    def _close_cache(self) -> None:
        if self.cache is not None:
            self.cache.close()
            self.cache = None

    def close(self) -> None:
        """Lets go of the file."""
        self._close_cache()
        self._reap()

    # --- the process that builds

    def _ask_for_build(self) -> None:
        now = time.monotonic()
        if not self._background or self._builder is not None or now - self._asked_at < _PAUSE or not sys.executable:
            return
        self._asked_at = now
        null = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
        # -P: the folder that this runs in must not lend its modules.
        command = [sys.executable, "-P", "-m", "scrubjay.retrieval.build", self._layout.root]
        with contextlib.suppress(OSError):
            self._builder = os.posix_spawn(sys.executable, command, os.environ, file_actions=null)

    def _reap(self) -> None:
        if self._builder is not None:
            with contextlib.suppress(ChildProcessError):
                if os.waitpid(self._builder, os.WNOHANG) == (0, 0):
                    return
            self._builder = None
