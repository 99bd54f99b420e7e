"""Locating episodes: from a query to the rows that match it.

A Locator stays open between queries and notices by one look at the file whether the index grew or was replaced.
Whatever happens to the derived index, the answer is that of the scan.
"""

from __future__ import annotations

import functools
import os
import stat
from collections.abc import Iterator
from types import TracebackType
from typing import TYPE_CHECKING

from scrubjay.errors import Damaged, InvalidInput
from scrubjay.memory.layout import Layout, episode_number
from scrubjay.memory.records import Row
from scrubjay.retrieval.cues import is_bare, raw_line, row_of_line
from scrubjay.retrieval.matches import Matches
from scrubjay.retrieval.query import Query
from scrubjay.retrieval.scope import Surroundings
from scrubjay.retrieval.search import DerivedFailed, Found, Search
from scrubjay.retrieval.tail import Tail

if TYPE_CHECKING:
    from scrubjay.retrieval.document_words import DocumentLine
    from scrubjay.retrieval.upkeep import Upkeep

__all__ = ["Locator"]

_PAGE = 512
# An index of about 550 rows: below, reading it whole is as cheap as opening SQLite, and nothing has to be built.
_SMALL = 400_000


class Locator:
    """Finds the episodes of one memory. A memory that has no index yet has no matches.

    `small` is the size in bytes up to which an index is read whole, without a derived one; `background` says
    whether a derived one may be built by a process of its own.
    """

    def __init__(self, layout: Layout, *, small: int = _SMALL, background: bool = True) -> None:
        self.layout = layout
        self.bare = is_bare(layout)
        self.surroundings = Surroundings(layout, bare=self.bare)
        self._small = small
        self._background = background
        self._descriptor = -1
        self._state = (0, 0, 0, 0)
        self._tail = Tail(layout, bare=self.bare)
        self._evidence_tail = Tail(layout, bare=self.bare)
        self._upkeep: Upkeep | None = None

    def find(self, query: Query) -> Matches:
        """One page of the rows that match, in order of time, or best first where the query ranks.

        Raises InvalidInput for an `after` that is no id and for a bad `$SCRUBJAY_LIFE`.
        """
        _need_query(query)
        if query.after is not None:
            episode_number(query.after)
        try:
            return self._find(query, self._search(query))
        except DerivedFailed:
            self._drop()
        return self._find(query, self._search(query, derived=False))

    def iterate(self, query: Query) -> Iterator[Row]:
        """Every row that matches, page by page, so that memory stays bounded. `limit` is passed over."""
        import dataclasses

        _need_query(query)
        if query.last is not None or query.ranked:
            yield from self.find(dataclasses.replace(query, limit=None))
            return
        after: str | None = query.after
        while True:
            page = self.find(dataclasses.replace(query, limit=_PAGE, after=after))
            yield from page
            if page.more is None:
                return
            after = page.more

    @property
    def is_derived(self) -> bool:
        """True where the last query had a derived index to ask."""
        return self._upkeep is not None and self._upkeep.cache is not None

    def close(self) -> None:
        """Lets go of the files."""
        if self._upkeep is not None:
            self._upkeep.close()
            self._upkeep = None
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> Locator:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # --- one query

    def _find(self, query: Query, search: Search | None) -> Matches:
        documents = functools.partial(self._documents, query.match)
        if search is None:
            return Matches((), self._row, None, lambda: 0, documents)
        found = search.find(query)
        try:
            lines = [raw_line(self._descriptor, place) for place in found.places]
        except ValueError as error:
            raise DerivedFailed(str(error)) from error
        return Matches(lines, self._row, found.following, lambda: self._count(query, found), documents)

    def _documents(self, words: str | None) -> tuple[DocumentLine, ...]:
        if words is None:
            return ()
        from scrubjay.retrieval.document_words import search_documents

        return search_documents(self.layout, words)

    def _row(self, line: bytes) -> Row:
        return row_of_line(line, bare=self.bare)

    def _count(self, query: Query, found: Found) -> int:
        try:
            return found.counted()
        except DerivedFailed:
            search = self._search(query, derived=False)
            return 0 if search is None else search.find(query).counted()

    def _search(self, query: Query, *, derived: bool = True) -> Search | None:
        changed = self._open_index()
        if changed is None:
            return None
        cache = None
        tail = self._evidence_tail if query.needs_record else self._tail
        if derived and self._state[2] > self._small:
            if self._upkeep is None:
                from scrubjay.retrieval.upkeep import Upkeep

                self._upkeep = Upkeep(self.layout, bare=self.bare, background=self._background)
            cache = self._upkeep.prepared(self._descriptor, tail, query, changed=changed)
        else:
            tail.refresh(self._descriptor, 0, changed=changed)
        return Search(self.layout, self._descriptor, self.surroundings, tail, cache)

    def _open_index(self) -> bool | None:
        """Opens the index where it is not open yet. True where it changed since, None where there is none."""
        try:
            status = os.stat(self.layout.index)
            state = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
            if self._descriptor >= 0 and self._state[:2] == state[:2]:
                changed = self._state != state
                self._state = state
                return changed
            self.close()
            self._descriptor = os.open(self.layout.index, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            self.close()
            return None
        if stat.S_ISDIR(status.st_mode):
            raise Damaged("a folder stands where the index must be", file="index.jsonl")
        self._state = state
        return True

    def _drop(self) -> None:
        if self._upkeep is not None:
            self._upkeep.drop()


def _need_query(query: Query) -> None:
    if not isinstance(query, Query):
        raise InvalidInput(f"a Query was expected, such as Query(grep='iron'), found {query!r:.80}")
