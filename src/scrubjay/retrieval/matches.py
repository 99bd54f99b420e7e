"""What a query found: rows, how many there are in all, and how to go on.

It is what callers hold; how it was found it does not know.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from scrubjay.memory.records import Row

__all__ = ["Matches"]


class Matches:
    """Rows in order of time, or best first where the query ranks.

    `more` is the id to pass as `after` for the rows that follow, or None. `lines` are the rows as the index holds them.
    """

    def __init__(
        self,
        rows: Sequence[Row],
        lines: Sequence[str],
        more: str | None,
        count: Callable[[], int],
    ) -> None:
        self.rows = tuple(rows)
        self.lines = tuple(lines)
        self.more = more
        self._count = count
        self._total: int | None = None

    @property
    def total(self) -> int:
        """How many episodes match in all, this page and every other; counted when first asked for."""
        if self._total is None:
            self._total = self._count()
        return self._total

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __repr__(self) -> str:
        shown = ", ".join(row.id for row in self.rows[:3])
        return f"<Matches: {len(self.rows)} rows{f', {shown}' if shown else ''}{', …' if len(self.rows) > 3 else ''}>"
