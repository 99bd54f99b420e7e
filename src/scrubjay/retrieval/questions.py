"""Questions asked of evidence, and the answers to them: `inspections.jsonl`.

It knows rows and ids. It does not know how a view is drawn, nor who asks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from scrubjay.errors import InvalidInput, NotFound
from scrubjay.memory import journal
from scrubjay.memory.jsonio import Json
from scrubjay.memory.layout import Layout, Reference, parse_reference

__all__ = ["Inspection", "Questions", "inspection_id"]

_ID = re.compile(r"q_([0-9]{6,18})")


def inspection_id(number: int) -> str:
    """`q_000043` for 43."""
    return f"q_{number:06d}"


def _number(row: Json) -> int:
    found = _ID.fullmatch(row["id"]) if isinstance(row.get("id"), str) else None
    return int(found[1]) if found else 0


@dataclass(frozen=True, slots=True)
class Inspection:
    """A question, what was looked at, and its newest answer (None: unanswered)."""

    id: str
    view: str
    question: str
    references: tuple[Reference, ...]
    life: int | None = None
    step: int | None = None
    time: str | None = None
    answer: str | None = None
    answered: str | None = None

    def shows(self, reference: Reference) -> bool:
        """True where the view showed this step, or any step of this episode."""
        if reference.step is None:
            return any(shown.episode == reference.episode for shown in self.references)
        return reference in self.references


class Questions:
    """The journal of questions and answers of one memory."""

    def __init__(self, layout: Layout) -> None:
        self._path = layout.inspections
        self._lock = layout.lock_of(layout.inspections)

    def ask(self, view: str, question: str, sources: list[Json], life: int | None, step: int | None, more: Json) -> str:
        """Stores a question and gives its id, which no other process gets. Durable when it returns.

        `sources` says for each part of the view its reference, camera and region; `more` what else is needed to make
        the view again. Raises StorageFull, StorageFailed or ReadOnly.
        """
        claimed = ""

        def row() -> list[Json]:
            nonlocal claimed
            claimed = inspection_id(self._last_number() + 1)
            said = {"id": claimed, "kind": "question", "view": view, "question": question, "sources": sources}
            return [{**said, **more, "life": life, "step": step, "time": _now()}]

        journal.append_made(self._path, self._lock, row)
        return claimed

    def _last_number(self) -> int:
        greatest = 0
        for entry in journal.read_backwards(self._path):
            greatest = max(greatest, _number(entry.row))
            if entry.row.get("kind") == "question" and _number(entry.row):
                break
        return greatest

    def answer(self, ident: str, text: str, life: int | None, step: int | None) -> None:
        """Stores an answer; an earlier one stays in the file. Raises NotFound, InvalidInput, or as `ask`."""
        if not text.strip():
            raise InvalidInput("answer: some text was expected, found none")
        self.row(ident)
        said = {"kind": "answer", "id": ident, "answer": text, "life": life, "step": step, "time": _now()}
        journal.append(self._path, self._lock, [said])

    def row(self, ident: str) -> Json:
        """The stored row of a question. Raises NotFound."""
        for entry in journal.read_backwards(self._path):
            if entry.row.get("kind") == "question" and entry.row.get("id") == ident:
                return entry.row
        raise NotFound(f"no question {ident!r} was asked in this memory; one looks like {inspection_id(1)}")

    def recall(self, reference: Reference | None = None) -> list[Inspection]:
        """Questions with their answers, in the order they were asked: all, or those about an episode or a step."""
        found: dict[str, Inspection] = {}
        for row in journal.rows(self._path):
            if row.get("kind") == "question" and _number(row):
                found[row["id"]] = _inspection(row)
            elif row.get("kind") == "answer" and row.get("id") in found:
                asked = found[row["id"]]
                found[row["id"]] = replace(asked, answer=str(row.get("answer")), answered=_text(row.get("time")))
        return [asked for asked in found.values() if reference is None or asked.shows(reference)]


def _inspection(row: Json) -> Inspection:
    return Inspection(
        id=row["id"],
        view=str(row.get("view")),
        question=str(row.get("question")),
        references=tuple(_references(row)),
        life=row["life"] if isinstance(row.get("life"), int) else None,
        step=row["step"] if isinstance(row.get("step"), int) else None,
        time=_text(row.get("time")),
    )


def _references(row: Json) -> Iterator[Reference]:
    sources = row.get("sources")
    for source in sources if isinstance(sources, list) else []:
        name = source.get("reference") if isinstance(source, dict) else None
        if isinstance(name, str):
            try:
                yield parse_reference(name)
            except InvalidInput:
                continue


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _now() -> str:
    return datetime.now(UTC).isoformat()
