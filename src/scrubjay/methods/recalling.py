"""Parts that a recall is put together from: nothing, documents of one turn, documents of one life."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from scrubjay.errors import Conflict, NotFound
from scrubjay.memory.layout import Layout
from scrubjay.memory.records import GridRow, Row
from scrubjay.models.contract import Cells, Documents, Found
from scrubjay.retrieval.query import Query

__all__ = ["Given", "OfLife", "OfTurn", "Page", "no_cells", "nothing_found"]


@dataclass(frozen=True, slots=True)
class Page:
    """Rows that were found."""

    rows: Sequence[Row] = ()


class _NoCells:
    """The grid of a method that has none."""

    def rows(self) -> Sequence[GridRow]:
        """No cell event."""
        return ()


def nothing_found(query: Query) -> Found:
    """The answer of a method that can't be asked for episodes."""
    return Page()


def no_cells(world: str | None = None) -> Cells:
    """The grid of a method that has none."""
    return _NoCells()


@dataclass(frozen=True, slots=True)
class Given:
    """A recall of these documents, this search and this grid."""

    documents: Documents
    search: Callable[[Query], Found] = nothing_found
    cells: Callable[[str | None], Cells] = no_cells

    def find(self, query: Query) -> Found:
        """The episodes that meet the query, as far as the method can tell."""
        return self.search(query)

    def grid(self, world: str | None = None) -> Cells:
        """The cell events of a world, as far as the method keeps them."""
        return self.cells(world)


class OfTurn:
    """Documents that are gone with this object: what is written in a turn can be read in that turn alone."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def read(self, path: str) -> str:
        """The text of a document. Raises NotFound."""
        if path not in self._texts:
            raise NotFound(f"there is no document {path}: this method keeps none")
        return self._texts[path]

    def write(self, path: str, text: str, *, expected: str | None = None) -> Any:
        """Gives a document new text. Raises Conflict where `expected` is not the sha256 of its present bytes."""
        present = self._texts.get(path)
        if expected is not None and (present is None or hashlib.sha256(present.encode()).hexdigest() != expected):
            raise Conflict(f"{path} was changed meanwhile")
        self._texts[path] = text

    def append(self, path: str, text: str) -> Any:
        """Adds text at the end of a document."""
        self._texts[path] = self._texts.get(path, "") + text


class OfLife:
    """Documents of one life: all but those in `lasting` lie among its working notes, and the next life sees none."""

    def __init__(self, documents: Documents, life: int, lasting: frozenset[str]) -> None:
        self._documents, self._lasting = documents, lasting
        self._prefix = Layout.working(life).removesuffix(".md")

    def _at(self, path: str) -> str:
        if path in self._lasting or path.startswith((f"{self._prefix}-", f"{self._prefix}.")):
            return path
        return f"{self._prefix}-{path.replace('/', '-')}"

    def read(self, path: str) -> str:
        """The text of a document. Raises NotFound."""
        return self._documents.read(self._at(path))

    def write(self, path: str, text: str, *, expected: str | None = None) -> Any:
        """Gives a document new text. Raises Conflict where `expected` is not the sha256 of its present bytes."""
        return self._documents.write(self._at(path), text, expected=expected)

    def append(self, path: str, text: str) -> Any:
        """Adds text at the end of a document."""
        return self._documents.append(self._at(path), text)
