"""Compare: two or more frames side by side; where scripts run, looking closer at one looks closer at all."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse

from scrubjay.errors import ScrubjayError
from scrubjay.memory.layout import parse_reference
from scrubjay.memory.records import Row
from scrubjay.retrieval.looking import MOST_COMPARED
from scrubjay.surfaces.web.pages.common import answer, reader_of
from scrubjay.surfaces.web.pictures import stored
from scrubjay.surfaces.web.reader import Reader

__all__ = ["compare"]


@dataclass(frozen=True, slots=True)
class Compared:
    """One frame beside others, or why it can't be shown. `without` is the address of the page without it."""

    reference: str
    without: str
    episode: str = ""
    step: int | None = None
    row: Row | None = None
    problem: str = ""


def compare(request: Request) -> HTMLResponse:
    """The page; `ref` may be given several times, or several in one with spaces or commas."""
    reader = reader_of(request)
    asked = " ".join(request.query_params.getlist("ref")).replace(",", " ").split()
    texts = list(dict.fromkeys(asked))[:MOST_COMPARED]
    frames = [
        _compared(reader, text, "/compare?" + urlencode({"ref": " ".join(other for other in texts if other != text)}))
        for text in texts
    ]
    return answer(
        request,
        "compare.html",
        here="compare",
        frames=frames,
        text=" ".join(texts),
        left_out=len(dict.fromkeys(asked)) - len(texts),
        most=MOST_COMPARED,
    )


def _compared(reader: Reader, text: str, without: str) -> Compared:
    try:
        reference = parse_reference(text)
        episode = reader.episode(reference.episode)
        stored(episode, reference.step)
        return Compared(str(reference), without, reference.episode, reference.step, episode.row)
    except ScrubjayError as error:
        return Compared(text[:80], without, problem=str(error))
