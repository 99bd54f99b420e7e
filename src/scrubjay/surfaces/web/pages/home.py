"""Home: the lives with their strips of time, and what is newest. A life: the same for one, with its episodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import HTMLResponse

from scrubjay.errors import NotFound
from scrubjay.memory.layout import Layout
from scrubjay.memory.records import LifeRow, Row
from scrubjay.retrieval.query import ALL_LIVES, Query
from scrubjay.surfaces.web.form import whole_number
from scrubjay.surfaces.web.outline import MILESTONE, Point
from scrubjay.surfaces.web.pages.common import answer, reader_of, whole
from scrubjay.surfaces.web.reader import Reader
from scrubjay.surfaces.web.strip import LANES, Strip, strip_of

__all__ = ["home", "life"]

_LIVES_A_PAGE = 10
_NEWEST = 8
_EPISODES = 48


@dataclass(frozen=True, slots=True)
class LifeView:
    """A life as a page shows it. `goals` are the milestones that count, each with whether it was reached."""

    row: LifeRow
    strip: Strip
    episodes: int
    steps: int
    is_running: bool
    reached: Sequence[tuple[Point, tuple[str, ...]]]
    goals: Sequence[tuple[str, bool]]
    newest: Point | None

    @property
    def is_scripted(self) -> bool:
        """True where no language model acted."""
        return (self.row.model or "").startswith("scripted")

    @property
    def outcome(self) -> str:
        """How it ended, in a word or two."""
        if self.is_running:
            return "running"
        return self.row.outcome or ("ended" if self.row.ended is not None else "interrupted")


def _view(reader: Reader, row: LifeRow) -> LifeView:
    outline = reader.outline.lives().get(row.life)
    newest = reader.outline.newest(row.life, 1)
    strip, reached, goals = reader.kept_of_life(row, lambda: _told(reader, row))
    return LifeView(
        row=row,
        strip=strip,
        episodes=0 if outline is None else len(outline.places),
        steps=0 if outline is None else outline.last_step - outline.first_step,
        is_running=reader.is_running(row),
        reached=reached,
        goals=goals,
        newest=newest[0] if newest else None,
    )


def _told(
    reader: Reader, row: LifeRow
) -> tuple[Strip, Sequence[tuple[Point, tuple[str, ...]]], list[tuple[str, bool]]]:
    """What takes its time: the strip, the episodes that reached milestones, and which that count were reached."""
    strip = strip_of(reader, row, lambda point: ", ".join(reader.milestones.of(point.number)) or "milestone")
    wanted = row.extra.get("milestones")
    if not isinstance(wanted, list):
        return strip, (), []
    marked = [one for one in reader.outline.marked(row.life) if one.marks & MILESTONE]
    reached = [(one, reader.milestones.of(one.number)) for one in marked[:200]]
    known = {name for _, names in reached for name in names}
    return strip, reached, [(str(name), str(name) in known) for name in wanted[:100]]


def home(request: Request) -> HTMLResponse:
    """The page that one comes in by."""
    reader = reader_of(request)
    lives = list(reversed(reader.lives()))
    number = whole(request, "page", 1, 1)
    shown = lives[(number - 1) * _LIVES_A_PAGE : number * _LIVES_A_PAGE]
    rows: Sequence[Row] = reader.find(Query(life=ALL_LIVES, last=_NEWEST))
    documents = reader.with_documents(lambda memory: memory.documents.list())
    return answer(
        request,
        "home.html",
        here="home",
        lives=[_view(reader, row) for row in shown],
        newest=list(reversed(rows)),
        episodes=len(reader.outline),
        life_count=len(lives),
        steps=sum(one.last_step - one.first_step for one in reader.outline.lives().values()),
        documents=documents,
        lanes=LANES,
        number=number,
        more=len(lives) > number * _LIVES_A_PAGE,
    )


def life(request: Request) -> HTMLResponse:
    """One life. Raises NotFound."""
    reader = reader_of(request)
    number = whole_number(request.path_params["life"])
    row = next((one for one in reader.lives() if one.life == number), None)
    if row is None or number is None:
        raise NotFound(f"life {request.path_params['life']:.40} is not in this memory")
    page = whole(request, "page", 1, 1)
    points = reader.outline.newest(number, page * _EPISODES)
    shown = points[(page - 1) * _EPISODES :]
    rows: Sequence[Row] = ()
    if shown:
        last, first = max(one.number for one in shown), min(one.number for one in shown)
        query = Query(life=number, limit=_EPISODES, after=_before(first))
        rows = [one for one in reader.find(query) if one.number <= last]
    working = Layout.working(number)
    has_working = reader.with_documents(lambda memory: memory.documents.status(working) is not None)
    turns = reader.turns(number)
    return answer(
        request,
        "life.html",
        here="home",
        life=_view(reader, row),
        rows=list(reversed(rows)),
        page=page,
        more=len(points) == page * _EPISODES,
        working=working if has_working else None,
        intention=turns[-1].intention if turns else "",
        turn_count=len(turns),
        lanes=LANES,
    )


def _before(number: int) -> str | None:
    from scrubjay.memory.layout import episode_id

    return episode_id(number - 1) if number > 0 else None
