"""The `scrubjay episodes` command that asks what a search form asks, ready for a shell.

It knows options and quoting. What is found it does not know.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from scrubjay.retrieval.query import Query

__all__ = ["command_line"]

_PAIRS = ("steps", "near", "through")
_VALUES = ("radius", "below", "above", "last")
_TEXTS = ("place", "since", "until", "action", "grep", "regex", "match")


def command_line(folder: str, query: Query, *, same_screen: str | None = None, like: str | None = None) -> str:
    """One line; `same_screen` and `like` are the references that the query's pictures came from."""
    words = ["scrubjay", "episodes", folder, *_options(query)]
    for option, value in (("same-screen", same_screen), ("like", like)):
        if value is not None:
            words.append(f"--{option}={value}")
    return " ".join(map(shlex.quote, words))


def _options(query: Query) -> Iterator[str]:
    for name in _PAIRS:
        pair = getattr(query, name)
        if pair is not None:
            yield f"--{name}"
            yield from map(_number, pair)
    for name in _VALUES:
        value = getattr(query, name)
        if value is not None:
            yield f"--{name}={_number(value)}"
    for name in _TEXTS:
        text = getattr(query, name)
        if text is not None:
            yield f"--{name}={text}"  # in one word, so that a text may begin with a hyphen
    yield from (f"--tag={tag}" for tag in query.tags)
    if query.life is not None:
        yield f"--life={query.life}"
    if query.previous:
        yield "--previous"
    if query.world is not None:
        yield f"--world={query.world}"
    if query.after is not None:
        yield f"--after={query.after}"


def _number(value: float) -> str:
    """Without an exponent: an option parser takes `-1e5` for an option."""
    if isinstance(value, int):
        return str(value)
    return f"{value:.17f}".rstrip("0").rstrip(".") if abs(value) < 1e6 else f"{value:f}".rstrip("0").rstrip(".")
