"""What a query found: rows, how many there are in all, and how to go on.

It is what callers hold; how it was found it does not know.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from scrubjay.memory.records import Row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from scrubjay.retrieval.document_words import DocumentLine

__all__ = ["Matches"]


class Matches:
    """Rows in order of time, or best first where the query ranks.

    `more` is the id to pass as `after` for the rows that follow, or None. `lines` are the rows as the index holds them.
    """

    def __init__(
        self,
        lines: Sequence[bytes],
        parse: Callable[[bytes], Row],
        more: str | None,
        count: Callable[[], int],
        documents: Callable[[], tuple[DocumentLine, ...]] = tuple,
    ) -> None:
        self.more = more
        self._documents = documents
        self._lines = lines
        self._parse = parse
        self._count = count
        self._total: int | None = None

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The rows of this page."""
        return tuple(map(self._parse, self._lines))

    @property
    def lines(self) -> tuple[str, ...]:
        """The rows of this page as the index holds them: JSON, one a line."""
        return tuple(line.decode().rstrip("\r\n") for line in self._lines)

    @cached_property
    def documents(self) -> tuple[DocumentLine, ...]:
        """Where the query has words (`match`): the lines of the agent's documents that hold them, best first."""
        return self._documents()

    @property
    def total(self) -> int:
        """How many episodes match in all, this page and every other; counted when first asked for."""
        if self._total is None:
            self._total = self._count()
        return self._total

    def __len__(self) -> int:
        return len(self._lines)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __repr__(self) -> str:
        shown = ", ".join(row.id for row in self.rows[:3])
        return f"<Matches: {len(self)} rows{f', {shown}' if shown else ''}{', …' if len(self) > 3 else ''}>"
