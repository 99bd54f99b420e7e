"""Locating episodes: from a query to the rows that match it.

A Locator stays open between queries and notices by one look at the file whether the index grew or was replaced.
Whatever happens to the derived index, the answer is that of the scan.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator
from types import TracebackType

from scrubjay.memory.layout import Layout, episode_number
from scrubjay.memory.records import Row
from scrubjay.retrieval.cues import Line, Place, is_bare, line_at
from scrubjay.retrieval.matches import Matches
from scrubjay.retrieval.query import Query
from scrubjay.retrieval.scope import Surroundings
from scrubjay.retrieval.search import Found, Search
from scrubjay.retrieval.tail import Tail

__all__ = ["Locator"]

_PAGE = 512


class Locator:
    """Finds the episodes of one memory. A memory that has no index yet has no matches."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._descriptor = -1
        self._inode = (0, 0)
        self.bare = is_bare(layout)
        self.surroundings = Surroundings(layout, bare=self.bare)
        self._tail = Tail(layout, bare=self.bare)

    def find(self, query: Query) -> Matches:
        """One page of the rows that match, in order of time, or best first where the query ranks.

        Raises InvalidInput for an `after` that is no id and for a bad `$SCRUBJAY_LIFE`.
        """
        if query.after is not None:
            episode_number(query.after)
        search = self._search()
        if search is None:
            return Matches((), (), None, lambda: 0)
        found = search.find(query)
        return self._matches(found)

    def iterate(self, query: Query) -> Iterator[Row]:
        """Every row that matches, page by page, so that memory stays bounded. `limit` is passed over."""
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

    def close(self) -> None:
        """Lets go of the files."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> Locator:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _search(self) -> Search | None:
        if not self._open_index():
            return None
        self._tail.refresh(self._descriptor, 0)
        return Search(self.layout, self._descriptor, self.surroundings, self._tail, None)

    def _open_index(self) -> bool:
        try:
            status = os.stat(self.layout.index)
        except OSError:
            self.close()
            return False
        if self._descriptor < 0 or self._inode != (status.st_dev, status.st_ino):
            self.close()
            self._descriptor = os.open(self.layout.index, os.O_RDONLY | os.O_CLOEXEC)
            self._inode = (status.st_dev, status.st_ino)
        return True

    def _matches(self, found: Found) -> Matches:
        lines = [self._line(place) for place in found.places]
        return Matches([line.row for line in lines], self._raw(found.places), found.following, found.count)

    def _line(self, place: Place) -> Line:
        return line_at(self._descriptor, place, bare=self.bare)

    def _raw(self, places: list[Place]) -> list[str]:
        return [os.pread(self._descriptor, p.length, p.offset).decode().rstrip("\r\n") for p in places]
