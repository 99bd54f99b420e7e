"""Memory: the one object through which agents, people and programs use a memory.

It joins recording, locating, inspecting and the agent's documents over one folder; each of them does its own work.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from scrubjay.errors import NotFound, ReadOnly
from scrubjay.memory import folder
from scrubjay.memory.layout import Layout, parse_reference
from scrubjay.memory.records import LifeRow, Row, World
from scrubjay.version import __version__

if TYPE_CHECKING:
    from scrubjay.memory.deriving import Deriver
    from scrubjay.memory.documents import Documents
    from scrubjay.memory.evidence import Episode
    from scrubjay.memory.frames import FrameCodec
    from scrubjay.memory.grid import Grid
    from scrubjay.memory.lives import Life
    from scrubjay.memory.procedures import Procedures
    from scrubjay.retrieval.inspections import Inspector
    from scrubjay.retrieval.locate import Locator
    from scrubjay.retrieval.matches import Matches
    from scrubjay.retrieval.query import Query
    from scrubjay.retrieval.questions import Inspection
    from scrubjay.retrieval.views import View

__all__ = ["Memory", "cue_makers"]


class Memory:
    """A memory on disk. Make one with `Memory.create` or `Memory.open`, and use it in a `with` or call `close`.

    Any number of processes may have the same memory open, to record and to read.
    """

    def __init__(self, layout: Layout, manifest: Mapping[str, Any], read_only: bool) -> None:
        self.layout, self.read_only = layout, read_only
        self.format: int = manifest["format"]
        self.uuid: str | None = manifest.get("uuid")
        self._lives: list[Life] = []

    @classmethod
    def create(cls, path: str | os.PathLike[str]) -> Self:
        """Makes an empty memory in a new or empty folder and opens it. Raises Conflict where something is there."""
        folder.create_folder(path, f"scrubjay {__version__}")
        return cls.open(path)

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, read_only: bool = False) -> Self:
        """Opens a memory. A writable open first recovers lives whose process died; a reader changes nothing.

        Raises NotFound, FormatTooNew, Damaged, or ReadOnly where the folder can't be written.
        """
        layout, manifest = folder.open_folder(path, read_only)
        memory = cls(layout, manifest, read_only)
        if not read_only:
            memory._recover()
        return memory

    def _recover(self) -> None:
        from scrubjay.memory.recovery import open_lives, recover

        if any(not folder.is_running(self.layout, row["life"]) for row in open_lives(self.layout)):
            recover(self.layout, self.world, cue_makers())
        if os.path.exists(self.layout.documents_journal) or os.listdir(self.layout.mine):
            self.documents.sync()

    @property
    def root(self) -> str:
        """The folder, as an absolute path."""
        return self.layout.root

    # --- record

    def live(
        self,
        task: str = "",
        world: World | str = "world",
        *,
        method: str | None = None,
        model: str | None = None,
        milestones: Iterable[str] = (),
        deriver: Callable[[], Deriver] | str = "default",
        codec: FrameCodec | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> Life:
        """Begins a life: one unbroken run of an agent on a task, in a world (declared where it is new).

        `milestones` names those that count, for the log's "k/m verified"; `deriver` is a family of environments
        (`default`, `continuous`) or makes a deriver of your own. Raises ReadOnly, StorageFull.
        """
        if self.read_only:
            raise ReadOnly(f"{self.root} is open read-only; open it with Memory.open(path) to record")
        from scrubjay.memory.frames import DEFAULT_CODEC
        from scrubjay.memory.lives import Life

        life = Life(
            self.layout,
            task=task,
            world=folder.declare_world(self.layout, world),
            method=method,
            model=model,
            milestones=milestones,
            cue_makers=cue_makers(),
            deriver=deriver,
            codec=codec or DEFAULT_CODEC,
            extra=dict(extra or {}),
        )
        self._lives = [*self._running(), life]
        return life

    def _running(self) -> list[Life]:
        return [life for life in self._lives if life.is_running]

    def lives(self) -> list[LifeRow]:
        """Every life, in order; `ended` is None for those that run."""
        return folder.lives(self.layout)

    def worlds(self) -> dict[str, World]:
        """Every declared world by name."""
        return folder.worlds(self.layout)

    def world(self, name: str | None) -> World:
        """A world by name; one with the usual axes (y up, cells of 1) where it was never declared."""
        return self.worlds().get(name or "") or World(name or "world")

    def context(self) -> tuple[int | None, int | None]:
        """The newest life that this object runs and its step, for rows that say who wrote them and when."""
        for life in reversed(self._running()):
            return life.number, life.step
        return None, None

    # --- locate

    @cached_property
    def _locator(self) -> Locator:
        from scrubjay.retrieval.locate import Locator

        return Locator(self.layout)

    def find(self, query: Query | None = None) -> Matches:
        """The episodes that meet a query, oldest first (ranked queries: best first), a page at a time."""
        from scrubjay.retrieval.query import Query

        return self._locator.find(query or Query())

    def iterate(self, query: Query | None = None) -> Iterator[Row]:
        """Every row that meets a query, one by one, without a limit."""
        from scrubjay.retrieval.query import Query

        return self._locator.iterate(query or Query())

    def grid(self, world: str | None = None) -> Grid:
        """What happened in which cell, of one world or all."""
        from scrubjay.memory.grid import Grid

        return Grid(self.layout, world)

    # --- inspect

    def episode(self, reference: str | Row) -> Episode:
        """One episode's record, steps and frames, by id or row. Raises NotFound (not finished, not there)."""
        from scrubjay.memory.evidence import Episode

        if isinstance(reference, Row):
            return Episode(self.layout, reference.id, reference)
        ident = parse_reference(reference).episode
        if self.format == 0:
            return Episode(self.layout, ident, self._published_row(ident))
        episode = Episode(self.layout, ident)
        _ = episode.record
        return episode

    def _published_row(self, ident: str) -> Row:
        from scrubjay.memory import journal

        for row in journal.rows(self.layout.index):
            if row.get("id") == ident:
                return Row.from_json(row)
        raise NotFound(f"{ident} is not in this memory")

    @cached_property
    def _inspector(self) -> Inspector:
        from scrubjay.retrieval.inspections import Inspector

        return Inspector(self)

    def look(
        self,
        reference: str,
        *,
        zoom: Sequence[int] | None = None,
        camera: str | None = None,
        question: str | None = None,
    ) -> View:
        """The stored frame of an episode's start or a step; `zoom` (x, y, width, height) enlarges a region of it."""
        return self._inspector.look(reference, zoom=zoom, camera=camera, question=question)

    def sheet(self, rows: Any, *, question: str | None = None) -> View:
        """The start frames of matches, rows or references in one labelled picture."""
        return self._inspector.sheet(rows, question=question)

    def then_now(self, reference: str, now: Any, *, question: str | None = None) -> View:
        """A remembered frame beside the current one (array, image, bytes or path), labelled."""
        return self._inspector.then_now(reference, now=now, question=question)

    def compare(
        self, references: Iterable[str], *, zoom: Sequence[int] | None = None, question: str | None = None
    ) -> View:
        """Two to sixteen stored frames in one labelled picture; `zoom` shows the same region of each."""
        return self._inspector.compare(list(references), zoom=zoom, question=question)

    def answer(self, question_id: str, text: str) -> None:
        """Stores the answer to a question that a look asked. Raises NotFound, ReadOnly."""
        self._inspector.answer(question_id, text)

    def questions(self, reference: str | None = None) -> list[Inspection]:
        """Questions asked of evidence with their answers: all, or those about an episode or a step."""
        return self._inspector.recall(reference)

    def look_again(self, question_id: str) -> View:
        """The view of a stored question, made again from evidence. Raises NotFound, Damaged."""
        return self._inspector.remake(question_id)

    # --- the agent's documents

    @cached_property
    def documents(self) -> Documents:
        """Everything under `mine/`: notes, GUIDE, procedures, working memory, each change with its history."""
        from scrubjay.memory.documents import Documents

        return Documents(self.layout, self.read_only, self.context)

    @cached_property
    def procedures(self) -> Procedures:
        """The agent's procedures and reflexes, and the record of their calls."""
        from scrubjay.memory.procedures import Procedures

        return Procedures(self.layout, self.documents, self.read_only)

    # --- the end

    def close(self) -> None:
        """Ends the lives that run and lets go of files."""
        for life in self._running():
            life.end()
        if "_locator" in self.__dict__:
            self._locator.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for life in self._running() if error is not None else ():
            life.__exit__(kind, error, trace)
        self.close()


def cue_makers() -> dict[str, Callable[[Any], str]]:
    """The cues that cost a decode, by versioned name: made once, when a frame is recorded."""
    from base64 import b64encode

    from scrubjay.memory.frames import screen_hash
    from scrubjay.retrieval import places

    return {
        "screen/1": screen_hash,
        places.VERSION: lambda pixels: b64encode(places.describe(pixels)).decode(),
    }
