"""An episode while it is recorded: begin, step, finish, in the order that makes each durable.

It knows one episode's folder. Which life it belongs to and what the index holds it learns from the Life that made it.
An interrupt may strike between any two lines: what a call had not finished is then not recorded, and the episode's
record is made from what lies on disk.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from scrubjay.errors import Conflict, ScrubjayError, StorageFailed, storage_error
from scrubjay.memory import record as records
from scrubjay.memory.deriving import Derived, Deriver, Happened
from scrubjay.memory.disk import datasync, durability, let_go, storage, sync_folder, write_file
from scrubjay.memory.endings import check_cells, check_ending, given_ending
from scrubjay.memory.episode_frames import Arriving, EpisodeFrames
from scrubjay.memory.jsonio import Json, clean, dumps
from scrubjay.memory.layout import Layout
from scrubjay.memory.observations import Observation, mapping, number, observe
from scrubjay.memory.records import Row, World

if TYPE_CHECKING:
    from scrubjay.memory.lives import Life

__all__ = ["Intent", "Recording"]


@dataclass(frozen=True, slots=True)
class Intent:
    """What an episode is to be, as its row in `begun.jsonl` says before anything is observed."""

    kind: str
    action_kind: str | None
    arguments: Json | None
    place: str | None
    plan: str | Json | None
    world: World


@dataclass(frozen=True, slots=True)
class _Written:
    """How far the episode has come: its newest step, and `steps.jsonl` up to there. Replaced as a whole."""

    step: int
    seen: Observation
    size: int
    hash: Any


class Recording:
    """One open episode. Made by `Life.episode`; use it in a `with`, or call `finish` yourself."""

    def __init__(self, life: Life, number: int, intent: Intent, deriver: Deriver, begun: Json) -> None:
        self._life, self._intent, self._deriver, self._begun = life, intent, deriver, begun
        self.id = f"ep_{number:06d}"
        self.number = number
        self.first_step = life.step
        self.row: Row | None = None
        self._folder = life.layout.episode(self.id)
        self._steps_path = os.path.join(self._folder, Layout.STEPS)
        self._frames = EpisodeFrames(self._folder, self.first_step, life.cue_makers, life.last_frames)
        self._events: list[str] = []
        self._notes: list[str] = []
        self._first: Observation | None = None
        self._written: _Written | None = None
        self._steps = -1
        self._halfway = False  # an interrupt struck inside a step, or the deriver failed
        self._is_committing = self._is_settled = False
        self._encoded: bytes | None = None
        self._failed: BaseException | None = None
        self._folders_durable = False

    def begin(self, first: Observation) -> None:
        """Takes the first observation; `Life.episode` calls it. Raises StorageFull, and then nothing was begun."""
        with storage(self._steps_path):
            self._steps = os.open(self._steps_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        self._deriver.begin(self._intent.world)
        self._life.writer.begin()
        self._first = first
        self._take(first, None, {})

    @property
    def last_step(self) -> int:
        """The newest recorded step."""
        return self.first_step if self._written is None else self._written.step

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
            rest["reward"], bad = number(reward, "reward")
            bad_action += bad
        rest.update({"terminated": True} if terminated else {}, **({"truncated": True} if truncated else {}))
        if info is not None:
            rest["info"], bad = mapping(info, "info")
            bad_action += [f"info.{path}" for path in bad]
        if bad_action:
            rest["not_finite"] = bad_action
        self._take(seen, taken, rest)
        return self.last_step

    def note(self, text: str) -> None:
        """Adds a note of the agent to the episode; it becomes a cue when the episode ends."""
        self._notes.append(str(text))

    def event(self, text: str) -> None:
        """Adds an event of the environment ("milestone stone_pickaxe", "dialog opened")."""
        self._events.append(str(text))

    def _take(self, seen: Observation, after: Any, rest: Json) -> None:
        before, writer = self._written, self._life.writer
        step = self.first_step if before is None else before.step + 1
        writer.attend(self._make_durable, self._frames.foresee)
        writer.reserve(max(1, len(seen.pictures)))
        was_halfway, self._halfway = self._halfway, True
        self._write_step(seen, {"step": step, "time": seen.time, **self._described(step, seen, rest)})
        for camera, shown in seen.pictures.items():
            arriving = Arriving(step, camera, shown, Layout.frame_name(step, shown.extension, camera))
            writer.put(functools.partial(self._frames.store, arriving))
        writer.settle(len(seen.pictures))
        self._life.took(step, seen)
        self._halfway = was_halfway or not self._observed(step, seen, after)

    def _observed(self, step: int, seen: Observation, after: Any) -> bool:
        try:
            self._deriver.observe(step, seen.state, after)
        except Exception as error:  # a deriver of somebody else's: its fault must not cost the step
            self._events.append(f"deriving failed: {type(error).__name__}: {error}")
            return False
        return True

    def _described(self, step: int, seen: Observation, rest: Json) -> Json:
        names = {c: Layout.frame_name(step, shown.extension, c) for c, shown in seen.pictures.items()}
        row: Json = {**rest, "state": seen.state, "frame": names.get(None) if None in names else (names or None)}
        if not names:
            row["frame_missing"] = seen.missing or "not given"
        if seen.not_finite:
            row["not_finite"] = [*rest.get("not_finite", ()), *seen.not_finite]
        return row

    def _write_step(self, seen: Observation, row: Json) -> None:
        before = self._written
        size, digest = (0, hashlib.sha256()) if before is None else (before.size, before.hash.copy())
        data = dumps(row) + b"\n"
        try:
            if os.fstat(self._steps).st_size != size:  # an interrupt struck here before
                os.ftruncate(self._steps, size)
            written = os.pwrite(self._steps, data, size)
            if written < len(data):
                written += os.pwrite(self._steps, data[written:], size + written)  # fails where the disk is full
            if written < len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            with contextlib.suppress(OSError):  # where even that fails, the next step or `finish` does it
                os.ftruncate(self._steps, size)
            self._halfway = False
            raise storage_error(error, self._steps_path) from error
        digest.update(data)
        self._written = _Written(row["step"], seen, size + len(data), digest)

    def _make_durable(self) -> None:
        """Runs in the writer's thread every few seconds, so that power loss takes no more than those."""
        try:
            with durability(self._steps_path):
                os.fdatasync(self._steps)
            self._frames.sync()
            if not self._folders_durable:
                self._sync_folders()
                self._folders_durable = True
            self._life.make_durable()
        except StorageFailed as error:
            self._failed = error  # a later fsync would report success for what may be lost
            raise

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
        given = given_ending(summary, tags, cells)
        check_ending(outcome, extra)
        said = [*self._notes, *([] if note is None else [str(note)])]
        try:
            if self._encoded is None:
                happened = self._happened(outcome, [*self._events, *map(str, events)], said)
                self._encoded = self._seal(happened, given, mapping(extra, "extra")[0])
            self._commit(self._encoded)
        except StorageFailed as error:
            self._failed = error
            self.close()
            raise
        assert self.row is not None
        return self.row

    def _happened(self, outcome: str | None, events: list[str], notes: list[str]) -> Happened:
        return Happened(
            kind=self._intent.kind,
            action_kind=self._intent.action_kind,
            arguments=self._intent.arguments,
            first_step=self.first_step,
            last_step=self.last_step,
            outcome=outcome,
            events=tuple(events),
            note="\n".join(notes) or None,
            plan=self._intent.plan,
            ordinal=self._life.ordinal,
            milestones=self._life.milestones,
        )

    def _seal(self, happened: Happened, given: Json, extra: Json) -> bytes:
        """Drains the frames, makes every file but the record durable, and makes the record."""
        writer, frames, written = self._life.writer, self._frames, self._written
        assert written is not None
        writer.drain()
        with storage(self._steps_path):
            if os.fstat(self._steps).st_size != written.size:
                os.ftruncate(self._steps, written.size)
        frames.close(written.step)
        if frames.knows_end_cues:
            frames.end_cues()  # to wake the thread for it would take longer
        else:
            writer.put(frames.end_cues)  # while the disk works
        for name in (Layout.STEPS, *(name for name in frames.files if name not in frames.linked)):
            datasync(os.path.join(self._folder, name))
        writer.drain()
        happened = replace(happened, frame_unchanged=self._is_unchanged(happened))
        if not self._halfway:
            try:
                derived = self._deriver.derive(happened)
                check_cells(derived.cells)
            except Exception as error:  # a deriver of somebody else's: the default one reads the episode instead
                happened = replace(happened, events=(*happened.events, f"deriving failed: {type(error).__name__}"))
            else:
                return records.encode(self._record(happened, derived, given, extra))
        return records.encode(self._record_from_disk(happened, given, extra))

    def _is_unchanged(self, happened: Happened) -> bool:
        screen = self._frames.cues.get("screen/1", {})
        is_seen = "start" in screen and "end" in screen  # an edge may have no frame
        return happened.last_step > happened.first_step and is_seen and screen["start"] == screen["end"]

    def _record(self, happened: Happened, derived: Derived, given: Json, extra: Json) -> Json:
        frames, written, first = self._frames, self._written, self._first
        assert written is not None
        assert first is not None
        steps = {"size": written.size, "sha256": written.hash.hexdigest()}
        files = {Layout.STEPS: steps, **frames.files}
        return records.build_record(
            ident=self.id,
            life=self._life.number,
            world=self._intent.world.world,
            place=self._intent.place,
            happened=happened,
            derived=derived,
            given=given,
            ends=(first, written.seen),
            evidence={"cues": frames.cues, "frames": frames.frames, "missing": frames.missing, "files": files},
            extra=extra,
        )

    def _record_from_disk(self, happened: Happened, given: Json, extra: Json) -> Json:
        from scrubjay.memory.recovery import rebuild

        life = self._life
        world = self._intent.world
        record = rebuild(self._folder, life.number, self._begun, happened, world, life.cue_makers, given=given)
        assert record is not None
        return {**record, "row": extra} if extra else record

    def _commit(self, encoded: bytes) -> None:
        path = os.path.join(self._folder, Layout.EPISODE_RECORD)
        write_file(path, encoded, sync_parent=False)
        self._sync_folders()
        record = records.parse(encoded, self._life.layout.relative(path))
        row = records.row_of(record, records.digest_of(encoded))
        if not (self._is_committing and self._life.has_row(self.id, self._begun["index_at"])):
            self._is_committing = True
            self._life.commit(row)
        self.row = row
        self.settle()

    def settle(self) -> None:
        """What follows once the row is in the index; whatever an interrupt broke off is done by the next call."""
        if self.row is not None and not self._is_settled and self._encoded is not None:
            record = records.parse(self._encoded, self._steps_path)
            self._life.last_frames = self._frames.last
            self._life.owes(record, self._begun)
            self._is_settled = True
            self._life.pay()
        self.close()

    def close(self) -> None:
        """Lets go of files and threads; what was recorded is not touched."""
        self._life.writer.release()
        self._frames.abandon()
        steps, self._steps = self._steps, -1
        if steps >= 0:
            let_go(steps)
        self._life.closed(self)

    def abandon(self) -> None:
        """Lets go without a record; what is on disk stays for recovery. A recording of nothing stays an empty claim."""
        if self.is_open:
            if self._written is None and self._steps >= 0:
                with contextlib.suppress(OSError):  # no whole step is there in any case
                    os.ftruncate(self._steps, 0)
            self._failed = Conflict(f"{self.id} was abandoned")
            self.close()

    @property
    def is_empty(self) -> bool:
        """True where not even a first observation was recorded."""
        return self._written is None

    def _need_open(self) -> None:
        if self._failed is not None:
            raise StorageFailed(
                f"{self.id} was not acknowledged ({self._failed}); `check --repair` keeps what is whole"
            )
        if self.row is not None:
            raise Conflict(f"{self.id} is finished; begin a new episode")
        if not self._life.is_running:  # in a forked child it runs no more: the thread and the lock are its parent's
            raise Conflict(f"the life of {self.id} doesn't run in this process any more")

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
