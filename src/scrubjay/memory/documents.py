"""The agent's own documents, everything under `mine/`: read, edit, and go back.

Every change is a row of `documents.jsonl`, also what an editor or a shell did. It knows texts and names; what a
document means, and whom it cites, it does not know.
"""

from __future__ import annotations

import difflib
import functools
import os
from collections.abc import Callable, Iterable, Iterator, Sized

from scrubjay.errors import Conflict, Damaged, InvalidInput, NotFound, ReadOnly
from scrubjay.memory.document_changes import Change, digest_of
from scrubjay.memory.document_files import Listing
from scrubjay.memory.document_history import Mark
from scrubjay.memory.document_store import Context, DocumentStore
from scrubjay.memory.layout import Layout
from scrubjay.memory.paths import document_path
from scrubjay.memory.splices import without
from scrubjay.memory.text_edits import append_entry, insert_after_line, replace_once

__all__ = ["At", "Changes", "Documents"]

Changes = list[Change]
Paths = list[str]
Marks = list[Mark]
At = int | str  # the number of a change, or the digest of a content


class Documents:
    """The documents of a memory. Any number of processes may use one each; no edit is lost.

    A path is relative to `mine/`: `notes.md`, `working/0001.md`. `author` is `agent`, `person` or `harness`. All that
    write raise ReadOnly, StorageFull and, for a path that is not inside `mine/`, InvalidInput.
    """

    def __init__(self, layout: Layout, read_only: bool = False, context: Context = lambda: (None, None)) -> None:
        self._store = DocumentStore(layout, read_only, context)

    # --- reading

    def list(self) -> Paths:
        """The paths of all documents, sorted."""
        return sorted(self._store.files.listing().documents)

    def listing(self, path: str = "", *, depth: int | None = None) -> Listing:
        """Documents, folders, and files that can be no document with the reason, below a folder."""
        return self._store.files.listing(path, depth=depth)

    def status(self, path: str = "") -> os.stat_result | None:
        """What the system says of a document or folder (`""`: `mine/` itself), or None where nothing is."""
        return self._store.files.status(document_path(path) if path else "")

    def read(self, path: str) -> str:
        """The text of a document. Raises NotFound; Damaged where it is not UTF-8, with the byte."""
        path = document_path(path)
        return _text(path, self._present(path))

    def digest(self, path: str) -> str:
        """What `write` takes as `expected`: sha256 of the document's bytes. Raises NotFound."""
        path = document_path(path)
        return digest_of(self._present(path))

    def _present(self, path: str) -> bytes:
        content = self._store.files.read(path)
        if content is None:
            raise NotFound(f"there is no document {path}")
        return content

    # --- editing

    def create(self, path: str, text: str, *, author: str = "agent") -> Change:
        """Makes a new document. Raises Conflict where something is there already."""
        path = document_path(path)
        content = _encoded(path, text)
        with self._store.writing():
            if self._store.files.status(path) is not None:
                raise Conflict(f"{path} exists already: edit it, or choose another name")
            self._store.take_over(path)
            return self._store.put("create", path, None, content, author)

    def write(self, path: str, text: str, *, expected: str | None = None, author: str = "agent") -> Change:
        """Gives a document a whole new content, making it where it is not there.

        Raises Conflict where `expected` is the digest of another content than the present one.
        """
        path = document_path(path)
        content = _encoded(path, text)
        with self._store.writing():
            old = self._store.take_over(path)
            if expected is not None and (old is None or digest_of(old) != expected):
                raise Conflict(f"{path} was changed by another since you read it: read it again, then write")
            return self._store.put("write", path, old, content, author)

    def edit(self, path: str, change: Callable[[str], str], *, operation: str, author: str = "agent") -> Change:
        """Gives a document the text that `change` makes of its present one, while no other can write.

        Raises NotFound, Damaged where it is not UTF-8, and what `change` raises; then nothing was changed.
        """
        path = document_path(path)
        with self._store.writing():
            old = self._store.take_over(path)
            if old is None:
                raise NotFound(f"there is no document {path}")
            return self._store.put(operation, path, old, _encoded(path, change(_text(path, old))), author)

    def append(self, path: str, text: str, *, author: str = "agent") -> Change:
        """Adds an entry on lines of its own at the end, making the document where it is not there."""
        path = document_path(path)
        _encoded(path, text)
        with self._store.writing():
            old = self._store.take_over(path)
            new = append_entry("" if old is None else _text(path, old), text)
            return self._store.put("append", path, old, _encoded(path, new), author)

    def str_replace(self, path: str, old: str, new: str, *, author: str = "agent") -> Change:
        """Replaces the one place where `old` stands, literally.

        Raises InvalidInput where it stands nowhere, or in several lines, which are named.
        """
        change = functools.partial(replace_once, old=old, new=new, shown=path)
        return self.edit(path, change, operation="str_replace", author=author)

    def insert(self, path: str, line: int, text: str, *, author: str = "agent") -> Change:
        """Puts lines after line `line`; 0 is the beginning. Raises InvalidInput past the end."""
        change = functools.partial(insert_after_line, line=line, inserted=text)
        return self.edit(path, change, operation="insert", author=author)

    def delete(self, path: str, *, author: str = "agent") -> Changes:
        """Removes a document, or a folder with all documents in it; history keeps them.

        Raises NotFound, and Conflict for a folder that holds what no history keeps (links, hidden files).
        """
        path = document_path(path)
        with self._store.writing():
            inside = self._folder(path, whole=True)
            if inside is None:
                old = self._store.take_over(path)
                if old is None:
                    raise NotFound(f"there is no document {path}")
                return [self._store.put("delete", path, old, None, author)]
            contents = {inner: self._store.take_over(inner) for inner in inside}
            rows = [
                self._store.row("delete", inner, content, None, author, part=_part(at, contents))
                for at, (inner, content) in enumerate(contents.items())
            ]
            return self._store.commit(rows, lambda: self._remove_all(path, inside))

    def _folder(self, path: str, *, whole: bool) -> Paths | None:
        if path not in self._store.files.listing(path.rpartition("/")[0], depth=1).folders:
            return None
        found = self._store.files.listing(path, tidy=True)
        for name, reason in found.left_out.items() if whole else ():
            raise Conflict(f"{path} holds {name}, which has no history ({reason}): remove that by hand first")
        return sorted(found.documents)

    def _remove_all(self, folder: str, inside: Paths) -> None:
        for path in inside:
            self._store.files.remove(path)
        self._store.files.remove_folders(folder)

    def rename(self, old: str, new: str, *, author: str = "agent") -> Changes:
        """Moves a document, or a folder, to a name that is free. Raises NotFound, Conflict."""
        old, new = document_path(old), document_path(new)
        with self._store.writing():
            if self._store.files.status(new) is not None:
                raise Conflict(f"{new} exists already: nothing is overwritten")
            inside = self._folder(old, whole=False)
            if inside is not None and new.startswith(f"{old}/"):
                raise InvalidInput(f"{old} can't be moved into itself")
            moves = [(old, new)] if inside is None else [(path, new + path[len(old) :]) for path in inside]
            digests = {}
            for source, target in moves:
                content = self._store.take_over(source)
                if content is None:
                    raise NotFound(f"there is no document {source}")
                self._store.take_over(target)
                digests[source] = digest_of(content)
            self._store.files.make_way(new)
            rows = [
                self._store.moved("rename", source, target, digests[source], author, part=_part(at, moves))
                for at, (source, target) in enumerate(moves)
            ]
            return self._store.commit(rows, lambda: self._store.files.move(old, new))

    # --- going back

    def sync(self) -> Changes:
        """Takes over what an editor or a shell changed in `mine/` since the last row, as rows of their own."""
        with self._store.writing():
            return self._store.sync()

    def history(self, path: str | None = None, *, last: int | None = None) -> Changes:
        """All changes, or those of one document also under its earlier names, oldest first; the newest `last`."""
        self._look()
        history = self._store.history
        lineage = [] if path is None else history.lineage(document_path(path))
        marks = [*history.marks.values()] if path is None else [mark for _, mark in lineage]
        return [*history.changes(marks if last is None else marks[max(0, len(marks) - last) :])]

    def show(self, path: str, at: At) -> str:
        """The text that a document had after change `at`. Raises NotFound where it was not there then."""
        path = document_path(path)
        self._look()
        content = self._content_at(path, at)
        if content is None:
            raise NotFound(f"{path} was not there after change {at}")
        return _text(path, content)

    def diff(self, path: str, a: At, b: At | None = None) -> str:
        """Unified difference from the state after change `a` to that after `b` (default: now); empty where equal."""
        path = document_path(path)
        self._look()
        old = self._content_at(path, a)
        new = self._store.files.read(path) if b is None else self._content_at(path, b)
        before, after = (_text(path, content or b"").splitlines(keepends=True) for content in (old, new))
        lines = difflib.unified_diff(before, after, f"{path}@{a}", f"{path}@{'now' if b is None else b}")
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)

    def restore(self, path: str, at: At, *, author: str = "agent") -> Change:
        """Gives a document the content, or the absence, that it had after change `at`, as a change of its own."""
        path = document_path(path)
        with self._store.writing():
            old = self._store.take_over(path)
            content = self._content_at(path, at)
            if old is None and content is None:
                raise NotFound(f"{path} was not there after change {at}, and is not there now")
            return self._store.put("restore", path, old, content, author)

    def undo(self, n: int = 1, *, path: str | None = None, author: str = "agent") -> Changes:
        """Takes back the last `n` operations, or the last `n` on one document, newest first; each is a change.

        What was undone, and an undo itself, is passed over, so a second undo goes one further back. Raises NotFound
        where there are fewer to undo, and then none is; Conflict where a later change stands in the way.
        """
        if n < 1:
            raise InvalidInput(f"undo of {n} operations: at least 1 was expected")
        made: Changes = []
        with self._store.writing():
            self._store.sync()
            document = None if path is None else document_path(path)
            left = len({operation[0].number for operation in self._to_undo(document)})
            if left == 0:
                raise NotFound("there is nothing to undo")
            if left < n:
                raise NotFound(f"undo of {n} operations: {left} can be undone; `history` lists the changes")
            for _ in range(n):
                made += [self._undo_one(mark, author) for mark in reversed(next(self._to_undo(document), []))]
        return made

    def take_back(self, numbers: Iterable[int], *, author: str = "agent") -> Changes:
        """Takes back these changes, the newest first, all or none; each undo is a change.

        What was written around them since stays. Raises NotFound for a number that is none, Conflict where the lines
        of one were changed again, or it is taken back already.
        """
        with self._store.writing():
            self._store.sync()
            contents: dict[str, bytes | None] = {}
            found = [self._store.history.change(number) for number in sorted({*numbers}, reverse=True)]
            steps = [(change, *self._without(change, contents)) for change in found]
            return [
                self._store.put("undo", change.path, old, new, author, undoes=change.number)
                for change, old, new in steps
            ]

    def _without(self, change: Change, contents: dict[str, bytes | None]) -> tuple[bytes | None, bytes | None]:
        """The content of a document, in `contents` where that holds it, before and after a change is taken back."""
        path, history = change.path, self._store.history
        old = contents[path] if path in contents else self._store.files.read(path)
        is_undone = any(mark.undoes == change.number for mark in history.marks.values())
        new: bytes | None = None
        if is_undone or change.to is not None:
            is_possible = False
        elif (None if old is None else digest_of(old)) == change.after:
            is_possible, new = True, change.splice.inverse.apply(old or b"")
        else:
            after = history.content(path, change.number)
            new = None if old is None or after is None else without(old, change.splice, after)
            is_possible = new is not None
        if not is_possible:
            raise Conflict(f"change {change.number} of {path} can't be undone: it was changed again since")
        contents[path] = None if change.before is None and not new else new
        return old, contents[path]

    def _to_undo(self, path: str | None) -> Iterator[Marks]:
        """The operations that stand, the last first; one of several changes comes once for each of them."""
        history = self._store.history
        undone = {mark.undoes for mark in history.marks.values() if mark.undoes is not None}
        marks = [*history.marks.values()] if path is None else [mark for _, mark in history.lineage(path)]
        for mark in reversed(marks):
            if mark.undoes is None and mark.number not in undone:
                yield history.operation_of(mark)

    def _undo_one(self, mark: Mark, author: str) -> Change:
        store = self._store
        change = store.history.change(mark.number)
        there = mark.to or mark.path
        content = store.files.read(there)
        if (None if content is None else digest_of(content)) != mark.after:
            raise Conflict(f"change {mark.number} of {there} can't be undone: it was changed again since")
        if mark.to is not None:
            if store.files.status(mark.path) is not None:
                raise Conflict(f"change {mark.number} can't be undone: {mark.path} is taken")
            row = store.moved("undo", mark.to, mark.path, mark.after, author, undoes=mark.number)
            return store.commit([row], lambda: store.files.move(there, mark.path))[0]
        before = change.splice.inverse.apply(content or b"")
        return store.put("undo", there, content, None if mark.before is None else before, author, undoes=mark.number)

    def _look(self) -> None:
        try:
            self.sync()
        except ReadOnly:
            self._store.history.refresh()  # a reader changes nothing: what isn't taken over yet is not in the history

    def _content_at(self, path: str, at: At) -> bytes | None:
        history = self._store.history
        number = history.number_of(path, at)
        try:
            return history.content(path, number)
        except Damaged as damaged:
            present = self._store.files.read(path)
            if present is None:
                raise
            try:
                return history.content_before(path, present, number)
            except Damaged:
                raise damaged from None


def _part(at: int, whole: Sized) -> tuple[int, int] | None:
    return (at + 1, len(whole)) if len(whole) > 1 else None


def _encoded(path: str, text: str) -> bytes:
    if not isinstance(text, str):
        raise InvalidInput(f"{path}: text was expected, found {type(text).__name__}")
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(f"{path}: the text is no valid Unicode at character {error.start}") from None


def _text(path: str, content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise Damaged("not UTF-8, so it has no text", file=f"mine/{path}", offset=error.start) from None
