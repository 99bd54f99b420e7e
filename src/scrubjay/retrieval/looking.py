"""The four ways to look at evidence: one frame, a sheet of many, then beside now, several compared.

It turns evidence into views. It does not fetch evidence, and keeps no question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scrubjay.errors import Damaged, InvalidInput, NotFound
from scrubjay.retrieval.drawing import Montage, Panel, montage
from scrubjay.retrieval.evidence import Evidence
from scrubjay.retrieval.fitting import ACCEPTED, fit, scaled, shown_size
from scrubjay.retrieval.views import Bounds, Region, Source, View

if TYPE_CHECKING:
    import PIL.Image

__all__ = ["MOST_COMPARED", "MOST_IN_SHEET", "compare", "look", "sheet", "then_now"]

MOST_IN_SHEET = 64
MOST_COMPARED = 16
_THEN = "#ffc857"
_NOW = "#7cc7ff"


@dataclass(frozen=True, slots=True)
class _Single:
    image: PIL.Image.Image


def look(evidence: Evidence, bounds: Bounds) -> View:
    """One frame. Its stored bytes unchanged where they fit; else scaled down; a region enlarged by a whole factor.

    Raises NotFound where there is no frame, Damaged where it is no picture, InvalidInput for a region outside it.
    """
    picture = evidence.picture()
    size = picture.size if evidence.zoom is None else evidence.frame_size()
    frame = evidence.frame
    as_stored = evidence.zoom is None and frame is not None and frame.media_type in ACCEPTED
    if as_stored and frame is not None and bounds.hold(size, len(frame.data)):
        whole = Source(evidence.reference, evidence.camera, None, size, (0, 0, *size))
        return View(frame.data, frame.media_type, size, (whole,), max_bytes=bounds.max_bytes)
    useful = 0 if evidence.zoom is None else min(768, bounds.long_edge)

    def draw(edge: int) -> _Single:
        return _Single(scaled(picture, shown_size(picture.size, (edge, edge), useful)))

    data, media_type, drawn = fit(draw, bounds)
    region = evidence.region()
    source = Source(
        evidence.reference,
        evidence.camera,
        region,
        size,
        (0, 0, *drawn.image.size),
        clipped=region is not None and region != evidence.zoom,
    )
    return View(data, media_type, drawn.image.size, (source,), max_bytes=bounds.max_bytes)


def sheet(items: Sequence[Evidence], bounds: Bounds, question: str | None = None, left_out: int = 0) -> View:
    """A contact sheet: every frame with its reference, step, milestones, position and action kind.

    More than MOST_IN_SHEET items: the first ones are shown, the number of the others is in the picture and in
    the view's `left_out`; the parameter counts what the caller left out before. A frame that is missing or damaged
    is a grey cell with the reason. Raises InvalidInput where there is nothing to show.
    """
    if not items:
        raise InvalidInput("a sheet needs at least one episode to show; nothing matched")
    shown = items[:MOST_IN_SHEET]
    left_out += len(items) - len(shown)
    rest = [f"{len(shown)} shown, {left_out} more left out: narrow the query"] if left_out else []
    footer = " | ".join(rest + ([f"Q: {question}"] if question else []))
    return _several(shown, [_sheet_panel(item) for item in shown], bounds, footer=footer, left_out=left_out)


def then_now(then: Evidence, now: Evidence, bounds: Bounds, question: str | None = None) -> View:
    """The remembered frame beside the current one, labelled; the question stands below.

    Raises NotFound or Damaged where there is no remembered frame to show.
    """
    then.picture()
    panels = [
        _panel(then, (f"THEN {_then_label(then)}",), _THEN),
        _panel(now, ("NOW",), _NOW),
    ]
    return _several([then, now], panels, bounds, columns=2, footer=f"Q: {question}" if question else None)


def compare(items: Sequence[Evidence], bounds: Bounds, question: str | None = None) -> View:
    """Two to MOST_COMPARED frames in one picture, labelled with their references; the question stands below.

    Raises InvalidInput for other counts.
    """
    if not 2 <= len(items) <= MOST_COMPARED:
        raise InvalidInput(f"compare takes 2 to {MOST_COMPARED} references, found {len(items)}; a sheet takes more")
    panels = [_sheet_panel(item, _region_text(item)) for item in items]
    return _several(items, panels, bounds, footer=f"Q: {question}" if question else None)


def _several(
    items: Sequence[Evidence],
    panels: Sequence[Panel],
    bounds: Bounds,
    *,
    columns: int | None = None,
    footer: str | None = None,
    left_out: int = 0,
) -> View:
    def draw(edge: int) -> Montage:
        return montage(panels, edge, columns=columns, footer=footer)

    data, media_type, drawn = fit(draw, bounds)
    sources = tuple(_source(*facts) for facts in zip(items, drawn.at, drawn.missing, strict=True))
    return View(data, media_type, drawn.image.size, sources, left_out=left_out, max_bytes=bounds.max_bytes)


def _source(item: Evidence, at: Region | None, missing: str | None) -> Source:
    if at is None:
        return Source(item.reference, item.camera, missing=missing)
    region = item.region()
    return Source(
        item.reference, item.camera, region, item.frame_size(), at, clipped=region is not None and region != item.zoom
    )


def _panel(item: Evidence, lines: tuple[str, ...], accent: str = "#ffffff") -> Panel:
    try:
        region = item.region()
        size = item.frame_size() if region is None else (region[2], region[3])
    except (NotFound, Damaged) as error:
        return Panel(lines, item.picture, None, str(error), accent)
    return Panel(lines, item.picture, size, None, accent)


def _sheet_panel(item: Evidence, more: str = "") -> Panel:
    reference = item.reference
    name = str(reference) if reference is not None else "?"
    if reference is not None and reference.step is None and item.step is not None:
        name = f"{name}#{item.step}"
    camera = f" {item.camera}" if item.camera else ""
    reached = ", ".join(item.milestones)
    second = " ".join(part for part in (reached, _where(item), item.action or "", more) if part)
    return _panel(item, (f"{name}{camera}", second or "-"))


def _where(item: Evidence) -> str:
    if item.position is not None:
        return f"({item.position[0]:.1f}, {item.position[1]:.1f})"
    return item.place or ""


def _region_text(item: Evidence) -> str:
    return "" if item.zoom is None else "zoom {} {} {} {}".format(*item.zoom)


def _then_label(item: Evidence) -> str:
    reference = item.reference
    name = reference.episode if reference is not None else (item.place or "?")
    step = "" if item.step is None else f" step {item.step}"
    if item.position is not None:
        return f"{name}{step} at ({item.position[0]:.0f},{item.position[1]:.0f})"
    return f"{name}{step}" + (f" in {item.place}" if item.place and reference is not None else "")
