"""One memory, open for the pages: what costs a scan is kept until its files change.

It reads and never writes. Pages are made from it in any number of threads.
"""

from __future__ import annotations

import gc
import threading
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from scrubjay.memory import journal
from scrubjay.memory.evidence import Episode
from scrubjay.memory.folder import is_running
from scrubjay.memory.jsonio import Json
from scrubjay.memory.layout import Layout
from scrubjay.memory.records import LifeRow, Row
from scrubjay.public import Memory
from scrubjay.retrieval.query import Query
from scrubjay.retrieval.questions import Inspection, Questions
from scrubjay.surfaces.apart import Apart, Found
from scrubjay.surfaces.web.citing import Citing
from scrubjay.surfaces.web.fresh import Fresh, state_of
from scrubjay.surfaces.web.milestones import Milestones
from scrubjay.surfaces.web.outline import Outline
from scrubjay.surfaces.web.pictures import Thumbnails
from scrubjay.surfaces.web.terrain import Terrain

__all__ = ["Call", "Reader", "Turn"]

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn of a life, as its row says it. `inspected` are the references the model looked at."""

    life: int
    number: int
    first_step: int
    episodes: tuple[str, ...]
    intention: str
    inspected: tuple[str, ...]
    requests: int
    tool_calls: int


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a procedure, for a strip of time."""

    name: str
    life: int
    step: int
    steps: int
    outcome: str
    episode: str | None


