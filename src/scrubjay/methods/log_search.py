"""Search over the lives as text: what logs.txt says, and nothing that only the index or an episode's record holds.

A section of the log becomes a row with what can be read in it. The start's position is where the section before
ended; what the text does not say (frames, views, cells) cannot be found.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scrubjay.errors import InvalidInput
from scrubjay.memory.layout import episode_id
from scrubjay.memory.records import Row
from scrubjay.methods.recalling import Page
from scrubjay.models.contract import Found
from scrubjay.retrieval.patience import Patient
from scrubjay.retrieval.query import ALL_LIVES, Query

if TYPE_CHECKING:
    from scrubjay.public import Memory

__all__ = ["LogSearch", "Section", "matching_sections", "sections"]

_RULE = "=" * 80 + "\n"
_HEADER = re.compile(r"Action (\d+) \| Step (\d+) \|")
_ACTION = re.compile(r'^\[ACTION\] (?:"((?:[^"\\]|\\.)*)"|(\w+)\()', re.MULTILINE)
_OUTCOME = re.compile(r", outcome (\w+)$", re.MULTILINE)
_CHANGE = re.compile(r"^\[INV\] .* change \{.+\}$", re.MULTILINE)
_EVENT = re.compile(r"^\[EVENT\] (.*)$", re.MULTILINE)
_NOT_IN_TEXT = ("near", "through", "below", "above", "place", "since", "until", "same_screen", "like", "match")


@dataclass(frozen=True, slots=True)
class Section:
    """One executed action as the log tells it. `number` counts the sections of its life from 0."""

    life: int
    number: int
    step: int
    text: str


def sections(text: str, life: int) -> Iterator[Section]:
    """The sections of a log, in order; what has no header that can be read is passed over."""
    for part in text.split(_RULE):
        found = _HEADER.match(part)
        if found is not None:
            yield Section(life, int(found[1]), int(found[2]), part.rstrip("\n"))


class LogSearch:
    """Answers queries from the logs of a memory."""

    def __init__(self, memory: Memory, life: int) -> None:
        self._memory, self._life = memory, life

    def text(self, life: int) -> str:
        """The log of a life; empty where it has none yet."""
        try:
            with open(self._memory.layout.log(life), encoding="utf-8", errors="replace") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def find(self, query: Query) -> Found:
        """The rows whose section meets the query, oldest first.

        A tag is looked for among those that the text shows, else as a word. Raises InvalidInput for a condition that
        a text can't answer.
        """
        rows = [row for row, _ in self.matching(query)]
        if query.after is not None:
            rows = [row for row in rows if row.id > query.after]
        return Page(rows if query.limit is None else rows[: query.limit])

    def matching(self, query: Query) -> list[tuple[Row, Section]]:
        """All that meets the query, with the sections, oldest first."""
        for name in _NOT_IN_TEXT:
            if getattr(query, name) is not None:
                raise InvalidInput(f"{name}: the log is text, it can be searched for words, actions, steps and lives")
        meets = _condition(query)
        found = [both for life in self._lives(query) for both in self._rows(life) if meets(both[0], both[1].text)]
        return found if query.last is None else found[-query.last :] if query.last else []

    def _lives(self, query: Query) -> list[int]:
        lives = [life for life in self._memory.lives() if query.world is None or life.world == query.world]
        if query.previous:
            return [life.life for life in lives if life.life < self._life]
        if query.life == ALL_LIVES or (query.life is None and query.world is not None):
            return [life.life for life in lives]
        wanted = self._life if query.life is None else query.life
        return [life.life for life in lives if life.life == wanted]

    def _rows(self, life: int) -> Iterator[tuple[Row, Section]]:
        """Rows and sections of a life. Episodes are counted through the lives, which lie one behind the other."""
        first = sum(len(list(sections(self.text(earlier), earlier))) for earlier in range(1, life))
        found = list(sections(self.text(life), life))
        before: tuple[float, float, float] | None = None
        for place, section in enumerate(found):
            following = found[place + 1].step if place + 1 < len(found) else None
            row = _row(section, episode_id(first + section.number), following, before)
            before = row.end
            yield row, section


def matching_sections(memory: Memory, life: int, query: Query) -> list[Section]:
    """The sections that meet a query, asked in a life; oldest first."""
    return [section for _, section in LogSearch(memory, life).matching(query)]


def _row(section: Section, ident: str, following: int | None, start: tuple[float, float, float] | None) -> Row:
    text = section.text
    action = _ACTION.search(text)
    outcome = _OUTCOME.search(text)
    summary = next((line for line in text.splitlines() if line.startswith("[ACTION]")), "")
    x, y, z = start or (None, None, None)
    return Row(
        id=ident,
        path="",
        action_kind=None if action is None else action[1] or action[2],
        first_step=section.step,
        last_step=following,
        x=x,
        y=y,
        z=z,
        end=_position(text),
        summary=summary,
        tags=_tags(text, None if outcome is None else outcome[1]),
        events=tuple(_EVENT.findall(text)),
        life=section.life,
        outcome=None if outcome is None else outcome[1],
    )


def _tags(text: str, outcome: str | None) -> tuple[str, ...]:
    shown = {
        "milestone": "[EVENT] milestone " in text,
        "inventory_changed": _CHANGE.search(text) is not None,
        "died": outcome == "died",
    }
    return tuple(name for name, is_shown in shown.items() if is_shown)


def _position(text: str) -> tuple[float, float, float] | None:
    line = next((line for line in text.splitlines() if line.startswith("[STATE] ")), None)
    try:
        pos: Any = json.loads(line.removeprefix("[STATE] "))["pos"] if line is not None else None
        x, y, z = (float(value) for value in pos)
    except (KeyError, TypeError, ValueError):
        return None
    return (x, y, z)


def _condition(query: Query) -> Callable[[Row, str], bool]:
    regex = None if query.regex is None else Patient(re.compile(query.regex, re.IGNORECASE))
    grep = None if query.grep is None else query.grep.casefold()

    def meets(row: Row, text: str) -> bool:
        return (
            (query.action is None or row.action_kind == query.action)
            and (query.steps is None or _overlap(row, *sorted(query.steps)))
            and all(tag in row.tags or re.search(rf"\b{re.escape(tag)}\b", text) is not None for tag in query.tags)
            and (grep is None or grep in text.casefold())
            and (regex is None or regex.found_in(text))
        )

    return meets


def _overlap(row: Row, first: int, last: int) -> bool:
    begins = row.first_step or 0
    return begins <= last and (row.last_step if row.last_step is not None else begins) >= first
