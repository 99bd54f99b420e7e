"""Looking at the evidence of a memory, with a question or without.

It fetches frames, has them drawn, and keeps questions with what is needed to make the same view again. It writes
nothing but the journal of inspections, and makes no call to any model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from scrubjay.errors import InvalidInput, ReadOnly
from scrubjay.memory.jsonio import Json
from scrubjay.memory.layout import Reference
from scrubjay.retrieval import looking
from scrubjay.retrieval.evidence import Evidence
from scrubjay.retrieval.fetching import Fetcher, MemoryLike, as_reference, as_region
from scrubjay.retrieval.given import GivenFrame, given_frame
from scrubjay.retrieval.questions import Inspection, Questions
from scrubjay.retrieval.views import DEFAULT_BOUNDS, Bounds, Source, View

if TYPE_CHECKING:
    Referable = str | Reference

__all__ = ["Inspector"]


@dataclass(frozen=True, slots=True)
class Inspector:
    """Looks at the evidence of one memory.

    Each look gives a View within `bounds`. With a `question` it is stored, so that `answer` and `recall` can follow;
    where it can't be stored the view comes all the same and its `warning` says why.
    """

    memory: MemoryLike
    bounds: Bounds = DEFAULT_BOUNDS

    def look(
        self,
        reference: Referable,
        *,
        zoom: Sequence[int] | None = None,
        camera: str | None = None,
        question: str | None = None,
    ) -> View:
        """The stored frame of an episode's start, or of a step; `zoom` (x, y, w, h) is a region in its own pixels.

        Raises NotFound, Damaged, or InvalidInput for a region outside the frame.
        """
        evidence = self._fetcher.evidence(as_reference(reference), camera, as_region(zoom))
        return self._kept("look", looking.look(evidence, self.bounds), question)

    def sheet(self, rows: Any, *, question: str | None = None) -> View:
        """The start frames of episodes in one picture: Matches, rows, or references (of steps, where they name one).

        Raises InvalidInput where there are none.
        """
        items = list(getattr(rows, "rows", rows))
        fetcher = self._fetcher
        shown = [fetcher.of_item(item) for item in items[: looking.MOST_IN_SHEET]]
        view = looking.sheet(shown, self.bounds, question, left_out=len(items) - len(shown))
        more: Json = {"left_out": view.left_out} if view.left_out else {}
        return self._kept("sheet", view, question, more=more)

    def then_now(self, then: Referable, *, now: Any, question: str | None = None, camera: str | None = None) -> View:
        """The remembered frame beside the current one.

        `now` is an array, a PIL image, encoded bytes or the path of a picture. Where the question is stored, so is
        `now`, since it may lie in no memory. `then` may also be a path. Raises NotFound, Damaged or InvalidInput.
        """
        before = self._fetcher.then(then, camera)
        current = given_frame(now, self.bounds)
        view = looking.then_now(before, Evidence(None, current), self.bounds, question)
        given = {at: frame for at, frame in enumerate((before.frame, current)) if isinstance(frame, GivenFrame)}
        return self._kept("then_now", view, question, given)

    def compare(
        self, references: Iterable[Referable], *, zoom: Sequence[int] | None = None, question: str | None = None
    ) -> View:
        """2 to 16 stored frames in one picture; `zoom` shows the same region of each. Raises InvalidInput."""
        region, fetcher = as_region(zoom), self._fetcher
        items = [fetcher.evidence_or_reason(as_reference(reference), None, region) for reference in references]
        return self._kept("compare", looking.compare(items, self.bounds, question), question)

    def answer(self, ident: str, text: str) -> None:
        """Stores the answer to a question. Raises NotFound, InvalidInput or ReadOnly."""
        if self.memory.read_only:
            raise ReadOnly("this memory is read-only: the answer can't be stored")
        Questions(self.memory.layout).answer(ident, text, *self.memory.context())

    def recall(self, reference: Referable | None = None) -> list[Inspection]:
        """Questions with their answers: all of them, or those about an episode or a step."""
        about = None if reference is None else as_reference(reference)
        return Questions(self.memory.layout).recall(about)

    def remake(self, asked: str | Json) -> View:
        """The view of a stored question, made again from evidence; `asked` is its id or its row.

        Raises NotFound, Damaged, or InvalidInput for a row that names no view.
        """
        row = Questions(self.memory.layout).row(asked) if isinstance(asked, str) else asked
        question = row.get("question")
        bounds = Bounds(*row["bounds"]) if "bounds" in row else DEFAULT_BOUNDS
        fetcher = self._fetcher
        items = [fetcher.of_source(source) for source in row.get("sources", [])]
        match row.get("view"), items:
            case "look", [item]:
                view = looking.look(item, bounds)
            case "sheet", _:
                view = looking.sheet(items, bounds, question, left_out=row.get("left_out", 0))
            case "then_now", [then, now]:
                view = looking.then_now(then, now, bounds, question)
            case "compare", _:
                view = looking.compare(items, bounds, question)
            case kind, _:
                raise InvalidInput(f"view: {kind!r} with {len(items)} sources is none that can be made")
        return replace(view, question=question, inspection=row.get("id"))

    @property
    def _fetcher(self) -> Fetcher:
        return Fetcher(self.memory, self.bounds)

    def _kept(
        self,
        kind: str,
        view: View,
        question: str | None,
        given: Mapping[int, GivenFrame] = MappingProxyType({}),
        more: Json | None = None,
    ) -> View:
        if question is None or not question.strip():
            return view
        view = replace(view, question=question)
        if self.memory.read_only:
            return replace(view, warning="this memory is read-only: the question was not stored")
        sources = [_stored(source, given.get(index)) for index, source in enumerate(view.sources)]
        more = dict(more or {})
        if self.bounds != DEFAULT_BOUNDS:
            more["bounds"] = [self.bounds.long_edge, self.bounds.max_bytes]
        life, step = self.memory.context()
        try:
            ident = Questions(self.memory.layout).ask(kind, question, sources, life, step, more)
        except OSError as error:  # ReadOnly, StorageFull and StorageFailed too: the view matters more
            return replace(view, warning=f"the question was not stored: {error}")
        return replace(view, inspection=ident)


def _stored(source: Source, given: GivenFrame | None) -> Json:
    said: Json = {
        "reference": None if source.reference is None else str(source.reference),
        "camera": source.camera,
        "region": None if source.region is None else list(source.region),
    }
    return said if given is None else {**said, **given.to_json()}
