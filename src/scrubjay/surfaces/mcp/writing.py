"""The tools that write what the agent knows: answers to questions, and documents.

Each change goes through the memory's own objects, so it is durable, has a history, and loses no other's.
"""

from __future__ import annotations

from collections.abc import Callable

from scrubjay.errors import InvalidInput
from scrubjay.memory.documents import Documents
from scrubjay.memory.file_memory import FileMemory
from scrubjay.memory.jsonio import Json
from scrubjay.memory.layout import Layout
from scrubjay.memory.paths import given_path
from scrubjay.memory.records import Row
from scrubjay.public import Memory
from scrubjay.retrieval.fetching import EpisodeLike
from scrubjay.retrieval.inspections import Inspector
from scrubjay.surfaces.mcp.asked import Asked
from scrubjay.surfaces.mcp.reading import BOUNDS
from scrubjay.surfaces.mcp.results import Answer, bounded

__all__ = ["Context", "Writing"]

Context = Callable[[], tuple[int | None, int | None]]


class Writing:
    """Answers calls from any thread. `context` says in which life, at which step, a change is made."""

    def __init__(self, memory: Memory, asked: Asked, context: Context) -> None:
        self._asked = asked
        self._documents = Documents(memory.layout, context=context)
        self._inspector = Inspector(_Asking(memory, context), BOUNDS)

    def answer(self, arguments: Json) -> Answer:
        """Keeps an answer, and with it the question where that was only waiting."""
        text = arguments["text"]
        if not text.strip():
            raise InvalidInput("text: what do you see? An answer was expected, found none")
        ident = self._asked.store(arguments["id"], self._inspector)
        self._inspector.answer(ident, text)
        return Answer(f"stored as the answer to {ident}", {"id": ident})

    def write(self, arguments: Json) -> Answer:
        """Creates, edits or adds to a document."""
        if arguments["command"] != "append":
            return self._execute(arguments)
        text = arguments.get("text")
        if text is None:
            raise InvalidInput("`append` needs `text`")
        path = given_path(arguments["path"])
        self._documents.append(path, text)
        return Answer.of_text(f"appended to /memories/{path}")

    def remove(self, arguments: Json) -> Answer:
        """Deletes or renames documents."""
        return self._execute(arguments)

    def _execute(self, arguments: Json) -> Answer:
        return Answer.of_text(bounded(FileMemory(self._documents).execute(arguments), "read_documents shows it"))


class _Asking:
    """The memory as an inspector needs it, in the life of whoever asks."""

    read_only = False

    def __init__(self, memory: Memory, context: Context) -> None:
        self._memory, self._context = memory, context

    @property
    def layout(self) -> Layout:
        return self._memory.layout

    def episode(self, reference: str | Row) -> EpisodeLike:
        return self._memory.episode(reference)

    def context(self) -> tuple[int | None, int | None]:
        return self._context()
