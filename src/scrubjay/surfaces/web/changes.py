"""Changes of a document as differences of lines, told backwards from its present content.

It knows splices and lines. Where a change came from it does not ask.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scrubjay.memory.document_changes import Change, digest_of

__all__ = ["ChangeView", "Line", "told"]

_CONTEXT = 2
_MOST_LINES = 120
_MOST_COMPARED = 600


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a difference: `added`, `removed` or `same`."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class ChangeView:
    """A change with its lines; `left_out` of them had no room."""

    change: Change
    lines: Sequence[Line]
    left_out: int = 0

    @property
    def counts(self) -> tuple[int, int]:
        """How many lines came, and how many went, of those shown."""
        kinds = [line.kind for line in self.lines]
        return (kinds.count("added"), kinds.count("removed"))


def told(changes: Sequence[Change], present: bytes | None) -> Iterator[ChangeView]:
    """The changes, newest first, with lines around each; `changes` end with the one that left `present`.

    Where the contents don't follow from each other (a row was lost), a change shows what its splice says alone.
    """
    content = present
    for change in reversed(changes):
        before: bytes | None = None
        if content is not None and digest_of(content) == change.after:
            before = _before(change, content)
        elif change.after is None:
            before = _before(change, b"")
        lines = _alone(change) if before is None else _lines(change, before)
        yield ChangeView(change, lines[:_MOST_LINES], max(0, len(lines) - _MOST_LINES))
        content = before


def _before(change: Change, content: bytes) -> bytes | None:
    try:
        return change.splice.inverse.apply(content)
    except ValueError:
        return None


def _alone(change: Change) -> list[Line]:
    pieces = (("removed", change.removed), ("added", change.inserted))
    return [Line(kind, line) for kind, piece in pieces for line in piece.splitlines()]


def _lines(change: Change, before: bytes) -> list[Line]:
    splice = change.splice
    start = before.rfind(b"\n", 0, splice.at) + 1
    end = before.find(b"\n", splice.at + len(splice.removed))
    end = len(before) if end < 0 else end + 1
    old = before[start:end]
    new = before[start : splice.at] + splice.inserted + before[splice.at + len(splice.removed) : end]
    above = _texts(before[:start])[-_CONTEXT:]
    below = _texts(before[end : end + 4000])[:_CONTEXT]
    found = [Line("same", text) for text in above]
    found += _compared(_texts(old), _texts(new))
    return found + [Line("same", text) for text in below]


def _compared(old: list[str], new: list[str]) -> Iterator[Line]:
    if len(old) + len(new) > _MOST_COMPARED:  # comparing takes time that grows with the product
        yield from (Line("removed", text) for text in old)
        yield from (Line("added", text) for text in new)
        return
    for what, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what == "equal":
            yield from (Line("same", text) for text in old[a:b])
        else:
            yield from (Line("removed", text) for text in old[a:b])
            yield from (Line("added", text) for text in new[c:d])


def _texts(content: bytes) -> list[str]:
    return content.decode(errors="replace").splitlines()
