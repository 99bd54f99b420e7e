"""Changing documents so that file and history always fit: who may write now, in which order, and what a crash left.

Under one lock: what another program did to the file becomes a row of its own; the new content is made durable aside;
the row is appended (from here on the change is made); the content takes its name; the lock file notes how much of the
journal is carried out. A process that dies before the row has changed nothing; one that dies after it left rows
beyond that note, which the next writer carries out.

It knows rows and files; it does not know what an edit means.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

from scrubjay.errors import Conflict, Damaged, InvalidInput, ReadOnly, ScrubjayError
from scrubjay.memory import journal
from scrubjay.memory.disk import exclusive, make_folder, storage
from scrubjay.memory.document_changes import AUTHORS, EXTERNAL, NO_SPLICE, Change, digest_of
from scrubjay.memory.document_files import MAX_BYTES, DocumentFiles
from scrubjay.memory.document_history import History, Mark
from scrubjay.memory.layout import Layout
from scrubjay.memory.splices import Splice, splice_between

__all__ = ["Context", "DocumentStore"]

Context = Callable[[], tuple[int | None, int | None]]


class DocumentStore:
    """The documents of one memory with their journal. `context` gives the life and step that changes happen in."""

    def __init__(self, layout: Layout, read_only: bool, context: Context) -> None:
        self._layout = layout
        self._read_only = read_only
        self._context = context
        self._lock = layout.lock_of(layout.mine)
        self._mutex = threading.RLock()
        self._busy = False
        self.files = DocumentFiles(layout.mine, self._lock + ".staged")
        self.history = History(layout.documents_journal)

    @property
    def read_only(self) -> bool:
        """True where nothing may be written."""
        return self._read_only

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """The only writer of these documents, in any process, with nothing unfinished. Raises ReadOnly."""
        if self._read_only:
            raise ReadOnly(f"{self._layout.mine}: this memory is open read-only")
        with self._mutex:
            if self._busy:
                raise Conflict("a document is being edited here: finish that before the next change")
            self._busy = True
            try:
                make_folder(self._layout.locks)
                with exclusive(self._lock):
                    make_folder(self._layout.mine)
                    self._read_on()
                    self._carry_out()
                    yield
            finally:
                self._busy = False

    def _read_on(self) -> None:
        self.history.refresh()
        if self.history.is_torn:
            # Fenced now, not with the next row: where only its newline was missing it is a row that counts.
            path = self._layout.documents_journal
            journal.append_lines(path, self._layout.lock_of(path), b"")
            self.history.refresh()

    # --- changes

    def put(self, operation: str, path: str, old: bytes | None, new: bytes | None, author: str, **more: Any) -> Change:
        """Makes `new` the content of `path` (None: no document), where `old` is what is there. Returns its row.

        Raises Conflict where another program changes the file at this moment; its change is the one that stays.
        """
        if old == new and path in self.history.heads:
            return self.history.change(self.history.heads[path].number)
        if new is not None and len(new) > MAX_BYTES:
            raise InvalidInput(f"{path}: {len(new)} bytes; a document has at most {MAX_BYTES}")
        row = self.row(operation, path, old, new, author, **more)
        try:
            if new is not None:
                self.files.stage(path, new)
            self.files.need_unchanged(path)
            return self.commit([row], lambda: self._carry(path, new is None))[0]
        except BaseException:
            self.files.unstage()
            raise

    def _carry(self, path: str, gone: bool) -> None:
        self.files.need_unchanged(path)
        if gone:
            self.files.remove(path)
        else:
            self.files.place(path)

    def row(self, operation: str, path: str, old: bytes | None, new: bytes | None, author: str, **more: Any) -> Change:
        """The row that says this change, at this time, in this life."""
        splice = NO_SPLICE if old == new else splice_between(old or b"", new or b"")
        before = None if old is None else digest_of(old)
        return self._row(operation, path, splice, before, None if new is None else digest_of(new), author, **more)

    def moved(self, operation: str, old: str, new: str, digest: str | None, author: str, **more: Any) -> Change:
        """The row that says that the document `old`, whose content has this digest, is now `new`."""
        return self._row(operation, old, NO_SPLICE, digest, digest, author, to=new, **more)

    def _row(
        self, operation: str, path: str, splice: Splice, before: str | None, after: str | None, author: str, **more: Any
    ) -> Change:
        if author not in (*AUTHORS, EXTERNAL):
            raise InvalidInput(f"author {author!r}: one of {', '.join(AUTHORS)} was expected")
        life, step = self._context()
        now = datetime.now(UTC).isoformat(timespec="microseconds")
        return Change(operation, path, splice, before, after, life, step, author, now, **more)

    def commit(self, rows: list[Change], carry_out: Callable[[], None]) -> list[Change]:
        """Appends the rows, then does to the files what they say."""
        if not rows:
            carry_out()
            return []
        path = self._layout.documents_journal
        offset = journal.append(path, self._layout.lock_of(path), [row.to_json() for row in rows])
        self.history.refresh()
        made = self.history.marks_from(offset)
        try:
            carry_out()
        except ScrubjayError:
            self._take_back(made)
            raise
        self._note_carried_out()
        return list(self.history.changes(made))

    def _take_back(self, marks: list[Mark]) -> None:
        # A folder that refuses the name must not stop everyone who writes later: further rows say what is there.
        for mark in marks:
            for path in filter(None, (mark.path, mark.to)):
                with contextlib.suppress(InvalidInput):
                    self.take_over(path)
        self._note_carried_out()

    # --- what another program did

    def take_over(self, path: str) -> bytes | None:
        """The content of `path` now; where no row tells how it came to be, one is written first."""
        content = self.files.read(path)
        head = self.history.heads.get(path)
        if (None if content is None else digest_of(content)) != (None if head is None else head.after):
            self.commit([self._external(path, content)], _nothing)
        return content

    def sync(self) -> list[Change]:
        """Takes over everything that another program did in `mine/`, moves recognised by their content."""
        found = self.files.listing(tidy=True)
        digests = {path: self.files.digest(path, status) for path, status in found.documents.items()}
        heads = self.history.heads
        gone = [path for path in heads if path not in digests and not _is_left_out(path, found.left_out)]
        rows = []
        for path, digest in digests.items():
            head = heads.get(path)
            if digest is None or (head is not None and head.after == digest):
                continue
            source = next((old for old in gone if head is None and heads[old].after == digest), None)
            if source is not None:
                gone.remove(source)
                rows.append(self.moved(EXTERNAL, source, path, digest, EXTERNAL))
            else:
                rows.append(self._external(path, self.files.read(path)))
        rows += [self._external(path, None) for path in gone]
        return self.commit(rows, _nothing)

    def _external(self, path: str, content: bytes | None) -> Change:
        try:
            known = self.history.content(path)
        except Damaged:
            known = None  # how it came to this can't be told any more: the row begins anew
        return self.row(EXTERNAL, path, known, content, EXTERNAL)

    # --- after a crash

    def _carry_out(self) -> None:
        noted = self._noted()
        if noted == self.history.end:
            return
        if noted is None or noted > self.history.end:
            # The note is lost, or the journal is an older copy: only the last operation can be unfinished.
            marks = self.history.last_operation()
        else:
            marks = self.history.marks_from(noted)
        for mark in marks:
            if mark.operation != EXTERNAL:
                try:
                    self._carry_out_one(mark)
                except (ScrubjayError, ValueError):  # a link in the way, a folder without permission, a changed file
                    self._take_back([mark])
        self._note_carried_out()

    def _carry_out_one(self, mark: Mark) -> None:
        content = self.files.read(mark.path)
        digest = None if content is None else digest_of(content)
        if mark.to is not None:
            if digest == mark.after and self.files.status(mark.to) is None:
                self.files.move(mark.path, mark.to)
        elif digest == mark.before and digest != mark.after:
            if mark.after is None:
                self.files.remove(mark.path)
                return
            self.files.stage(mark.path, self.history.change(mark.number).splice.apply(content or b""))
            self.files.place(mark.path)

    def _noted(self) -> int | None:
        with storage(self._lock), open(self._lock, "rb") as file:
            text = file.read(64)
        return int(text) if text.strip().isdigit() else None

    def _note_carried_out(self) -> None:
        # One short write of fixed length into the locked file: whole or not there, and no fsync, for it may be lost.
        with contextlib.suppress(OSError):
            descriptor = os.open(self._lock, os.O_WRONLY | os.O_CLOEXEC)
            try:
                os.pwrite(descriptor, b"%020d\n" % self.history.end, 0)
            finally:
                os.close(descriptor)


def _nothing() -> None:
    pass


def _is_left_out(path: str, left_out: dict[str, str]) -> bool:
    # A link or a device now stands where the document, or a folder of it, stood: nobody can say it was deleted.
    return path in left_out or any(path.startswith(f"{other}/") for other in left_out)
