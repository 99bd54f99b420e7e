"""The player's map of a world, kept as documents.

`map-<world>.md` holds the terrain as first seen, a letter a tile, each row with the episode it was last seen to grow
in: terrain comes back in every life. `working/<life>-changes.md` holds what is different in this life.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from scrubjay.errors import Conflict, NotFound
from scrubjay.models.contract import Documents
from scrubjay.models.scripted.crafter.rules import Cell

__all__ = ["SIZE", "Chart"]

SIZE = 64
_LETTERS = {
    "grass": ".", "sand": ",", "path": "_", "tree": "T", "water": "~", "stone": "#", "coal": "c", "iron": "i",
    "diamond": "D", "lava": "!", "table": "t", "furnace": "f", "plant": "p", "ore": "o",
}  # fmt: skip
_WORDS = {letter: word for word, letter in _LETTERS.items()}
_UNKNOWN = "?"
_LEGEND = (
    "terrain as first seen, a letter a tile; columns are x from 0, rows are z\n"
    f"{'  '.join(f'{letter} {word}' for letter, word in _WORDS.items())}  {_UNKNOWN} not seen\n"
)
_ROW = re.compile(r"^(\d\d) (\S{64})(?: \[(ep_\d+)\])?$", re.MULTILINE)
_CHANGE = re.compile(r"^- \((\d+), (\d+)\) is (\w+)", re.MULTILINE)


class Chart:
    """Material of every tile seen, as it is in this life."""

    def __init__(self, documents: Documents, world: str, life: int, citation: str) -> None:
        self._documents, self._world = documents, world
        self._map_path = f"map-{world}.md"
        self._changes_path = f"working/{life:04d}-changes.md"
        self._citation = citation
        self._rows: list[list[str]] = [[_UNKNOWN] * SIZE for _ in range(SIZE)]
        self._cited: list[str | None] = [None] * SIZE
        self._changes: dict[Cell, str] = {}
        self._grown = False
        self._news: list[str] = []
        self._load()

    def _load(self) -> None:
        self._take(_text(self._documents, self._map_path))
        for found in _CHANGE.finditer(_text(self._documents, self._changes_path)):
            self._changes[(int(found[1]), int(found[2]))] = found[3]
        self._is_first_change = not self._changes

    def _take(self, text: str) -> None:
        """Takes over from a stored map what is not known here."""
        self._digest = hashlib.sha256(text.encode()).hexdigest() if text else None
        for found in _ROW.finditer(text):
            row = self._rows[int(found[1])]
            if found[2] != "".join(row):
                row[:] = [known if known != _UNKNOWN else new for known, new in zip(row, found[2], strict=True)]
                newest = max(self._cited[int(found[1])] or "", found[3] or "", key=lambda ident: (len(ident), ident))
                self._cited[int(found[1])] = newest or None

    def at(self, cell: Cell) -> str | None:
        """The material of a tile; `edge` beyond the world, None where it was never seen."""
        x, z = cell
        if not (0 <= x < SIZE and 0 <= z < SIZE):
            return "edge"
        return self._changes.get(cell) or _WORDS.get(self._rows[z][x])

    def known(self, cell: Cell) -> bool:
        """True where the tile was seen, or lies beyond the edge."""
        x, z = cell
        return not (0 <= x < SIZE and 0 <= z < SIZE) or self._rows[z][x] != _UNKNOWN

    def see(self, seen: Iterable[tuple[Cell, str | None]]) -> None:
        """Takes over what the view shows: material by cell, None under a creature."""
        for cell, material in seen:
            x, z = cell
            before = self.at(cell)
            if before == "edge" or material == "edge" or material == before:
                continue
            if before is None:
                self._rows[z][x] = _LETTERS[material or "grass"]
                self._cited[z] = self._citation
                self._grown = True
            elif material is not None:
                self._changes[cell] = material
                self._news.append(f"- ({x}, {z}) is {material} [{self._citation}]\n")

    def save(self) -> None:
        """Writes what `see` added, and nothing where it added nothing."""
        if self._grown:
            self._save_map()
        if self._news:
            head = "# What is different in this life\n\n" if self._is_first_change else ""
            self._documents.append(self._changes_path, head + "".join(self._news))

    def _save_map(self) -> None:
        while True:
            try:
                self._documents.write(self._map_path, self._map_text(), expected=self._digest)
                return
            except Conflict:  # somebody who lives in this world at the same time wrote first: both maps count
                self._take(self._documents.read(self._map_path))

    def _map_text(self) -> str:
        rows = (
            f"{z:02d} {''.join(row)}" + ("" if self._cited[z] is None else f" [{self._cited[z]}]")
            for z, row in enumerate(self._rows)
        )
        return f"# Map of {self._world}\n\n```\n{_LEGEND}" + "\n".join(rows) + "\n```\n"


def _text(documents: Documents, path: str) -> str:
    try:
        return documents.read(path)
    except NotFound:
        return ""
