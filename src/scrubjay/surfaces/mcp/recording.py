"""Recording for agents without a hook in Python: begin, step, finish, each a call that names its episode.

Every life has one owner: whoever was given its number by `begin`. Two clients that begin have two lives. A life ends
when it is said, when the server ends, or when nobody called for long; its open episode is kept as interrupted, with
the steps it had.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from scrubjay.errors import InvalidInput, NotFound, ScrubjayError
from scrubjay.memory.frames import DEFAULT_CODEC
from scrubjay.memory.jsonio import Json
from scrubjay.memory.lives import Life
from scrubjay.memory.observations import observe
from scrubjay.memory.recording import Recording
from scrubjay.public import Memory
from scrubjay.surfaces.mcp.given import picture_of
from scrubjay.surfaces.mcp.results import Answer, row_json

__all__ = ["IDLE", "Recorder"]

IDLE = 3600.0  # seconds
_MOST_ENDED = 1000


@dataclass(slots=True)
class _Kept:
    """A life that this server runs, and the episode that is open in it. One call at a time may use it."""

    memory: Memory
    life: Life
    called: float
    episode: Recording | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)


class Recorder:
    """Records for any number of clients of one server; calls may come from any thread."""

    def __init__(self, path: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._path, self._clock = path, clock
        self._lives: dict[int, _Kept] = {}
        self._ended: dict[str, str] = {}
        self._lock = threading.Lock()
        self._closed = False

    def record(self, arguments: Json) -> Answer:
        """Carries out one call. Raises InvalidInput, NotFound, Conflict, StorageFull; nothing recorded is lost."""
        match arguments["command"]:
            case "begin":
                return self._begin(arguments)
            case "step":
                return self._step(arguments)
            case _:
                return self._finish(arguments)

    def context(self) -> tuple[int | None, int | None]:
        """The newest life that is running here, and its step."""
        with self._lock:
            kept = list(self._lives.values())
        return (kept[-1].life.number, kept[-1].life.step) if kept else (None, None)

    # --- the three calls

    def _begin(self, arguments: Json) -> Answer:
        action = arguments.get("action")
        if not isinstance(action, str) or not action.strip():
            raise InvalidInput("action: begin needs the kind of action as a text, such as open_file or go_to")
        image = picture_of(arguments.get("image"))
        observe(
            image, arguments.get("state"), None, None, DEFAULT_CODEC
        )  # a life must not begin with what can't be recorded
        number = arguments.get("life")
        kept = self._new_life(arguments) if number is None else self._of_life(number)
        try:
            said = self._began(kept, action, arguments, image)
        except ScrubjayError:
            if number is None:  # nobody knows this life's number
                with contextlib.suppress(ScrubjayError):
                    self._end(kept, "interrupted")
            raise
        text = (
            f"{said['episode']} has begun at step {said['step']} in life {said['life']}. Give episode "
            f"{said['episode']} to step and finish, and life {said['life']} to the next begin."
        )
        return Answer(text, {**said, "text": text})

    def _began(self, kept: _Kept, action: str, arguments: Json, image: Any) -> Json:
        with kept.lock:
            self._need_running(kept)
            recording = kept.life.episode(
                action,
                arguments.get("arguments"),
                frame=image,
                state=arguments.get("state"),
                place=arguments.get("place"),
                plan=arguments.get("plan"),
            )
            kept.episode, kept.called = recording, self._clock()
            return {"life": kept.life.number, "episode": recording.id, "step": recording.last_step}

    def _step(self, arguments: Json) -> Answer:
        image = picture_of(arguments.get("image"))
        if arguments.get("action") is None:
            raise InvalidInput("action: step needs what was done since the last observation")
        kept, recording = self._open(arguments)
        with kept.lock:
            self._need_running(kept)
            step = recording.step(
                arguments["action"],
                frame=image,
                state=arguments.get("state"),
                reward=arguments.get("reward"),
                terminated=arguments.get("terminated", False),
                truncated=arguments.get("truncated", False),
            )
            kept.called = self._clock()
        text = f"step {step} of {recording.id} is recorded"
        return Answer(text, {"life": kept.life.number, "episode": recording.id, "step": step, "text": text})

    def _finish(self, arguments: Json) -> Answer:
        kept, recording = self._open(arguments)
        with kept.lock:
            self._need_running(kept)
            row = recording.finish(
                arguments.get("outcome"),
                summary=arguments.get("summary"),
                tags=arguments.get("tags"),
                events=arguments.get("events", ()),
                note=arguments.get("note"),
            )
            kept.episode, kept.called = None, self._clock()
        self._note_ended(recording.id, "is finished")
        ends = bool(arguments.get("end_life", False))
        if ends:
            self._end(kept, "ended")
        what = "has ended" if ends else "goes on: give it to the next begin"
        text = f"{row.id} is recorded: {row.summary} (life {kept.life.number} {what})"
        return Answer(text, {"life": kept.life.number, "life_ended": ends, "row": row_json(row), "text": text})

    # --- lives

    def _new_life(self, arguments: Json) -> _Kept:
        memory = Memory.open(self._path)
        try:
            life = memory.live(arguments.get("task", ""), arguments.get("world", "world"))
        except BaseException:
            memory.close()
            raise
        kept = _Kept(memory, life, self._clock())
        with self._lock:
            if self._closed:
                memory.close()
                raise InvalidInput("the server is ending: nothing can be recorded any more")
            self._lives[life.number] = kept
        return kept

    def _of_life(self, number: int) -> _Kept:
        with self._lock:
            kept = self._lives.get(number)
        if kept is None:
            raise NotFound(f"life {number} is not running here: begin without life, and a new one begins")
        return kept

    def _open(self, arguments: Json) -> tuple[_Kept, Recording]:
        ident: Any = arguments.get("episode")
        if ident is None:
            raise InvalidInput(f"episode: {arguments['command']} needs the id that begin returned")
        with self._lock:
            for kept in self._lives.values():
                if kept.episode is not None and kept.episode.id == ident:
                    return kept, kept.episode
            why = self._ended.get(str(ident), "is not open here")
        raise NotFound(f"{ident!s:.40} {why}: begin a new episode")

    def _need_running(self, kept: _Kept) -> None:
        if not kept.life.is_running:
            raise NotFound(f"life {kept.life.number} has ended meanwhile: begin without life, and a new one begins")

    def _note_ended(self, ident: str, why: str) -> None:
        with self._lock:
            self._ended[ident] = why
            if len(self._ended) > _MOST_ENDED:
                del self._ended[next(iter(self._ended))]

    def _end(self, kept: _Kept, outcome: str) -> None:
        with kept.lock:
            kept.life.end(outcome)
            kept.memory.close()
        with self._lock:
            self._lives.pop(kept.life.number, None)
        if kept.episode is not None:
            self._note_ended(kept.episode.id, "was ended as interrupted, with the steps it had")

    def end_idle(self, seconds: float = IDLE) -> list[int]:
        """Ends the lives for which nobody called in so many seconds; their numbers."""
        with self._lock:
            idle = [kept for kept in self._lives.values() if self._clock() - kept.called >= seconds]
        for kept in idle:
            with contextlib.suppress(ScrubjayError):  # a full disk: the next writable open does it
                self._end(kept, "interrupted")
        return [kept.life.number for kept in idle]

    def close(self) -> None:
        """Ends every life. Where the disk refuses, the next writable open does it."""
        with self._lock:
            self._closed = True
            kept = list(self._lives.values())
        for one in kept:
            try:
                self._end(one, "ended" if one.episode is None else "interrupted")
            except ScrubjayError:
                one.life.abandon()
