"""What `documents.jsonl` says: who changed which document, and its content after any change.

It reads the journal, only what is new in it, and rebuilds contents from splices. It never looks at the documents
themselves and writes nothing.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from scrubjay.errors import Damaged, NotFound
from scrubjay.memory import journal
from scrubjay.memory.document_changes import Change, digest_of
from scrubjay.memory.splices import Splice

__all__ = ["History", "Mark"]


@dataclass(frozen=True, slots=True)
class Mark:
    """A row's place in the journal, with what is needed to follow documents without their texts."""

    number: int
    offset: int
    length: int
    operation: str
    path: str
    to: str | None
    before: str | None
    after: str | None
    undoes: int | None
    part: tuple[int, int] | None


class History:
    """The journal of changes, read as far as it is known; `refresh` reads on.

    `heads` maps every document that there is to the last change of it.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._mutex = threading.RLock()
        self._forget()

    def _forget(self) -> None:
        self.heads: dict[str, Mark] = {}
        self.marks: dict[int, Mark] = {}
        self.is_torn = False  # no newline at the end of the journal
        self.end = 0  # byte after the last whole line read
        self._count = 0
        self._touching: dict[str, list[Mark]] = {}
        self._file: tuple[int, int] | None = None
        self._last_line = b""

    def refresh(self) -> None:
        """Takes in the rows that are new. A journal that was replaced or cut is read from its beginning."""
        with self._mutex:
            if not self._continues():
                self._forget()
                self._continues()
            last, self.is_torn = None, False
            for line in journal.read(self._path, self.end):
                if isinstance(line, journal.Broken) and line.tail:
                    self.is_torn = True
                    break
                self._count += 1  # a broken line keeps its number, so that the others keep theirs
                self.end = line.offset + line.length
                last = line
                if isinstance(line, journal.Entry):
                    self._take(line)
            if last is not None:
                self._last_line = self._bytes(last.offset, last.length)

    def _continues(self) -> bool:
        try:
            found = os.stat(self._path)
        except FileNotFoundError:
            return self.end == 0
        same = self._file == (found.st_dev, found.st_ino) and found.st_size >= self.end
        self._file = (found.st_dev, found.st_ino)
        return same and self._bytes(self.end - len(self._last_line), len(self._last_line)) == self._last_line

    def _bytes(self, offset: int, length: int) -> bytes:
        if length == 0:
            return b""
        with open(self._path, "rb") as file:
            file.seek(offset)
            return file.read(length)

    def _take(self, line: journal.Entry) -> None:
        try:
            change = Change.from_json(line.row, self._count)
        except ValueError:
            return  # a row of a later version, or damage that `check` names: it costs itself
        mark = Mark(
            change.number, line.offset, line.length, change.operation, change.path, change.to, change.before,
            change.after, change.undoes, change.part,
        )  # fmt: skip
        self.marks[mark.number] = mark
        self._touching.setdefault(mark.path, []).append(mark)
        self.heads.pop(mark.path, None)
        if mark.to is not None:
            self._touching.setdefault(mark.to, []).append(mark)
            self.heads[mark.to] = mark
        elif mark.after is not None:
            self.heads[mark.path] = mark

    def marks_from(self, offset: int) -> list[Mark]:
        """The changes whose rows begin at or after this byte of the journal."""
        return list(itertools.takewhile(lambda mark: mark.offset >= offset, reversed(self.marks.values())))[::-1]

    def last_operation(self) -> list[Mark]:
        """The change made last, with the others that the same operation made."""
        return self.operation_of(next(reversed(self.marks.values()), None))

    def operation_of(self, mark: Mark | None) -> list[Mark]:
        """All the changes of the operation that made this one, in their order."""
        if mark is None:
            return []
        first, count = (mark.number, 1) if mark.part is None else (mark.number - mark.part[0] + 1, mark.part[1])
        return [self.marks[number] for number in range(first, first + count) if number in self.marks]

    def change(self, number: int) -> Change:
        """The whole row. Raises NotFound."""
        mark = self.marks.get(number)
        if mark is None:
            raise NotFound(f"there is no change {number}; there are {self._count}")
        return next(self.changes([mark]))

    def changes(self, marks: Iterable[Mark]) -> Iterator[Change]:
        """The whole rows at these marks."""
        marks = list(marks)
        if not marks:
            return  # there may be no journal yet
        with open(self._path, "rb") as file:
            for mark in marks:
                try:
                    yield Change.from_json(journal.row_at(file.fileno(), mark.offset, mark.length), mark.number)
                except ValueError as error:
                    raise self._damaged(mark, str(error)) from None

    def lineage(self, path: str) -> list[tuple[str, Mark]]:
        """The changes of the document that is, or was, at `path`, oldest first, each with its name at that time.

        A document that was moved here is followed back through its earlier names.
        """
        found: list[tuple[str, Mark]] = []
        name, limit = path, self._count
        while True:
            for mark in reversed(self._touching.get(name, [])):
                if mark.number > limit:
                    continue
                found.append((name, mark))
                if mark.to == name:
                    name, limit = mark.path, mark.number - 1
                    break
            else:
                return found[::-1]

    def number_of(self, path: str, at: int | str) -> int:
        """The number of the change that `at` means: itself, or the newest that left a content of this digest.

        A digest may be cut to its first 8 characters. Raises NotFound.
        """
        if isinstance(at, int):
            if not 0 <= at <= self._count:
                raise NotFound(f"there is no change {at}; there are {self._count}")
            return at
        if len(at) >= 8:
            for _, mark in reversed(self.lineage(path)):
                if mark.after is not None and mark.after.startswith(at):
                    return mark.number
        raise NotFound(f"{path} never had a content of digest {at!r} (the first 8 characters are needed at least)")

    def content(self, path: str, upto: int | None = None) -> bytes | None:
        """The document's content after change `upto` (default: the last), or None where it was not there.

        Raises Damaged where a lost or broken row makes it impossible to tell.
        """
        lineage = [(name, mark) for name, mark in self.lineage(path) if upto is None or mark.number <= upto]
        if not lineage:
            return None
        name, last = lineage[-1]
        if last.after is None or (last.to is not None and last.to != name):
            return None
        begun = next((at for at in reversed(range(len(lineage))) if lineage[at][1].before is None), None)
        if begun is None:
            raise self._damaged(lineage[0][1], f"the row that created {path} is lost")
        content, digest = b"", None
        marks = [mark for _, mark in lineage[begun:]]
        for mark, change in zip(marks, self.changes(marks), strict=True):
            if mark.before != digest:
                raise self._damaged(mark, f"a change of {path} before this row is lost")
            content, digest = self._applied(mark, change.splice, content), mark.after
        if digest_of(content) != digest:
            raise self._damaged(last, f"the rows up to here do not give the content of {path} that it names")
        return content

    def content_before(self, path: str, content: bytes, upto: int) -> bytes | None:
        """As `content(path, upto)`, but told backwards from the content after the last change.

        Raises Damaged where a row on the way is lost or broken.
        """
        digest: str | None = digest_of(content)
        marks = [mark for _, mark in reversed(self.lineage(path))]
        for mark, change in zip(marks, self.changes(marks), strict=True):
            if mark.after != digest:
                raise self._damaged(mark, f"a change of {path} after this row is lost")
            if mark.number <= upto:
                return content
            content, digest = self._applied(mark, change.splice.inverse, content), mark.before
        return None

    def _applied(self, mark: Mark, splice: Splice, content: bytes) -> bytes:
        try:
            return splice.apply(content)
        except ValueError as error:
            raise self._damaged(mark, str(error)) from None

    def _damaged(self, mark: Mark, message: str) -> Damaged:
        return Damaged(message, file=os.path.basename(self._path), offset=mark.offset)
