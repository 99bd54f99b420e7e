"""Templates with their filters: whatever is put into a page is escaped, and what steers text is shown instead.

It knows how values look. Which there are, the pages know.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import HTMLResponse

from scrubjay.memory.layout import parse_reference
from scrubjay.surfaces.cli.plain import plain
from scrubjay.surfaces.web.markdown import cite, episode_address

__all__ = ["page"]

_ON_A_CARD = 400


def _finalize(value: Any) -> Any:
    if value is None:
        return ""
    return value if isinstance(value, Markup) else plain(str(value))


@functools.cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("scrubjay.surfaces.web"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "cite": cite, "count": _count, "when": _when, "moment": _moment, "position": _position, "quoted": quote,
        "address": _address, "spaced": _spaced, "shortened": _shortened,
    }  # fmt: skip
    return made


def page(name: str, status: int = 200, **values: Any) -> HTMLResponse:
    """The response with a filled-in template."""
    return HTMLResponse(_environment().get_template(name).render(values), status)


def _count(number: int | float) -> str:
    """1,234,567 with thin spaces, which no language mistakes for a decimal point."""
    return f"{number:,}".replace(",", "\u202f")


def _when(text: str | None) -> str:
    """`30 Nov 2026, 12:00:03 UTC` for an ISO time; the text itself where it is none."""
    try:
        time = datetime.fromisoformat(text or "")
    except ValueError:
        return text or ""
    zone = time.strftime("%Z") if time.tzinfo else ""
    return f"{time.day} {time:%b %Y, %H:%M:%S} {zone}".strip()


def _moment(text: str | None) -> str:
    """`12:00:03` of an ISO time."""
    try:
        return f"{datetime.fromisoformat(text or ''):%H:%M:%S}"
    except ValueError:
        return text or ""


def _position(position: Sequence[float] | None) -> str:
    """`(47, 0, 43.5)`."""
    return "" if position is None else f"({', '.join(f'{value:.1f}'.removesuffix('.0') for value in position)})"


def _address(reference: object) -> str:
    """The page of a reference."""
    return episode_address(parse_reference(str(reference)))


def _shortened(text: object) -> str:
    """What has room on a card; the page of the episode has all of it."""
    shown = str(text)
    return shown if len(shown) <= _ON_A_CARD else f"{shown[:_ON_A_CARD]}…"


def _spaced(name: object) -> str:
    """`collect wood` for `collect_wood`."""
    return str(name).replace("_", " ")
