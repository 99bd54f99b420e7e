"""Carrying out what was proposed, on the documents as they are now.

Each document is edited once, by a change of its own that sees what others wrote meanwhile; what no longer fits is
refused and told, and costs nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from scrubjay.agent import claims
from scrubjay.agent.drafting import addressed, within
from scrubjay.errors import Conflict, Damaged, InvalidInput, NotFound
from scrubjay.memory.document_changes import Change
from scrubjay.memory.documents import Documents
from scrubjay.memory.layout import Reference
from scrubjay.memory.procedure_files import folder_of, normal_name
from scrubjay.memory.procedures import Procedures
from scrubjay.models.consolidating import Item, Procedure, Update, Working

__all__ = ["Applied", "Applying"]

_OPERATION = "consolidate"
_REFUSALS = (Conflict, Damaged, InvalidInput, NotFound)
_TITLES = {"notes.md": "Notes", "GUIDE.md": "Guide"}


@dataclass(frozen=True, slots=True)
class Applied:
    """The numbers of the changes that were made, and what was refused, each with the reason."""

    changes: tuple[int, ...] = ()
    refused: tuple[str, ...] = ()


class Applying:
    """One consolidation's changes of the documents. `exists` says whether cited evidence is there."""

    def __init__(self, documents: Documents, procedures: Procedures, exists: Callable[[Reference], bool]) -> None:
        self._documents, self._procedures, self._exists = documents, procedures, exists
        self._changes: list[int] = []
        self._refused: list[str] = []

    def apply(self, items: Iterable[Item], working: str, seen: str | None) -> Applied:
        """Carries out the items. `seen` is the text of the working memory that they were made from."""
        by_document: dict[str, list[Update]] = {}
        new_working: str | None = None
        methods: list[Procedure] = []
        for item in items:
            if isinstance(item, Working):
                new_working = item.text
            elif isinstance(item, Procedure):
                methods.append(item)
            else:
                self._file(item, by_document)
        for path, updates in by_document.items():
            self._attempt(path, partial(self._claims, path, updates))
        self._attempt(working, partial(self._working, working, seen, new_working))
        for method in methods:
            self._attempt(method.name, partial(self._procedure, method))
        return Applied(tuple(self._changes), tuple(self._refused))

    def _attempt(self, what: str, do: Callable[[], None]) -> None:
        try:
            do()
        except _REFUSALS as error:
            self._refused.append(f"{what}: {error}")

    # --- claims

    def _file(self, proposed: Update, by_document: dict[str, list[Update]]) -> None:
        try:
            update = claims.as_hypothesis(addressed(proposed), self._exists)
        except InvalidInput as error:
            self._refused.append(f"{proposed.document}: {proposed.claim!r}: {error}")
        else:
            by_document.setdefault(update.document, []).append(update)

    def _claims(self, path: str, updates: list[Update]) -> None:
        refused: list[str] = []

        def change(text: str) -> str:
            refused.clear()
            for update in updates:
                try:
                    text = claims.apply(text, update)
                except InvalidInput as error:
                    refused.append(f"{path}: {update.claim!r}: {error}")
            return text

        title = _TITLES.get(path, path.rpartition("/")[2].removesuffix(".md"))
        self._edit(path, change, f"# {title}\n\n")
        self._refused += refused

    def _edit(self, path: str, change: Callable[[str], str], head: str = "") -> None:
        """Changes a document, or makes it where it is not there; nothing where its text stays as it is."""
        is_changed = False

        def watched(text: str) -> str:
            nonlocal is_changed
            new = change(text)
            is_changed = new != text
            return new

        if self._documents.status(path) is None:
            text = change(head)
            if text == head:
                return
            try:
                self._made(self._documents.create(path, text))
            except Conflict:  # another made it meanwhile: it is edited as it is
                pass
            else:
                return
        made = self._documents.edit(path, watched, operation=_OPERATION)
        if is_changed:
            self._made(made)

    def _made(self, change: Change) -> None:
        self._changes.append(change.number)

    # --- the working memory

    def _working(self, path: str, seen: str | None, text: str | None) -> None:
        new = None if text is None else claims.supported(text, self._exists)

        def change(present: str) -> str:
            if new is not None and new != present and (present or None) != (seen or None):
                raise Conflict("it was written meanwhile, and stays as it is")
            return within(present if new is None else new)

        self._edit(path, change)

    # --- procedures

    def _procedure(self, item: Procedure) -> None:
        folder = folder_of("procedure", normal_name(item.name))
        before = self._numbers(folder)
        try:
            self._write(item)
        finally:
            self._changes += sorted(set(self._numbers(folder).values()) - set(before.values()))

    def _write(self, item: Procedure) -> None:
        procedures = self._procedures
        if item.disabled is not None:
            if procedures.get(item.name).status != "disabled":
                procedures.disable(item.name, item.disabled)
            return
        try:
            present = procedures.get(item.name)
        except NotFound:
            procedures.create(item.name, item.description, code=item.code, text=item.text, cites=item.cites)
            return
        wanted = (item.description or present.description, item.code or present.source, item.text or present.text)
        if wanted != (present.description, present.source, present.text):
            procedures.update(
                item.name,
                description=item.description or None,
                code=item.code,
                text=item.text or None,
                cites=item.cites or None,
                expected=present.digest,
            )

    def _numbers(self, folder: str) -> dict[str, int]:
        """The last change of every document in a folder."""
        paths = [path for path in self._documents.list() if path.startswith(f"{folder}/")]
        return {path: self._documents.history(path)[-1].number for path in paths}
