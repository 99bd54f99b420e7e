"""Whether one episode matches: the conditions of a query put together, the cheap ones first.

It reads of an episode no more than its query asks for: the row, then its text, then its record.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from scrubjay.memory.layout import Layout
from scrubjay.retrieval.cues import Line, Place
from scrubjay.retrieval.predicates import cells_predicate, row_predicate, screen_matches, text_predicate
from scrubjay.retrieval.query import Query
from scrubjay.retrieval.scope import Scope

if TYPE_CHECKING:
    from scrubjay.retrieval.text import Texts

__all__ = ["Judge"]


class Judge:
    """Judges lines for one query, one scope and one open index file."""

    def __init__(self, query: Query, scope: Scope, layout: Layout, texts: Callable[[], Texts], descriptor: int) -> None:
        self._query = query
        self._layout = layout
        self._texts = texts
        self._descriptor = descriptor
        self.by_row = row_predicate(query, scope)
        self._text_holds = text_predicate(query)
        self._cells_reach = None if query.through is None else cells_predicate(query, scope)

    def matches(self, line: Line) -> bool:
        """True where the episode meets every condition. Rank is not one."""
        return self.by_row(line.row) and self.by_text(line.place) and self.by_record(line)

    def by_text(self, place: Place) -> bool:
        """True where the searched text of the episode whose row lies there holds what is asked for."""
        return self._text_holds is None or self._text_holds(self._texts().of(place, self._descriptor))

    def by_record(self, line: Line) -> bool:
        """True where the episode's record meets the conditions on walked cells and on screens."""
        if self._cells_reach is None and self._query.same_screen is None:
            return True
        from scrubjay.retrieval.recorded import read_recorded

        recorded = read_recorded(self._layout, line.place.number)
        if self._cells_reach is not None and not self._cells_reach(recorded.cells):
            return False
        return self._query.same_screen is None or screen_matches(self._query, line.row, recorded.screens)
