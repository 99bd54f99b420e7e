"""An episode while it is recorded: begin, step, finish, in the order that makes each durable.

It knows one episode's folder. Which life it belongs to and what the index holds it learns from the Life that made it.
"""

from __future__ import annotations

import errno
import functools
import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from scrubjay.errors import Conflict, InvalidInput, ScrubjayError, StorageFailed, storage_error
from scrubjay.memory import record as records
from scrubjay.memory.deriving import Deriver, Happened
from scrubjay.memory.disk import datasync, storage, sync_folder, write_file
from scrubjay.memory.frames import Picture, picture
from scrubjay.memory.framewriter import Arriving, EpisodeFrames
from scrubjay.memory.jsonio import Json, clean, dumps
from scrubjay.memory.layout import Layout
from scrubjay.memory.records import Row

if TYPE_CHECKING:
    from scrubjay.memory.lives import Life

__all__ = ["Observation", "Recording", "utc"]


def utc(time: datetime | str | None) -> str:
    """ISO 8601 with offset, to the millisecond; now where nothing is given. A time without a zone is UTC."""
    if isinstance(time, str):
        try:
            time = datetime.fromisoformat(time)
        except ValueError:
            raise InvalidInput(f"time: ISO 8601 was expected, found {time!r}") from None
    moment = time or datetime.now(UTC)
    moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return moment.isoformat(timespec="milliseconds")


@dataclass(frozen=True, slots=True)
class Observation:
    """What was seen at one step: the state as JSON, a picture of each camera, and when."""

    state: Json
    pictures: Mapping[str | None, Picture]
    time: str
    not_finite: tuple[str, ...] = ()
    missing: str | None = None


def observe(frame: Any, state: Any, time: Any, missing: str | None, codec: Any) -> Observation:
    """Checks an observation and takes a copy of it. Raises InvalidInput that names what is wrong."""
    if state is not None and not isinstance(state, Mapping):
        raise InvalidInput(f"state: a mapping was expected, found {type(state).__name__}")
    cleaned, not_finite = clean(dict(state or {}))
    given = frame if isinstance(frame, Mapping) else {None: frame}
    pictures = {camera: picture(shown, codec) for camera, shown in given.items() if shown is not None}
    for camera in given:
        if camera is not None and not (isinstance(camera, str) and camera.isidentifier()):
            raise InvalidInput(f"frame: a camera's name is letters, digits and _, found {camera!r}")
    return Observation(
        cleaned, pictures, utc(time), tuple(f"state.{path}" for path in not_finite), missing if not pictures else None
    )


