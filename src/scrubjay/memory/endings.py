"""What a caller may say when an episode ends, checked before anything of it is sealed.

It knows what rows and the grid can hold; it does not know the episode.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scrubjay.errors import InvalidInput
from scrubjay.memory.jsonio import Json, clean
from scrubjay.memory.records import GridRow, Row

__all__ = ["check_cells", "check_ending", "given_ending"]


def given_ending(summary: str | None, tags: Iterable[str] | None, cells: Iterable[Mapping[str, Any]] | None) -> Json:
    """What the caller gave instead of what is derived. Raises InvalidInput for what no row or grid can hold."""
    if isinstance(tags, str):
        raise InvalidInput(f"tags: a list of texts was expected, found the text {tags!r:.80}")
    if not (summary is None or isinstance(summary, str)):
        raise InvalidInput(f"summary: text was expected, found {type(summary).__name__}")
    given: Json = {"summary": summary, "tags": None if tags is None else [str(tag) for tag in tags], "cells": None}
    if cells is not None:
        given["cells"] = clean([dict(cell) for cell in cells])[0]
        check_cells(given["cells"])
    return given


def check_cells(cells: Iterable[Json]) -> None:
    """Raises InvalidInput for a cell event that the grid can't take."""
    for cell in cells:
        try:
            GridRow.from_json({**cell, "episode": "", "world": None})
        except ValueError as error:
            raise InvalidInput(f"cells: {error}; one has cell, kind and step, found {cell!r:.120}") from None


def check_ending(outcome: Any, extra: Mapping[str, Any] | None) -> None:
    """Raises InvalidInput for an outcome that is no text, and for extra keys that every row has itself."""
    if not (outcome is None or isinstance(outcome, str)):
        raise InvalidInput(f"outcome: text was expected, found {type(outcome).__name__}")
    taken = set(Row("", "").to_json()).intersection(extra or ())
    if taken:
        raise InvalidInput(f"extra: {', '.join(sorted(taken))} are keys of every row and can't be given")
