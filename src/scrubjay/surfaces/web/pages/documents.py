"""The agent's documents: the list, one rendered with its claims checked, and the history of changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import HTMLResponse

from scrubjay.errors import Damaged, NotFound, ScrubjayError
from scrubjay.memory.document_changes import Change
from scrubjay.memory.paths import document_path
from scrubjay.public import Memory
from scrubjay.surfaces.web.changes import told
from scrubjay.surfaces.web.markdown import plain_text, rendered
from scrubjay.surfaces.web.pages.common import answer, reader_of, whole

__all__ = ["document", "documents", "history"]

_MOST_CHARACTERS = 300_000
_MOST_RENDERED = 100_000  # rendering holds up other pages; what is longer is shown as it is written
_CHANGES = 20
_MOST_LISTED = 1000


@dataclass(frozen=True, slots=True)
class Listed:
    """A document in the list. `bare` counts claims without evidence, `gone` citations of what is not there."""

    path: str
    size: int
    time: float
    cited: int
    bare: int
    gone: int


def documents(request: Request) -> HTMLResponse:
    """All documents, and the newest changes of any."""
    reader = reader_of(request)
    citing = reader.citing
    listing, changes = reader.with_documents(lambda memory: (memory.documents.listing(), _newest(memory, None, 12)))
    rows = []
    for path, status in list(listing.documents.items())[:_MOST_LISTED]:
        facts = citing.facts(path)
        rows.append(
            Listed(path, status.st_size, status.st_mtime, len(facts.cited), len(facts.bare), len(citing.gone(path)))
        )
    return answer(
        request,
        "documents.html",
        here="documents",
        rows=rows,
        left_out=list(listing.left_out.items())[:_MOST_LISTED],
        changes=changes,
        more=len(listing.documents) - len(rows),
    )


def _newest(memory: Memory, path: str | None, count: int) -> list[Change]:
    try:
        return memory.documents.history(path, last=count)[::-1]
    except ScrubjayError:
        return []  # the history is damaged; the documents are there all the same


def document(request: Request) -> HTMLResponse:
    """One document, now or after an earlier change. Raises NotFound, Damaged, InvalidInput."""
    reader = reader_of(request)
    path = document_path(request.path_params["path"])
    at = whole(request, "at", 0)

    def read(memory: Memory) -> str:
        return memory.documents.show(path, at) if at else memory.documents.read(path)

    text = reader.with_documents(read)
    shown = text[:_MOST_CHARACTERS]
    citing = reader.citing
    facts = citing.facts(path)
    bare: Sequence[tuple[int, str]] = () if at else facts.bare
    is_markdown = path.endswith(".md") and len(text) <= _MOST_RENDERED
    return answer(
        request,
        "document.html",
        here="documents",
        path=path,
        at=at,
        body=rendered(shown, path, {line for line, _ in bare}) if is_markdown else plain_text(shown),
        is_markdown=is_markdown,
        characters=len(text),
        left_out=len(text) - len(shown),
        bare=bare[:100],
        bare_count=len(bare),
        gone=[] if at else citing.gone(path)[:100],
        cited=len(dict.fromkeys(str(one.reference) for one in facts.cited)),
        changes=reader.with_documents(lambda memory: _newest(memory, path, 6)),
        paths=reader.with_documents(lambda memory: memory.documents.list())[:200],
    )


def history(request: Request) -> HTMLResponse:
    """The changes of one document with their lines, newest first. Raises NotFound, InvalidInput."""
    reader = reader_of(request)
    path = document_path(request.path_params.get("path") or request.query_params.get("path", ""))
    page = whole(request, "page", 1, 1)

    def read(memory: Memory) -> tuple[list[Change], bytes | None]:
        found = memory.documents.history(path, last=page * _CHANGES)
        try:
            return found, memory.documents.read(path).encode()
        except (NotFound, Damaged):
            return found, None

    changes, present = reader.with_documents(read)
    if not changes:
        raise NotFound(f"no change of {path} is known")
    views = list(told(changes, present))
    return answer(
        request,
        "history.html",
        here="documents",
        path=path,
        is_there=present is not None,
        changes=views[(page - 1) * _CHANGES : page * _CHANGES],
        page=page,
        more=len(changes) == page * _CHANGES,
    )