class Recording:
    """One open episode. Made by `Life.episode`; use it in a `with`, or call `finish` yourself."""

    def __init__(
        self,
        life: Life,
        number: int,
        *,
        kind: str,
        action_kind: str | None,
        arguments: Json | None,
        place: str | None,
        plan: str | Json | None,
        deriver: Deriver,
        first: Observation,
    ) -> None:
        self._life = life
        self.id = f"ep_{number:06d}"
        self.number = number
        self._kind, self._action_kind, self._arguments, self._place, self._plan = (
            kind,
            action_kind,
            arguments,
            place,
            plan,
        )
        self._folder = life.layout.episode(self.id)
        self.first_step = self.last_step = life.step
        self._world = life.world
        self._frames = EpisodeFrames(self._folder, self.first_step, life.cue_makers, life.last_frames)
        self._events: list[str] = []
        self._notes: list[str] = []
        self._first = self._last = first
        self._terminated = False
        self._deriver = deriver
        self._encoded: bytes | None = None
        self._failed: BaseException | None = None
        self.row: Row | None = None
        self._steps_path = os.path.join(self._folder, Layout.STEPS)
        self._steps_size, self._steps_hash = 0, hashlib.sha256()
        self._folders_durable = False
        with storage(self._steps_path):
            self._steps = os.open(self._steps_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        deriver.begin(self._world)
        life.writer.begin(self._make_durable, self._frames.foresee)
        self._take(first, None, {})

    # --- while it runs

    def step(
        self,
        action: Any,
        *,
        frame: Any = None,
        frame_missing: str | None = None,
        state: Mapping[str, Any] | None = None,
        reward: float | None = None,
        terminated: bool = False,
        truncated: bool = False,
        info: Mapping[str, Any] | None = None,
        time: datetime | str | None = None,
    ) -> int:
        """Records that `action` was taken and led to this observation; returns the number of the new step.

        Raises InvalidInput for what can't be recorded and StorageFull on a full disk; then nothing of the step was
        recorded, and it may be called again.
        """
        self._need_open()
        seen = observe(frame, state, time, frame_missing or "not given", self._life.codec)
        taken, bad_action = clean(action)
        rest: Json = {"after": taken}
        if reward is not None:
            rest["reward"], bad = clean(float(reward))
            bad_action += ["reward"] if bad else []
        rest.update({"terminated": True} if terminated else {}, **({"truncated": True} if truncated else {}))
        if info is not None:
            rest["info"], bad = clean(dict(info))
            bad_action += [f"info.{path}" for path in bad]
        if bad_action:
            rest["not_finite"] = bad_action
        self._take(seen, taken, rest)
        self._terminated = terminated
        return self.last_step

    def note(self, text: str) -> None:
        """Adds a note of the agent to the episode; it becomes a cue when the episode ends."""
        self._notes.append(str(text))

    def event(self, text: str) -> None:
        """Adds an event of the environment ("milestone stone_pickaxe", "dialog opened")."""
        self._events.append(str(text))

    def _take(self, seen: Observation, after: Any, rest: Json) -> None:
        is_first = self._steps_size == 0
        step = self.first_step if is_first else self.last_step + 1
        self._life.writer.reserve(max(1, len(seen.pictures)))
        self._write_step({"step": step, "time": seen.time, **self._described(step, seen, rest)})
        for camera, shown in seen.pictures.items():
            arriving = Arriving(step, camera, shown, Layout.frame_name(step, shown.extension, camera))
            self._life.writer.put(functools.partial(self._frames.store, arriving))
        self.last_step, self._last = step, seen
        self._life.took(step, seen)
        self._deriver.observe(step, seen.state, after)

    def _described(self, step: int, seen: Observation, rest: Json) -> Json:
        names = {c: Layout.frame_name(step, shown.extension, c) for c, shown in seen.pictures.items()}
        row: Json = {**rest, "state": seen.state, "frame": names.get(None) if None in names else (names or None)}
        if not names:
            row["frame_missing"] = seen.missing or "not given"
        if seen.not_finite:
            row["not_finite"] = [*rest.get("not_finite", ()), *seen.not_finite]
        return row

    def _write_step(self, row: Json) -> None:
        data = dumps(row) + b"\n"
        try:
            written = os.write(self._steps, data)
            if written < len(data):
                os.write(self._steps, data[written:])  # fails, or completes what a signal cut short
            if os.lseek(self._steps, 0, os.SEEK_CUR) != self._steps_size + len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            os.ftruncate(self._steps, self._steps_size)
            os.lseek(self._steps, self._steps_size, os.SEEK_SET)
            raise storage_error(error, self._steps_path) from error
        self._steps_size += len(data)
        self._steps_hash.update(data)

    def _make_durable(self) -> None:
        """Runs in the writer's thread every few seconds, so that power loss takes no more than those."""
        with storage(self._steps_path):
            os.fdatasync(self._steps)
        self._frames.sync()
        if not self._folders_durable:
            self._sync_folders()
            self._folders_durable = True
        self._life.make_durable()

    def _sync_folders(self) -> None:
        bucket = os.path.dirname(self._folder)
        for folder in (self._folder, bucket, os.path.dirname(bucket)):
            sync_folder(folder)

    # --- the end

    def finish(
        self,
        outcome: str | None = None,
        *,
        summary: str | None = None,
        tags: Iterable[str] | None = None,
        events: Iterable[str] = (),
        note: str | None = None,
        cells: Iterable[Mapping[str, Any]] | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> Row:
        """Ends the episode and returns its row. When it returns, neither kill nor power loss takes anything of it.

        Summary, tags and cell events are derived where not given; `extra` keys are added to the index row. Raises
        StorageFull on a full disk: free space and call it again. Raises StorageFailed where the disk refused to make
        it durable: the episode is not acknowledged, and what of it is whole is kept for recovery.
        """
        self._need_open()
        given: Json = {"summary": summary, "tags": None if tags is None else [str(tag) for tag in tags]}
        given["cells"] = None if cells is None else clean([dict(cell) for cell in cells])[0]
        said = [*self._notes, *([] if note is None else [str(note)])]
        try:
            if self._encoded is None:
                happened = self._happened(outcome, [*self._events, *map(str, events)], said)
                self._encoded = self._seal(happened, given, clean(dict(extra or {}))[0])
            self._commit(self._encoded)
        except StorageFailed as error:
            self._failed = error
            self._close()
            raise
        assert self.row is not None
        return self.row

    def _happened(self, outcome: str | None, events: list[str], notes: list[str]) -> Happened:
        return Happened(
            kind=self._kind,
            action_kind=self._action_kind,
            arguments=self._arguments,
            first_step=self.first_step,
            last_step=self.last_step,
            outcome=outcome,
            events=tuple(events),
            note="\n".join(notes) or None,
            plan=self._plan,
            ordinal=self._life.ordinal,
            milestones=self._life.milestones,
        )

    def _seal(self, happened: Happened, given: Json, extra: Json) -> bytes:
        """Drains the frames, makes every file but the record durable, and makes the record."""
        writer, frames = self._life.writer, self._frames
        writer.drain()
        frames.close(self.last_step)
        writer.put(frames.end_cues)  # while the disk works
        for name in (Layout.STEPS, *(name for name in frames.files if name not in frames.linked)):
            datasync(os.path.join(self._folder, name))
        writer.drain()
        screen = frames.cues.get("screen/1", {})
        unchanged = self.last_step > self.first_step and "end" in screen and screen["start"] == screen["end"]
        happened = replace(happened, frame_unchanged=unchanged)
        steps = {"size": self._steps_size, "sha256": self._steps_hash.hexdigest()}
        record = build_record(
            ident=self.id,
            life=self._life.number,
            world=self._world.world,
            place=self._place,
            happened=happened,
            derived=self._deriver.derive(happened),
            given=given,
            ends=(self._first, self._last),
            evidence={
                "cues": frames.cues,
                "frames": frames.frames,
                "missing": {},
                "files": {Layout.STEPS: steps, **frames.files},
            },
            extra=extra,
        )
        return records.encode(record)

    def _commit(self, encoded: bytes) -> None:
        path = os.path.join(self._folder, Layout.EPISODE_RECORD)
        write_file(path, encoded, sync_parent=False)
        self._sync_folders()
        record = records.parse(encoded, self._life.layout.relative(path))
        self.row = self._life.commit(self, record, records.digest_of(encoded), self._frames.last)
        self._close()

    def _close(self) -> None:
        self._life.writer.release()
        self._frames.abandon()
        os.close(self._steps)
        self._life.closed(self)

    def _need_open(self) -> None:
        if self._failed is not None:
            raise StorageFailed(
                f"{self.id} could not be made durable ({self._failed}); recovery will keep what is whole"
            )
        if self.row is not None:
            raise Conflict(f"{self.id} is finished; begin a new episode")

    @property
    def is_open(self) -> bool:
        """True until finish() has returned."""
        return self.row is None and self._failed is None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self.is_open:
            return
        if error is None:
            self.finish()
            return
        try:
            self.finish("interrupted", events=[f"interrupted by {type(error).__name__}"])
        except ScrubjayError as fault:
            error.add_note(f"scrubjay: {self.id} could not be finished: {fault}")


def build_record(
    *,
    ident: str,
    life: int,
    world: str | None,
    place: str | None,
    happened: Happened,
    derived: Any,
    given: Json,
    ends: tuple[Observation, Observation],
    evidence: Json,
    extra: Json,
) -> Json:
    """The content of `episode.json`, keys in the order of the format."""
    first, last = ends
    cells = given.get("cells")
    record: Json = {
        "id": ident,
        "kind": happened.kind,
        "life": life,
        "world": world,
        "place": place,
        "action_kind": happened.action_kind,
        "arguments": happened.arguments,
        "plan": happened.plan,
        "outcome": happened.outcome,
        "summary": derived.summary if given.get("summary") is None else given["summary"],
        "tags": list(derived.tags) if given.get("tags") is None else given["tags"],
        "events": list(happened.events),
        "note": happened.note,
        "first_step": happened.first_step,
        "last_step": happened.last_step,
        "started": first.time,
        "ended": last.time,
        "start": {"pos": _pos(first.state), "state": first.state},
        "end": {"pos": _pos(last.state), "state": last.state},
    }
    if extra:
        record["row"] = extra
    log = {"header": derived.log_header, "lines": list(derived.log_lines)}
    record["evidence"] = {"cells": list(derived.cells) if cells is None else cells, "log": log, **evidence}
    return record


def _pos(state: Json) -> list[float | None] | None:
    pos = state.get("pos")
    if isinstance(pos, dict):
        pos = [pos.get(axis) for axis in "xyz"]
    if not isinstance(pos, list) or len(pos) < 3:
        return None
    return [float(v) if isinstance(v, (int, float)) and not isinstance(v, bool) else None for v in pos[:3]]
