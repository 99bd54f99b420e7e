"""Finding the frames that a view shows, and the cues that label them, in a memory.

It knows references and records. It draws nothing and writes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from scrubjay.errors import Damaged, InvalidInput, NotFound
from scrubjay.memory.folder import worlds
from scrubjay.memory.jsonio import Json
from scrubjay.memory.layout import Layout, Reference, parse_reference
from scrubjay.memory.records import Row, Step, World, is_number
from scrubjay.retrieval.evidence import Evidence, FrameLike
from scrubjay.retrieval.given import GivenFrame, given_frame
from scrubjay.retrieval.views import Bounds, Region

if TYPE_CHECKING:
    Referable = str | Reference

__all__ = ["EpisodeLike", "Fetcher", "MemoryLike", "as_reference", "as_region"]


class EpisodeLike(Protocol):
    """A recorded episode, as far as a look needs it."""

    @property
    def row(self) -> Row:
        """Its cues."""
        ...

    def steps(self) -> Iterator[Step]:
        """Its observations, in order."""
        ...

    def start_frame(self, camera: str | None = None) -> FrameLike:
        """The first frame. Raises NotFound or Damaged."""
        ...

    def frame(self, step: int, camera: str | None = None) -> FrameLike:
        """The frame of a step. Raises NotFound or Damaged."""
        ...


class MemoryLike(Protocol):
    """A memory, as far as a look needs it."""

    @property
    def layout(self) -> Layout:
        """Where its files are."""
        ...

    @property
    def read_only(self) -> bool:
        """True where nothing may be written."""
        ...

    def episode(self, reference: str | Row) -> EpisodeLike:
        """The episode of this id or row. Raises NotFound."""
        ...

    def context(self) -> tuple[int | None, int | None]:
        """The life that looks, and its step; None where no life runs."""
        ...


class Fetcher:
    """Fetches evidence for one view; what it read of the worlds it keeps until the view is drawn."""

    def __init__(self, memory: MemoryLike, bounds: Bounds) -> None:
        self._memory = memory
        self._bounds = bounds
        self._worlds: dict[str, World] | None = None

    def evidence(self, reference: Reference, camera: str | None = None, zoom: Region | None = None) -> Evidence:
        """The frame of a step, or of an episode's start. Raises NotFound or Damaged."""
        episode = self._memory.episode(reference.episode)
        frame = _frame(episode, reference, camera)
        return replace(self._label(episode.row, episode, reference), frame=frame, camera=camera, zoom=zoom)

    def evidence_or_reason(self, reference: Reference, camera: str | None, zoom: Region | None) -> Evidence:
        """Likewise, with the reason in `missing` where there is no frame. Raises NotFound for an unknown episode."""
        return self._seen(self._memory.episode(reference.episode), reference, camera, zoom)

    def of_item(self, item: Any) -> Evidence:
        """What a reference names; of a row the frame of its first milestone, or else of its start.

        Whatever is wrong is in `missing`.
        """
        if isinstance(item, Row):
            episode = self._memory.episode(item)
            step = next(iter(_milestones(episode, item)), None)
            return self._seen(episode, Reference(item.id, step), None, None, item)
        reference = as_reference(item)
        try:
            return self.evidence_or_reason(reference, None, None)
        except (NotFound, Damaged) as error:
            return Evidence(reference, missing=str(error))

    def _seen(
        self,
        episode: EpisodeLike,
        reference: Reference,
        camera: str | None,
        zoom: Region | None,
        row: Row | None = None,
    ) -> Evidence:
        label = replace(self._label(row or episode.row, episode, reference), camera=camera, zoom=zoom)
        try:
            return replace(label, frame=_frame(episode, reference, camera))
        except (NotFound, Damaged) as error:
            return replace(label, missing=str(error))

    def of_source(self, source: Json) -> Evidence:
        """What a stored question says it looked at. Raises Damaged or InvalidInput for what names nothing."""
        if source.get("reference") is None:
            given = GivenFrame.from_json(source)
            return Evidence(None, given, place=given.name)
        zoom = None if source.get("region") is None else as_region(source["region"])
        reference = parse_reference(source["reference"])
        try:
            return self.evidence_or_reason(reference, source.get("camera"), zoom)
        except (NotFound, Damaged) as error:
            return Evidence(reference, missing=str(error))

    def then(self, then: Referable, camera: str | None) -> Evidence:
        """What is remembered: a reference, or the path of a picture. Raises NotFound or Damaged."""
        try:
            reference = as_reference(then)
            self._memory.episode(reference.episode)
        except (InvalidInput, NotFound):
            if isinstance(then, str) and os.path.isfile(then):
                given = given_frame(then, self._bounds)
                return Evidence(None, given, place=given.name)
            raise NotFound(f"no frame for {str(then)!r}: not an episode id in the index and not a file") from None
        return self.evidence(reference, camera)

    def _label(self, row: Row, episode: EpisodeLike, reference: Reference) -> Evidence:
        axes: Sequence[Any] = (row.x, row.y, row.z)
        if reference.step is not None and reference.step != row.first_step:
            axes = _position_at(episode, reference.step)
        if self._worlds is None:
            self._worlds = worlds(self._memory.layout)
        world = self._worlds.get(row.world or "")
        first, second = World("").ground if world is None else world.ground
        known = is_number(axes[first]) and is_number(axes[second])
        return Evidence(
            reference,
            step=row.first_step if reference.step is None else reference.step,
            position=(axes[first], axes[second]) if known else None,
            place=row.place,
            action=row.action_kind,
            milestones=_milestones(episode, row).get(reference.step or 0, ()),
        )


def _frame(episode: EpisodeLike, reference: Reference, camera: str | None) -> FrameLike:
    return episode.start_frame(camera) if reference.step is None else episode.frame(reference.step, camera)


def _milestones(episode: EpisodeLike, row: Row) -> dict[int, tuple[str, ...]]:
    """The milestones that the states of an episode say were reached, by the step that says so first."""
    if "milestone" not in row.tags:
        return {}
    from scrubjay.memory.deriving.default import milestones_of

    found: dict[int, tuple[str, ...]] = {}
    known: list[str] | None = None
    try:
        for step in episode.steps():
            reached = milestones_of(step.state)
            new = () if known is None else tuple(name for name in reached if name not in known)
            if new:
                found[step.step] = new
            known = reached if known is None else [*known, *new]
    except (NotFound, Damaged):
        pass  # without its steps an episode shows its start
    return found


def _position_at(episode: EpisodeLike, step: int) -> Sequence[Any]:
    unknown = (None, None, None)
    try:
        found = next((observation.state for observation in episode.steps() if observation.step == step), {})
    except (NotFound, Damaged):
        return unknown
    position = found.get("pos")
    return position if isinstance(position, list) and len(position) >= 3 else unknown


def as_reference(reference: Referable) -> Reference:
    """The reference that was given as such or as text. Raises InvalidInput."""
    return reference if isinstance(reference, Reference) else parse_reference(reference)


def as_region(zoom: Sequence[int] | None) -> Region | None:
    """Four whole numbers as a region. Raises InvalidInput."""
    if zoom is None:
        return None
    values = tuple(zoom)
    if len(values) != 4 or not all(isinstance(value, int) for value in values):
        raise InvalidInput(f"zoom: four whole numbers x, y, width, height were expected, found {values}")
    return (values[0], values[1], values[2], values[3])
