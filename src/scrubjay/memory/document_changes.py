"""One change of the agent's documents as a record: a row of `documents.jsonl`.

It knows the form of the row; it does not know files or what came before.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass, field
from typing import Any

from scrubjay.memory.jsonio import Json
from scrubjay.memory.splices import Splice

__all__ = ["AUTHORS", "EXTERNAL", "NO_SPLICE", "Change", "digest_of"]

AUTHORS = ("agent", "person", "harness")
EXTERNAL = "external"  # operation and author of what another program did to a file
NO_SPLICE = Splice(0, b"", b"")
_KEYS = frozenset({
    "operation", "path", "to", "at", "removed", "inserted", "bytes", "before", "after", "life", "step", "author",
    "time", "undoes", "part",
})  # fmt: skip


def digest_of(content: bytes) -> str:
    """sha256 of a document's content, in hex: what `before` and `after` hold and `expected` asks for."""
    return hashlib.sha256(content).hexdigest()


@dataclass(frozen=True, slots=True)
class Change:
    """A splice in the document at `path`, or its move to `to`.

    `before` and `after` are digests of the whole content; None where there was, or is, no document. `number` counts
    the lines of the journal from 1 and is not written. `undoes` is the number of the row that this one takes back;
    `part` is (i, n) for the i-th of n rows that one operation on a folder wrote.
    """

    operation: str
    path: str
    splice: Splice
    before: str | None
    after: str | None
    life: int | None
    step: int | None
    author: str
    time: str
    to: str | None = None
    undoes: int | None = None
    part: tuple[int, int] | None = None
    number: int = 0
    extra: Json = field(default_factory=dict)

    @property
    def removed(self) -> str:
        """The text that went; what is not UTF-8 in it shows as U+FFFD."""
        return self.splice.removed.decode(errors="replace")

    @property
    def inserted(self) -> str:
        """The text that came; what is not UTF-8 in it shows as U+FFFD."""
        return self.splice.inserted.decode(errors="replace")

    def to_json(self) -> Json:
        """The object that `documents.jsonl` holds; pieces that are no text stand as base64 under `bytes`."""
        row: Json = {"operation": self.operation, "path": self.path}
        if self.to is not None:
            row["to"] = self.to
        row["at"] = self.splice.at
        try:
            row["removed"] = self.splice.removed.decode()
            row["inserted"] = self.splice.inserted.decode()
        except UnicodeDecodeError:
            pieces = {"removed": self.splice.removed, "inserted": self.splice.inserted}
            row |= {"removed": None, "inserted": None}
            row["bytes"] = {name: base64.b64encode(piece).decode() for name, piece in pieces.items()}
        for name in ("before", "after", "life", "step", "author", "time"):
            row[name] = getattr(self, name)
        if self.undoes is not None:
            row["undoes"] = self.undoes
        if self.part is not None:
            row["part"] = list(self.part)
        return {**row, **self.extra}

    @classmethod
    def from_json(cls, row: Json, number: int) -> Change:
        """Reads a row. Raises ValueError, naming the key, where it is not a change."""
        part = row.get("part")
        if part is not None and not (isinstance(part, list) and len(part) == 2 and all(map(_whole, part))):
            raise ValueError(f"part: [i, n] was expected, found {part!r:.80}")
        return cls(
            operation=_typed(row, "operation", str),
            path=_typed(row, "path", str),
            splice=_splice(row),
            before=_typed(row, "before", str, None),
            after=_typed(row, "after", str, None),
            life=_typed(row, "life", int, None),
            step=_typed(row, "step", int, None),
            author=_typed(row, "author", str, ""),
            time=_typed(row, "time", str, ""),
            to=_typed(row, "to", str, None),
            undoes=_typed(row, "undoes", int, None),
            part=None if part is None else (part[0], part[1]),
            number=number,
            extra={key: value for key, value in row.items() if key not in _KEYS},
        )


_NEEDED: Any = object()


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _typed(row: Json, key: str, kind: type, default: Any = _NEEDED) -> Any:
    value = row.get(key)
    if value is None and default is not _NEEDED:
        return default
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ValueError(f"{key}: {kind.__name__} was expected, found {value!r:.80}")
    return value


def _splice(row: Json) -> Splice:
    at = _typed(row, "at", int, 0)
    pieces = row.get("bytes")
    if pieces is not None:
        if not isinstance(pieces, dict):
            raise ValueError(f"bytes: an object was expected, found {pieces!r:.80}")
        removed, inserted = (
            base64.b64decode(_typed(pieces, name, str), validate=True) for name in ("removed", "inserted")
        )
        return Splice(at, removed, inserted)
    # "surrogatepass": a text with a lone surrogate in a row that another program wrote costs no more than itself.
    removed, inserted = (_typed(row, name, str, "").encode(errors="surrogatepass") for name in ("removed", "inserted"))
    return Splice(at, removed, inserted)