class Reader:
    """What the pages ask. `shown` is the memory's folder as the person typed it, for command lines."""

    def __init__(self, root: str, shown: str | None = None) -> None:
        self.memory = Memory.open(root, read_only=True)
        self.layout: Layout = self.memory.layout
        self.shown = root if shown is None else shown
        self.outline = Outline(self.layout)
        self.terrain = Terrain(self.layout)
        self.milestones = Milestones(self.layout)
        self.thumbnails = Thumbnails(self.layout, bare=self.memory.format == 0)
        self._locating = ThreadPoolExecutor(1, "scrubjay-locate")  # what a locator keeps open belongs to one thread
        self._apart = Apart(root)
        self._documents = threading.RLock()
        self._citing = Citing(self.outline)
        layout = self.layout
        self._lives = Fresh(lambda: state_of([layout.lives]), lambda: self.memory.lives())
        self._questions = Fresh(lambda: state_of([layout.inspections]), lambda: Questions(layout).recall())
        self._calls = Fresh(lambda: state_of([layout.procedures_journal]), self._read_calls)
        self._kept: dict[object, Any] = {}
        self._kept_version = -1
        self._of_life: dict[int, tuple[object, Any]] = {}
        self._turns: dict[int, Fresh[list[Turn]]] = {}
        self._asked = Fresh(lambda: state_of([layout.inspections]), self._by_episode)

    @property
    def name(self) -> str:
        """The memory's folder, without the way to it."""
        return self.layout.root.rstrip("/").rpartition("/")[2] or self.layout.root

    def warm(self) -> None:
        """Reads what the first pages would wait for, what home needs first."""
        # So many objects that stay are no work for the collector, neither while they are made nor later.
        gc.disable()
        try:
            self.outline.refresh()
            self.find(Query(last=1))
            _ = self.citing
            for life in self.lives():
                self.turns(life.life)
            self.terrain.refresh()
        finally:
            gc.enable()
        gc.freeze()

    def close(self) -> None:
        """Lets go of files and threads."""
        self._apart.close()
        self._locating.submit(self.memory.close).result()
        self._locating.shutdown()

    # --- episodes and lives

    def find(self, query: Query) -> tuple[Row, ...]:
        """The rows that match."""
        return self.found(query).rows

    def found(self, query: Query) -> Found:
        """One page of what matches."""
        if query.regex is not None:
            return self._apart.find(query)
        return self._locating.submit(lambda: Found.of(self.memory.find(query))).result()

    def episode(self, ident: str) -> Episode:
        """A finished episode. Raises NotFound, Damaged, InvalidInput."""
        return (
            self.memory.episode(ident)
            if self.memory.format
            else self._locating.submit(lambda: self.memory.episode(ident)).result()
        )

    def lives(self) -> Sequence[LifeRow]:
        """The lives as `lives.jsonl` has them; of a published run its one."""
        found = self._lives.get()
        if found or not len(self.outline):
            return found
        return [LifeRow(number, "", None, "", ended="") for number in sorted(self.outline.lives())]

    def is_running(self, life: LifeRow) -> bool:
        """True while a process records this life."""
        return life.ended is None and is_running(self.layout, life.life)

    def turns(self, life: int) -> Sequence[Turn]:
        """The turns of a life in which the agent acted."""
        path = self.layout.turns(life)
        kept = self._turns.setdefault(life, Fresh(lambda: state_of([path]), lambda: _turns(path, life)))
        return kept.get()

    def kept_of_life(self, life: LifeRow, make: Callable[[], R]) -> R:
        """What `make` gives for a life, kept until anything is recorded of it, or a row of the index changed."""
        layout, outline = self.layout, self.outline.lives().get(life.life)
        files = state_of([layout.turns(life.life), layout.procedures_journal, layout.inspections])
        state = (self.outline.generation, 0 if outline is None else len(outline.places), files, life)
        kept = self._of_life.get(life.life)
        if kept is None or kept[0] != state:
            kept = self._of_life[life.life] = (state, make())
        found: R = kept[1]
        return found

    # --- looks and calls

    def questions(self, ident: str | None = None) -> Sequence[Inspection]:
        """Questions asked of evidence with their answers: all, or those about an episode."""
        return self._questions.get() if ident is None else self._asked.get().get(ident, ())

    def _by_episode(self) -> Mapping[str, list[Inspection]]:
        found: dict[str, list[Inspection]] = defaultdict(list)
        for one in self._questions.get():
            for ident in dict.fromkeys(reference.episode for reference in one.references):
                found[ident].append(one)
        return dict(found)

    def calls(self, life: int) -> Sequence[Call]:
        """The calls of procedures in a life."""
        return self._calls.get().get(life, ())

    def _read_calls(self) -> Mapping[int, list[Call]]:
        found: dict[int, list[Call]] = defaultdict(list)
        for run in self.memory.procedures.calls.oldest():
            if run.life is not None and run.step is not None:
                first = run.episodes[0] if run.episodes else None
                found[run.life].append(Call(run.procedure, run.life, run.step, run.steps, run.outcome, first))
        return dict(found)

    # --- documents

    def with_documents(self, use: Callable[[Memory], R]) -> R:
        """What `use` takes from the agent's documents or procedures, one thread at a time."""
        with self._documents:
            return use(self.memory)

    @property
    def citing(self) -> Citing:
        """Who cites what, and which claims cite nothing, for the documents as they are."""
        with self._documents:
            self._citing.refresh(self.memory.documents)
        return self._citing

    # --- the grid

    def kept_of_terrain(self, key: object, make: Callable[[], Any]) -> Any:
        """What `make` gives, kept as long as the grid stays the same."""
        with self.terrain.mutex:
            if self._kept_version != self.terrain.version or len(self._kept) > 64:
                self._kept, self._kept_version = {}, self.terrain.version
            if key not in self._kept:
                self._kept[key] = make()
            return self._kept[key]

    # --- change

    def version(self) -> str:
        """A text that is another one whenever anything of the memory changed that a page shows."""
        layout = self.layout
        newest = max(self.outline.lives(), default=0)
        journals = [
            layout.index, layout.grid, layout.lives, layout.documents_journal, layout.procedures_journal,
            layout.inspections, layout.turns(newest),
        ]  # fmt: skip
        return ".".join("-" if one is None else f"{one[1]:x}-{one[2] % 10**12:x}" for one in state_of(journals))


def _turns(path: str, life: int) -> list[Turn]:
    return [_turn(row, life) for row in journal.rows(path) if isinstance(row.get("entries"), list)]


def _turn(row: Json, life: int) -> Turn:
    def whole(key: str) -> int:
        value: Any = row.get(key)
        return value if type(value) is int else 0

    def texts(key: str) -> tuple[str, ...]:
        value = row.get(key)
        return tuple(str(one) for one in value) if isinstance(value, list) else ()

    return Turn(
        life=life,
        number=whole("turn"),
        first_step=whole("first_step"),
        episodes=texts("episodes"),
        intention=str(row.get("intention") or ""),
        inspected=texts("inspected"),
        requests=whole("requests"),
        tool_calls=whole("tool_calls"),
    )
