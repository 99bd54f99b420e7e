"""The agent's procedures and reflexes: what each does, how its calls went, and where."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import HTMLResponse

from scrubjay.errors import InvalidInput
from scrubjay.memory.layout import Layout
from scrubjay.memory.procedure_files import KINDS, Kind
from scrubjay.memory.procedures import Procedure, Run, Statistics
from scrubjay.public import Memory
from scrubjay.surfaces.web.markdown import rendered
from scrubjay.surfaces.web.pages.common import answer, reader_of

__all__ = ["procedure", "procedures"]

_RUNS = 60
_RECENT = 24


@dataclass(frozen=True, slots=True)
class Listed:
    """A procedure with what its calls add up to and how the last ones went."""

    procedure: Procedure
    statistics: Statistics
    recent: tuple[Run, ...]


def procedures(request: Request) -> HTMLResponse:
    """The list."""
    reader = reader_of(request)

    def read(memory: Memory) -> tuple[list[Listed], list[str]]:
        newest = memory.procedures.runs(last=2000)
        rows = [
            Listed(
                one,
                memory.procedures.statistics(one.name, one.kind),
                tuple(run for run in newest if (run.procedure, run.kind) == (one.name, one.kind))[-_RECENT:],
            )
            for kind in KINDS
            for one in memory.procedures.list(kind)
        ]
        return rows, [str(flaw) for flaw in memory.procedures.flaws()]

    rows, flaws = reader.with_documents(read)
    return answer(request, "procedures.html", here="procedures", rows=rows, flaws=flaws)


def procedure(request: Request) -> HTMLResponse:
    """One procedure or reflex with its runs. Raises NotFound, InvalidInput."""
    reader = reader_of(request)
    kind, name = request.path_params["kind"], request.path_params["name"]
    if kind not in KINDS:
        raise InvalidInput(f"{kind!r:.60}: procedure or reflex was expected")
    wanted: Kind = "procedure" if kind == "procedure" else "reflex"

    def read(memory: Memory) -> tuple[Procedure, Statistics, tuple[Run, ...]]:
        found = memory.procedures.get(name, wanted)
        runs = memory.procedures.runs(found.name, last=_RUNS)
        statistics = memory.procedures.statistics(found.name, wanted)
        return found, statistics, tuple(run for run in reversed(runs) if run.kind == wanted)

    found, statistics, runs = reader.with_documents(read)
    skill = f"{found.folder}/{Layout.SKILL}"
    return answer(
        request,
        "procedure.html",
        here="procedures",
        one=found,
        statistics=statistics,
        runs=runs,
        body=rendered(found.text, skill),
        code=(found.source or "").split("\n"),
        skill=skill,
        cited=reader.citing.facts(skill).cited,
    )
