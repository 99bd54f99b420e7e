"""A life as a strip of time: what happened at which step, in lanes, each mark a link.

It knows steps and places on a line. How it is drawn, the template knows.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from scrubjay.memory.records import LifeRow
from scrubjay.surfaces.web.outline import DIED, MILESTONE, Point
from scrubjay.surfaces.web.reader import Reader

__all__ = ["LANES", "Lane", "Mark", "Strip", "strip_of"]

WIDTH = 1000
_NEAR = 16  # marks nearer than this, in units of the strip's width, are shown as one
_BARS = 120
LANES = {"milestone": "milestones", "died": "deaths", "procedure": "procedures", "look": "looks"}


@dataclass(frozen=True, slots=True)
class Mark:
    """One thing, or several that lie close together: where on the strip (0 to 1000), what it says, where it leads."""

    at: float
    label: str
    href: str
    count: int = 1
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Lane:
    """The marks of one kind."""

    kind: str
    name: str
    marks: Sequence[Mark]
    total: int


@dataclass(frozen=True, slots=True)
class Strip:
    """A life from its first step to its last. `bars` say how many episodes began in each span, of 0 to 1."""

    first_step: int
    last_step: int
    bars: Sequence[float]
    lanes: Sequence[Lane]


@dataclass(frozen=True, slots=True)
class _Happening:
    step: int
    label: Callable[[], str]
    href: str
    failed: bool = False


def strip_of(reader: Reader, life: LifeRow, name_of: Callable[[Point], str]) -> Strip:
    """The strip of a life; `name_of` says which milestones an episode reached."""
    found = reader.outline.lives().get(life.life)
    first, last = (0, 0) if found is None else (found.first_step, found.last_step)
    marked = list(reader.outline.marked(life.life))
    kinds = {
        "milestone": [_point(one, functools.partial(name_of, one)) for one in marked if one.marks & MILESTONE],
        "died": [_point(one, lambda: "died") for one in marked if one.marks & DIED],
        "procedure": list(_calls(reader, life.life)),
        "look": list(_looks(reader, life.life)),
    }
    lanes = [
        Lane(kind, LANES[kind], _merged(happened, first, last, life.life, kind), len(happened))
        for kind, happened in kinds.items()
    ]
    counts = reader.outline.activity(life.life, _BARS)
    most = max(counts, default=0) or 1
    return Strip(first, last, [count / most for count in counts], lanes)


def _point(point: Point, label: Callable[[], str]) -> _Happening:
    return _Happening(point.last_step, label, f"/episodes/{point.id}")


def _calls(reader: Reader, life: int) -> Iterable[_Happening]:
    for call in reader.calls(life):
        href = f"/episodes/{call.episode}" if call.episode else f"/procedures/procedure/{call.name}"
        said = f"{call.name}: {call.outcome}, {call.steps} steps"
        yield _Happening(call.step, functools.partial(str, said), href, call.outcome != "success")


def _looks(reader: Reader, life: int) -> Iterable[_Happening]:
    for turn in reader.turns(life):
        if turn.inspected:
            said, seen = f"looked at {', '.join(turn.inspected[:4])}", turn.inspected[0].partition("#")[0]
            yield _Happening(turn.first_step, functools.partial(str, said), f"/episodes/{seen}")
    for one in reader.questions():
        if one.life == life and one.step is not None and one.references:
            said, seen = f"asked: {one.question}", one.references[0].episode
            yield _Happening(one.step, functools.partial(str, said), f"/episodes/{seen}")


def _merged(happened: Sequence[_Happening], first: int, last: int, life: int, kind: str) -> list[Mark]:
    span = max(last - first, 1)
    groups: list[list[_Happening]] = []
    at = float("-inf")
    for one in sorted(happened, key=lambda one: one.step):
        here = (one.step - first) * WIDTH / span
        if here - at < _NEAR:
            groups[-1].append(one)
        else:
            groups.append([one])
            at = here
    return [_mark(group, first, span, life, kind) for group in groups]


def _mark(group: Sequence[_Happening], first: int, span: int, life: int, kind: str) -> Mark:
    begin, end = group[0], group[-1]
    at = min(max(((begin.step + end.step) / 2 - first) * WIDTH / span, 0), WIDTH)
    if len(group) == 1:
        return Mark(at, f"step {begin.step}: {begin.label()}", begin.href, 1, begin.failed)
    told = ", ".join(dict.fromkeys(one.label() for one in group[:4])) + (", …" if len(group) > 4 else "")
    asked: dict[str, object] = {"life": life, "steps_from": begin.step, "steps_to": end.step}
    if kind in ("milestone", "died"):
        asked["tag"] = kind
    failed = all(one.failed for one in group)
    return Mark(at, f"steps {begin.step} to {end.step}: {told}", f"/search?{urlencode(asked)}", len(group), failed)
