"""Judging what a consolidator proposes before a document is touched: what would be taken, and why the rest would not.

It works on copies of texts. What it accepts is applied later, to the documents as they are then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from scrubjay.agent import claims
from scrubjay.errors import InvalidInput
from scrubjay.memory.citations import citations
from scrubjay.memory.layout import Layout, Reference, parse_reference
from scrubjay.memory.paths import document_path
from scrubjay.memory.procedure_files import function_of, normal_name
from scrubjay.memory.text_edits import lines_of
from scrubjay.models.consolidating import Item, Procedure, Update, Working

__all__ = ["MOST_LINES", "Draft", "addressed", "within"]

MOST_LINES = 39  # "under 40"


def addressed(update: Update) -> Update:
    """The update with the plain path of its document. Raises InvalidInput where that can hold no claims."""
    path = update.document.removeprefix("/memories").lstrip("/").removeprefix("mine/")
    path = document_path(path)
    if not path.endswith(".md") or path.startswith((f"{Layout.PROCEDURES}/", f"{Layout.REFLEXES}/", "working/")):
        raise InvalidInput(f"{path}: claims go into notes.md, GUIDE.md or another Markdown document of your own")
    return replace(update, document=path)


def within(text: str) -> str:
    """`text` in as many lines as a working memory may have; the last says how many were cut."""
    lines = lines_of(text)
    if len(lines) <= MOST_LINES:
        return text
    cut = len(lines) - MOST_LINES + 1
    return "\n".join([*lines[: MOST_LINES - 1], f"<!-- {cut} lines were cut: keep this under 40 lines -->"]) + "\n"


class Draft:
    """The documents as they would become. `judge` is what a consolidator asks of each of its items."""

    def __init__(self, documents: Mapping[str, str], exists: Callable[[Reference], bool]) -> None:
        self._texts, self._exists = dict(documents), exists
        self._told: set[str] = set()

    def judge(self, item: Item) -> str | None:
        """Why an item is refused, in words for a model, or None where it will be taken.

        Some are refused once: what lacks evidence is taken as a hypothesis when proposed again, and a claim that is
        known with other counts as another one.
        """
        try:
            if isinstance(item, Update):
                self._update(addressed(item))
            elif isinstance(item, Working):
                self._working(item)
            else:
                self._procedure(item)
        except InvalidInput as error:
            return str(error)
        return None

    def _update(self, proposed: Update) -> None:
        try:
            update = claims.checked(proposed, self._exists)
        except InvalidInput:
            if self._is_first(f"{proposed.document}: {claims.normal(proposed.claim)}"):
                raise
            update = claims.as_hypothesis(proposed, self._exists)
        text = self._texts.get(update.document, "")
        known = claims.alike(text, update.claim) if update.operation == "add" else None
        if known is not None and self._is_first(f"{update.document}: like {claims.normal(update.claim)}"):
            raise InvalidInput(f"known with other counts: {known!r}. Revise that entry; where it is another, add again")
        self._texts[update.document] = claims.apply(text, update)

    def _is_first(self, key: str) -> bool:
        is_first = key not in self._told
        self._told.add(key)
        return is_first

    def _working(self, item: Working) -> None:
        lines = len(lines_of(item.text))
        if lines > MOST_LINES:
            raise InvalidInput(f"{lines} lines; a working memory has under 40: leave out what is done")
        bare = claims.unsupported(item.text, self._exists)
        if bare and self._is_first("working"):
            where = ", ".join(str(claim.line) for claim in bare)
            raise InvalidInput(f"lines {where} cite no evidence that is there: cite it, or say (hypothesis)")

    def _procedure(self, item: Procedure) -> None:
        name = normal_name(item.name)
        if item.disabled is not None:
            cited = [found.reference for found in citations(item.disabled)]
        else:
            cited = [parse_reference(one) for one in item.cites]
            if item.code is not None:
                function_of(item.code, name, name)
        unknown = [str(one) for one in cited if not self._exists(one)]
        if unknown or not cited:
            raise InvalidInput(f"{', '.join(unknown) or 'no citation'}: name finished episodes that show it")
