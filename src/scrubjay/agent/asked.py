"""What a model named in its arguments, as the objects that the memory takes: queries and references.

It knows shapes and bounds. A model names episodes, never files.
"""

from __future__ import annotations

from typing import Any

from scrubjay.errors import InvalidInput
from scrubjay.memory.jsonio import Json
from scrubjay.memory.layout import parse_reference
from scrubjay.retrieval.query import Query

__all__ = ["query_of", "reference_of", "references_of"]


def query_of(arguments: Json, most: int) -> Query:
    """The query that the parameters of `episodes` spell, with a page of at most `most` rows. Raises InvalidInput."""
    values = {key: value for key, value in arguments.items() if value is not None}
    for name in ("near", "through", "steps"):
        if name in values:
            values[name] = tuple(values[name])
    if isinstance(values.get("tag"), list):
        values["tag"] = tuple(values["tag"])
    values["limit"] = min(int(values.get("limit", most)), most)
    return Query(**values)


def reference_of(given: Any) -> str:
    """A reference that a model gave. Raises InvalidInput."""
    if not isinstance(given, str):
        raise InvalidInput(f"{given!r:.80} is not a reference; one looks like ep_000043 or ep_000043#2350")
    return str(parse_reference(given))


def references_of(given: Any) -> list[str]:
    """Several of them. Raises InvalidInput."""
    if not isinstance(given, list):
        raise InvalidInput(f"references: a list of references was expected, found {given!r:.80}")
    return [reference_of(one) for one in given]
