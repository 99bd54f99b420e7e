"""Search: the form with every condition of `scrubjay episodes`, what it finds, and the same as a command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse

from scrubjay.errors import ScrubjayError
from scrubjay.memory.records import Row
from scrubjay.retrieval.document_words import DocumentLine
from scrubjay.retrieval.query import ALL_LIVES
from scrubjay.surfaces.web.command_line import command_line
from scrubjay.surfaces.web.form import Asked, asked, values_of, with_pictures
from scrubjay.surfaces.web.outline import Outline
from scrubjay.surfaces.web.pages.common import answer, given, reader_of
from scrubjay.surfaces.web.reader import Reader
from scrubjay.surfaces.web.templating import page

__all__ = ["search"]

_ROWS = 48
_OFFERED = 200
_ALWAYS_SHOWN = ("grep", "life", "tag", "action", "after")


@dataclass(frozen=True, slots=True)
class Shown:
    """One page of what was found, or why nothing could be looked for."""

    rows: tuple[Row, ...] = ()
    documents: tuple[DocumentLine, ...] = ()
    total: int | None = None
    more: str | None = None
    command: str = ""
    error: str = ""


def search(request: Request) -> HTMLResponse:
    """The page, or with `part=1` what was found alone."""
    reader = reader_of(request)
    values = given(request)
    found = _found(reader, values)
    status = 400 if found.error else 200
    if request.query_params.get("part"):
        return page("results.html", status, found=found)
    fields = values_of(values)
    return answer(
        request,
        "search.html",
        status=status,
        here="search",
        found=found,
        values=fields,
        is_detailed=any(value for name, value in fields.items() if name not in _ALWAYS_SHOWN),
        lives=[life.life for life in reader.lives()][-_OFFERED:],
        tags=reader.outline.most_common(reader.outline.tags, _OFFERED),
        actions=reader.outline.most_common(reader.outline.actions, _OFFERED),
        worlds=reader.outline.most_common(reader.outline.worlds, _OFFERED),
    )


def _found(reader: Reader, values: Mapping[str, str]) -> Shown:
    try:
        form = asked(values, _ROWS)
        command = command_line(reader.shown, form.query, same_screen=form.same_screen, like=form.like)
        query = with_pictures(form, reader.memory)
        found = reader.found(query)
    except ScrubjayError as error:
        return Shown(error=str(error))
    is_all = found.more is None and form.query.after is None
    total = len(found.rows) if is_all else _counted(form, reader.outline)
    kept = {name: value for name, value in values.items() if name != "part"}
    address = None if found.more is None else urlencode({**kept, "after": found.more})
    return Shown(found.rows, found.documents, total, address, command)


def _counted(form: Asked, outline: Outline) -> int | None:
    """How many match, where the outline has counted them already; None where counting would take its time."""
    query = form.query
    conditions = [name for name, value in form.values.items() if value and name not in ("life", "after")]
    if not conditions and isinstance(query.life, int):
        return outline.searched[query.life]
    if query.life != ALL_LIVES or len(conditions) > 1:
        return None
    if not conditions:
        return outline.searched.total()
    if conditions == ["tag"] and len(query.tags) == 1:
        return outline.tags[query.tags[0]]
    return outline.actions[query.action] if query.action is not None else None
