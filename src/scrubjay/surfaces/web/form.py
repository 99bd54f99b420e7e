"""The search form: what a person typed, as a query and back as the values of fields.

It knows fields and their errors. Pictures it knows by reference alone: a file of this machine is never read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from scrubjay.errors import InvalidInput
from scrubjay.memory.layout import parse_reference
from scrubjay.public import Memory
from scrubjay.retrieval.query import ALL_LIVES, Query

__all__ = ["FIELDS", "Asked", "asked", "whole_number"]

PREVIOUS = "previous"
_MOST = 2000
_WHOLE = re.compile(r"-?[0-9]{1,16}")
FIELDS = (
    "grep", "regex", "match", "tag", "action", "place", "near_1", "near_2", "through_1", "through_2", "radius",
    "below", "above", "steps_from", "steps_to", "since", "until", "last", "life", "world", "same_screen", "like",
    "after",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Asked:
    """A filled-in form: the query, what stands in each field, and the references behind its pictures."""

    query: Query
    values: Mapping[str, str]
    same_screen: str | None = None
    like: str | None = None

    @property
    def is_empty(self) -> bool:
        """True where no condition is given but which lives."""
        return not any(value for name, value in self.values.items() if name not in ("life", "after"))


def values_of(given: Mapping[str, str]) -> dict[str, str]:
    """What stands in each field; a field that is not there is empty."""
    return {name: given.get(name, "").strip()[:_MOST] for name in FIELDS}


def asked(given: Mapping[str, str], limit: int) -> Asked:
    """Reads a form. Raises InvalidInput, naming the field."""
    values = values_of(given)
    life = values["life"] or ALL_LIVES
    query = Query(
        steps=_pair(values, "steps_from", "steps_to", "steps", whole=True),
        near=_pair(values, "near_1", "near_2", "near"),
        through=_pair(values, "through_1", "through_2", "through"),
        radius=_number(values, "radius"),
        below=_number(values, "below"),
        above=_number(values, "above"),
        place=values["place"] or None,
        since=values["since"] or None,
        until=values["until"] or None,
        tag=tuple(tag.strip() for tag in values["tag"].split(",") if tag.strip()) or None,
        action=values["action"] or None,
        grep=values["grep"] or None,
        regex=values["regex"] or None,
        match=values["match"] or None,
        life=None if life == PREVIOUS else _life(life),
        previous=life == PREVIOUS,
        world=values["world"] or None,
        last=_whole("last", values["last"]) if values["last"] else None,
        after=values["after"] or None,
        limit=limit,
    )
    pictures = {name: _reference(values, name) for name in ("same_screen", "like")}
    if query.match is not None and pictures["like"] is not None:
        raise InvalidInput("words and a likeness both order what is found: give one of them")
    return Asked(query, values, **pictures)


def with_pictures(form: Asked, memory: Memory) -> Query:
    """The query with the stored frames behind its references. Raises NotFound."""
    query = form.query
    if form.same_screen is not None:
        from scrubjay.memory.frames import screen_hash

        query = replace(query, same_screen=screen_hash(_pixels(form.same_screen, memory)))
    if form.like is not None:
        from scrubjay.retrieval.places import views

        query = replace(query, like=b"".join(views(_pixels(form.like, memory))))
    return query


def _pixels(text: str, memory: Memory) -> Any:
    reference = parse_reference(text)
    episode = memory.episode(reference.episode)
    return (episode.start_frame() if reference.step is None else episode.frame(reference.step)).array()


def _reference(values: Mapping[str, str], name: str) -> str | None:
    return str(parse_reference(values[name])) if values[name] else None


def _life(text: str) -> int | str:
    return text if text == ALL_LIVES else _whole("life", text)


def _pair(values: Mapping[str, str], one: str, two: str, shown: str, *, whole: bool = False) -> Any:
    texts: Sequence[str] = (values[one], values[two])
    if not any(texts):
        return None
    if not all(texts):
        raise InvalidInput(f"{shown}: both values are needed")
    read = _whole if whole else _float
    return (read(shown, texts[0]), read(shown, texts[1]))


def _number(values: Mapping[str, str], name: str) -> float | None:
    return _float(name, values[name]) if values[name] else None


def _float(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InvalidInput(f"{name}: a number was expected, found {text!r:.60}") from None


def _whole(name: str, text: str) -> int:
    number = whole_number(text)
    if number is None:
        raise InvalidInput(f"{name}: a whole number was expected, found {text!r:.60}")
    return number


def whole_number(text: str) -> int | None:
    """The number that a text is, of at most 16 digits; None for any other text."""
    return int(text) if _WHOLE.fullmatch(text) else None
