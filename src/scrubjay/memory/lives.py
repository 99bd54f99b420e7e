"""A life: one unbroken run of an agent on one task, and the only way to record.

It holds the lock that says it is running, begins episodes, commits them to the index and writes their projections.
"""

from __future__ import annotations

import contextlib
import os
import weakref
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from types import TracebackType
from typing import Any, Self

from scrubjay.errors import Conflict, InvalidInput, Locked, ScrubjayError
from scrubjay.memory import journal
from scrubjay.memory.claims import claim_episode, claim_life
from scrubjay.memory.deriving import FAMILIES, Deriver
from scrubjay.memory.disk import datasync, let_go, lock_exclusive
from scrubjay.memory.episode_frames import CueMaker, LastFrame
from scrubjay.memory.folder import declare_world
from scrubjay.memory.frames import DEFAULT_CODEC, FrameCodec
from scrubjay.memory.framewriter import FrameWriter
from scrubjay.memory.jsonio import Json
from scrubjay.memory.layout import Layout
from scrubjay.memory.observations import Observation, mapping, observe, utc
from scrubjay.memory.projections import complete, project, size_of
from scrubjay.memory.recording import Intent, Recording
from scrubjay.memory.records import Row, World

__all__ = ["Life"]


class Life:
    """Made by `Memory.live`. One episode is open at a time; a life belongs to one thread at a time."""

    def __init__(
        self,
        layout: Layout,
        *,
        task: str,
        world: World,
        method: str | None,
        model: str | None,
        milestones: Iterable[str],
        cue_makers: Mapping[str, CueMaker],
        deriver: Callable[[], Deriver] | str = "default",
        codec: FrameCodec = DEFAULT_CODEC,
        extra: Json | None = None,
    ) -> None:
        if not isinstance(task, str):
            raise InvalidInput(f"task: text was expected, found {type(task).__name__}")
        self.layout, self.task, self.world = layout, task, world
        if isinstance(milestones, str):
            raise InvalidInput(f"milestones: a list of names was expected, found the text {milestones!r:.80}")
        self.milestones = tuple(milestones)
        if isinstance(deriver, str) and deriver not in FAMILIES:
            raise InvalidInput(f"deriver: one of {', '.join(FAMILIES)}, or a callable, was expected, found {deriver!r}")
        self.cue_makers, self.codec = cue_makers, codec
        self._deriver = FAMILIES[deriver] if isinstance(deriver, str) else deriver
        self.step = 0
        self.ordinal = 0
        self.last_frames: Mapping[str | None, LastFrame] = {}
        self._last: Observation | None = None
        self._open: Recording | None = None
        self._ended = False
        self._claimed: int | None = None
        self._unprojected: list[tuple[Json, Json]] = []  # record and begun row of what is committed
        self._is_projecting = False
        self.number = claim_life(layout)
        lock = lock_exclusive(layout.life_lock(self.number), wait=False)
        if lock is None:
            raise Locked(f"life {self.number} is running in another process")
        self._lock = lock
        self.writer = FrameWriter()
        _running.add(self)
        row: Json = {"life": self.number, "event": "start", "task": task, "world": world.world, "started": utc(None)}
        row.update({"deriver": deriver} if isinstance(deriver, str) and deriver != "default" else {})
        row.update({"method": method, "model": model, "milestones": list(self.milestones), **(extra or {})})
        try:
            journal.append(layout.lives, layout.lock_of(layout.lives), [row])
        except BaseException:
            self.abandon()
            raise

    # --- episodes

    def episode(
        self,
        action_kind: str | None,
        arguments: Mapping[str, Any] | None = None,
        *,
        frame: Any = None,
        frame_missing: str | None = None,
        state: Mapping[str, Any] | None = None,
        place: str | None = None,
        plan: str | Mapping[str, Any] | None = None,
        kind: str = "episode",
        time: datetime | str | None = None,
        deriver: Deriver | None = None,
    ) -> Recording:
        """Begins an episode with its first observation; where none is given, it is the last one of this life.

        `place` is the state's own where none is given.
        `arguments` is None for a raw action. Raises Conflict while another episode of this life is open, InvalidInput
        for what can't be recorded, StorageFull on a full disk: then nothing was begun.
        """
        self._need_running()
        if self._open is not None:
            if self._open.is_open:
                raise Conflict(f"{self._open.id} is open; finish it before the next one begins")
            self._open.settle()  # an interrupt struck at the very end of finish()
        if action_kind is not None and not isinstance(action_kind, str):
            raise InvalidInput(f"action_kind: text was expected, found {type(action_kind).__name__}")
        if frame is None and state is None and self._last is not None:
            first = self._last
        else:
            first = observe(frame, state, time, frame_missing, self.codec)
        if place is None and isinstance(first.state.get("place"), str):
            place = first.state["place"]
        for name, value in (("place", place), ("kind", kind)):
            if not (isinstance(value, str) or (value is None and name == "place")):
                raise InvalidInput(f"{name}: text was expected, found {type(value).__name__}")
        if not (plan is None or isinstance(plan, (str, Mapping))):
            raise InvalidInput(f"plan: text or a mapping was expected, found {type(plan).__name__}")
        cleaned = None if arguments is None else mapping(arguments, "arguments")[0]
        planned = plan if plan is None or isinstance(plan, str) else mapping(plan, "plan")[0]
        self._project_rest()
        intent = Intent(kind, action_kind, cleaned, place, planned, self.world)
        number, begun = self._claim(intent)
        self._open = Recording(self, number, intent, deriver or self._deriver(), begun)
        try:
            self._open.begin(first)
        except Exception:  # of the disk, or of a deriver of somebody else's
            self._open.abandon()
            raise
        self.ordinal = begun["ordinal"]
        return self._open

    def _claim(self, intent: Intent) -> tuple[int, Json]:
        layout = self.layout
        number = self._claimed = claim_episode(layout, self._claimed)
        row: Json = {
            "id": f"ep_{number:06d}",
            "kind": intent.kind,
            "action_kind": intent.action_kind,
            "arguments": intent.arguments,
            "plan": intent.plan,
            "place": intent.place,
            "first_step": self.step,
            "world": intent.world.world,
            "ordinal": self.ordinal + (intent.kind != "initial"),
            "index_at": size_of(layout.index),
            "grid_at": size_of(layout.grid),
            "log_at": size_of(layout.log(self.number)),
            "begun": utc(None),
        }
        begun = layout.begun(self.number)
        try:
            journal.append(begun, layout.lock_of(begun), [row], durable=False)
        except ScrubjayError:
            with contextlib.suppress(OSError):
                os.rmdir(layout.episode(row["id"]))
            raise
        return number, row

    def enter(self, world: World | str) -> None:
        """Goes on in another world (a new map, another level), declared where it is new; positions from now on
        belong to it. Raises Conflict while an episode is open."""
        if self._open is not None:
            raise Conflict(f"{self._open.id} is open; a change of world ends the episode, so finish it first")
        self.world = declare_world(self.layout, world)

    # --- what a Recording tells its life

    def took(self, step: int, seen: Observation) -> None:
        """A step was recorded."""
        self.step, self._last = step, seen

    def commit(self, row: Row) -> None:
        """Appends the index row, which is the commit."""
        journal.append(self.layout.index, self.layout.lock_of(self.layout.index), [row.to_json()])

    def has_row(self, ident: str, start: int) -> bool:
        """True where the index holds a row of this episode at or after byte `start`."""
        return any(row.get("id") == ident for row in journal.rows(self.layout.index, start))

    def owes(self, record: Json, begun: Json) -> None:
        """Grid rows and a log section follow from this committed record."""
        if not any(owed["id"] == record["id"] for owed, _ in self._unprojected):
            self._unprojected.append((record, begun))

    def pay(self) -> None:
        """Writes what is owed, now if the disk lets it: the episode is acknowledged all the same."""
        with contextlib.suppress(ScrubjayError):
            self._project_rest()

    def closed(self, recording: Recording) -> None:
        """The open episode is finished or given up."""
        self._open = None

    def make_durable(self) -> None:
        """Makes this life's journals durable, up to now."""
        for path in (self.layout.begun(self.number), self.layout.grid, self.layout.log(self.number)):
            if os.path.exists(path):
                datasync(path)

    def _project_rest(self) -> None:
        while self._unprojected:
            record, begun = self._unprojected[0]
            if self._is_projecting:  # a full disk or an interrupt broke off: part of it may be there
                complete(self.layout, record, begun["grid_at"], begun["log_at"])
            else:
                self._is_projecting = True
                project(self.layout, record)
            del self._unprojected[0]
            self._is_projecting = False

    # --- the end

    def end(self, outcome: str | None = "ended") -> None:
        """Ends the life; an open episode is kept as interrupted. A second call does nothing.

        Raises StorageFull on a full disk; free space and call again, or let the next writable open do it.
        """
        if self._ended:
            return
        if self._open is not None:
            if not self._open.is_open:
                self._open.settle()
            elif self._open.is_empty:
                self._open.abandon()
            else:
                self._open.finish("interrupted", events=["the life ended"])
        self._project_rest()
        self.make_durable()
        row: Json = {"life": self.number, "event": "end", "ended": utc(None), "outcome": outcome}
        row.update({"episodes": self.ordinal, "steps": self.step})
        journal.append(self.layout.lives, self.layout.lock_of(self.layout.lives), [row])
        self.abandon()

    def abandon(self) -> None:
        """Lets go of everything without writing: what a crash does. The next writable open recovers the life."""
        if not self._ended:
            self._ended = True
            if self._open is not None:
                self._open.abandon()
            self.writer.close()
            let_go(self._lock)
            _running.discard(self)

    @property
    def is_running(self) -> bool:
        """True until `end`."""
        return not self._ended

    def _need_running(self) -> None:
        if self._ended:
            raise Conflict(f"life {self.number} has ended; begin a new one with memory.live(...)")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.end("ended" if error is None else "interrupted")
        except ScrubjayError as fault:
            self.abandon()
            if error is None:
                raise
            error.add_note(f"scrubjay: life {self.number} could not be ended: {fault}")


_running: weakref.WeakSet[Life] = weakref.WeakSet()


def _let_go_in_child() -> None:
    # A forked child shares the lock's open file: were it kept, the life would seem to run after its process died.
    for life in list(_running):
        with contextlib.suppress(OSError):
            os.close(life._lock)
        life._ended = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go_in_child)
