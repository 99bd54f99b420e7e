"""An episode: its frames, the state before and after, what was meant and done, and who speaks of it."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from scrubjay.agent.evaluating import evaluation_of
from scrubjay.errors import NotFound, ScrubjayError
from scrubjay.memory.evidence import Episode
from scrubjay.memory.jsonio import Json
from scrubjay.memory.layout import parse_reference
from scrubjay.memory.record import log_section
from scrubjay.memory.records import Step
from scrubjay.surfaces.evaluated import step_of, words
from scrubjay.surfaces.web.differences import Compared, compare_states, values_of
from scrubjay.surfaces.web.form import whole_number
from scrubjay.surfaces.web.pages.common import answer, reader_of, whole
from scrubjay.surfaces.web.reader import Reader, Turn
from scrubjay.surfaces.web.templating import page

__all__ = ["episode", "find_reference", "step"]

_MOST_CITED = 200
_MOST_NOTED = 50


@dataclass(frozen=True, slots=True)
class StepView:
    """One step: its frames by camera, the actions to it and from it, and what changed since the step before."""

    number: int
    step: Step | None
    cameras: Sequence[tuple[str, str | None]]
    # What `/frames/…` calls it: the step, or the start, where a published run kept nothing else.
    frame: int | str
    changed: Compared | None
    after: Sequence[tuple[str, str]] = ()
    action: Sequence[tuple[str, str]] = ()


def _step_view(episode: Episode, number: int) -> StepView:
    before: Step | None = None
    with contextlib.suppress(ScrubjayError):
        for one in episode.steps():
            if one.step == number:
                changed = None if before is None else compare_states(before.state, one.state)
                cameras = list(one.frames.items()) or [("", None)]
                after, action = values_of(one.after), values_of(one.action)
                return StepView(number, one, cameras, number, changed, after, action)
            before = one
    return _without_steps(episode, number)


def _without_steps(episode: Episode, number: int) -> StepView:
    """What is left to show: of a published run, which kept no steps, the one frame of the episode."""
    try:
        _ = episode.record
    except NotFound:
        with contextlib.suppress(ScrubjayError):
            return StepView(number, None, [("", episode.start_frame().name)], "start", None)
    return StepView(number, None, [("", None)], number, None)


def episode(request: Request) -> HTMLResponse:
    """The page of an episode. Raises NotFound, Damaged."""
    reader = reader_of(request)
    found = reader.episode(parse_reference(request.path_params["episode"]).episode)
    row = found.row
    try:
        record: Json = found.record
    except NotFound:
        record = {}  # a published run has rows and pictures alone
    first, last = row.first_step or 0, row.last_step or 0
    current = min(max(whole(request, "step", first), first), last)
    start, end = ((record.get(edge) or {}).get("state") or {} for edge in ("start", "end"))
    before, after = reader.outline.neighbours(row.number)
    return answer(
        request,
        "episode.html",
        row=row,
        record=record,
        removed=record.get("removed"),
        first=first,
        last=last,
        view=_step_view(found, current),
        compared=compare_states(start, end),
        arguments=values_of(record.get("arguments")),
        plan=_plan(record.get("plan")),
        turn=_turn(reader, row.life, row.id),
        log=log_section(record).decode(errors="replace").partition("\n")[2].strip() if record else "",
        cited=reader.citing.of_episode(row.id)[:_MOST_CITED],
        questions=list(reader.questions(row.id))[:_MOST_CITED],
        runs=[one for one in reader.calls(row.life) if one.episode == row.id],
        goals=reader.milestones.of(row.number),
        before=before,
        after=after,
        cells=_cells(record),
        noted=_noted(reader, row.life, first, last),
    )


def _noted(reader: Reader, life: int | None, first: int, last: int) -> list[str]:
    """What the environment's evaluator noted while this episode ran."""
    if life is None:
        return []
    rows = evaluation_of(reader.memory, life)
    return [words(row) for row in rows if first < (step_of(row) or 0) <= last][:_MOST_NOTED]


def _plan(plan: Any) -> tuple[str, str]:
    """The text of a plan, and which part of it this was."""
    if isinstance(plan, dict):
        part = f"{plan['step']} of {plan['of']}" if "step" in plan and "of" in plan else ""
        return (str(plan.get("text") or ""), part)
    return ("" if plan is None else str(plan), "")


def _turn(reader: Reader, life: int, ident: str) -> Turn | None:
    return next((turn for turn in reader.turns(life) if ident in turn.episodes), None)


def _cells(record: Json) -> list[tuple[str, str, list[int]]]:
    """The cell events that are more than a walk: kind, name, cell."""
    found = []
    for cell in (record.get("evidence") or {}).get("cells") or ():
        if isinstance(cell, dict) and cell.get("kind") != "walked":
            name = cell.get("item") or cell.get("what") or cell.get("block") or ""
            found.append((str(cell.get("kind")), str(name), cell.get("cell") or []))
    return found[:40]


def step(request: Request) -> HTMLResponse:
    """What belongs to one step, for the page that is open already."""
    reader = reader_of(request)
    found = reader.episode(parse_reference(request.path_params["episode"]).episode)
    number = whole_number(request.path_params["step"])
    if number is None:
        raise NotFound(f"step {request.path_params['step']!r:.40} is not in {found.id}")
    view = _step_view(found, number)
    return page("step.html", view=view, ident=found.id)


def find_reference(request: Request) -> Response:
    """From a reference that was typed to its page. Raises InvalidInput."""
    text = request.query_params.get("reference", "").strip()
    if text.isascii() and text.isdigit():
        text = f"ep_{int(text):06d}" if len(text) < 18 else text
    reference = parse_reference(text)
    tail = "" if reference.step is None else f"?step={reference.step}"
    return RedirectResponse(f"/episodes/{reference.episode}{tail}", 303)
