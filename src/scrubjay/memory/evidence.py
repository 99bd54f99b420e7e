"""Reading a finished episode: its record, its steps, its frames.

It knows one episode's folder and changes nothing in it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cached_property

from scrubjay.errors import Damaged, NotFound
from scrubjay.memory import journal
from scrubjay.memory import record as records
from scrubjay.memory.frames import Frame, no_frame
from scrubjay.memory.inside import inside
from scrubjay.memory.jsonio import Json
from scrubjay.memory.layout import Layout
from scrubjay.memory.records import Row, Step

__all__ = ["Episode", "read_record", "step_of"]


def read_record(layout: Layout, ident: str) -> tuple[Json, str]:
    """`episode.json` of an episode and its digest. Raises NotFound (not finished, not there) or Damaged."""
    path = os.path.join(layout.episode(ident), Layout.EPISODE_RECORD)
    try:
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        raise NotFound(f"{ident} is not in this memory, or not finished") from None
    return records.parse(data, layout.relative(path)), records.digest_of(data)


def step_of(row: Json) -> Step:
    """A step from its line in `steps.jsonl`. Raises ValueError where it is none."""
    frame = row.get("frame")
    if not isinstance(row.get("step"), int) or not isinstance(row.get("state"), dict):
        raise ValueError("a step has a number and a state")
    frames = frame if isinstance(frame, dict) else {"": frame}
    known = ("step", "time", "state", "after", "reward", "terminated", "truncated", "info", "frame", "frame_missing")
    return Step(
        step=row["step"],
        time=str(row.get("time", "")),
        state=row["state"],
        after=row.get("after"),
        reward=row.get("reward"),
        terminated=bool(row.get("terminated")),
        truncated=bool(row.get("truncated")),
        info=row.get("info"),
        frames=frames,
        missing=row.get("frame_missing"),
        extra={key: value for key, value in row.items() if key not in known},
    )


class Episode:
    """One finished episode. `row` is its cues, `record` everything that `episode.json` says."""

    def __init__(self, layout: Layout, ident: str, row: Row | None = None) -> None:
        self._layout, self.id, self._row = layout, ident, row
        # As stored: a path that a file names is checked when it is first read from.
        self._path = row.path if row is not None else layout.relative(layout.episode(ident))

    @cached_property
    def record(self) -> Json:
        """`episode.json`. Raises NotFound or Damaged."""
        return self._read[0]

    @cached_property
    def _read(self) -> tuple[Json, str]:
        return read_record(self._layout, self.id)

    @property
    def row(self) -> Row:
        """The cues of this episode, as the index has them."""
        return self._row if self._row is not None else records.row_of(*self._read)

    def steps(self) -> Iterator[Step]:
        """Every observation in order, each with the action taken from it (None at the last).

        Broken lines are passed over: `check` names them. Raises NotFound where a person removed the episode.
        """
        self._need_evidence()
        before: Step | None = None
        for row in journal.rows(inside(self._layout, self._path, Layout.STEPS)):
            try:
                step = step_of(row)
            except ValueError:
                continue
            if before is not None:
                yield _with_action(before, step.after)
            before = step
        if before is not None:
            yield before

    def frame(self, step: int, camera: str | None = None) -> Frame:
        """The stored frame of a step, from its only or first camera or the one named.

        Raises NotFound, with the reason recorded, where there is none.
        """
        self._need_evidence()
        for seen in journal.rows(inside(self._layout, self._path, Layout.STEPS)):
            if seen.get("step") == step:
                return self._frame_of(step_of(seen), camera)
        record = self.record
        raise NotFound(f"{self.id} has steps {record['first_step']} to {record['last_step']}, not {step}")

    def _frame_of(self, step: Step, camera: str | None) -> Frame:
        reference = f"{self.id}#{step.step}"
        if camera is None:
            name = next((n for n in step.frames.values() if n is not None), None)
        elif camera in step.frames:
            name = step.frames[camera]
        else:
            raise NotFound(f"{reference} has no camera {camera!r}; it has {', '.join(map(repr, step.frames))}")
        if name is None:
            raise no_frame(reference, step.missing)
        return self._stored(reference, name)

    def _stored(self, reference: str, name: str) -> Frame:
        evidence = self.record["evidence"]
        place = evidence["frames"].get(name)
        if place is None:
            raise no_frame(reference, evidence.get("missing", {}).get(name))
        path = inside(self._layout, self._path, place["file"])
        source = self._layout.relative(path)
        try:
            with open(path, "rb") as file:
                file.seek(place.get("offset", 0))
                data = file.read(place.get("size", -1))
        except FileNotFoundError:
            raise Damaged("the file of this frame is gone", file=source) from None
        if "size" in place and len(data) < place["size"]:
            raise Damaged(f"{place['size']} bytes of a frame were expected, {len(data)} found", file=source)
        return Frame(name, data, source)

    def start_frame(self, camera: str | None = None) -> Frame:
        """The frame of the first observation. Raises NotFound where there is none."""
        if self._row is not None and not os.path.exists(inside(self._layout, self._path, Layout.EPISODE_RECORD)):
            return self._published_frame()
        return self.frame(self.record["first_step"], camera)

    def end_frame(self, camera: str | None = None) -> Frame:
        """The frame of the last observation. Raises NotFound where there is none."""
        return self.frame(self.record["last_step"], camera)

    def _published_frame(self) -> Frame:
        """The one frame of an episode of a published MFM run: its row names the file."""
        image = self._row.image if self._row is not None else None
        if image is None:
            raise no_frame(self.id, None)
        try:
            with open(inside(self._layout, image), "rb") as file:
                return Frame(os.path.basename(image), file.read(), image)
        except FileNotFoundError:
            raise no_frame(self.id, f"{image} is not there") from None

    def _need_evidence(self) -> None:
        removed = self.record.get("removed")
        if removed:
            raise NotFound(f"{self.id} was removed by a person on {removed.get('time')}: {removed.get('reason')}")


def _with_action(step: Step, action: object) -> Step:
    from dataclasses import replace

    return replace(step, action=action)
