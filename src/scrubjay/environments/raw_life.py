"""A stream of raw actions cut into lives and episodes.

A raw action repeated is one episode. Another action, a reset, an end, a jump of the position or 400 steps close it.
A reset begins a life. It knows what an observation says; where observations come from is the business of wrappers.
"""

from __future__ import annotations

import math
import statistics
from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

from scrubjay.environments.raw_actions import RawAction
from scrubjay.environments.seeing import Seen, storable
from scrubjay.errors import InvalidInput, StorageFull
from scrubjay.memory.deriving.default import position_of
from scrubjay.memory.jsonio import Json, clean
from scrubjay.memory.records import World
from scrubjay.public import Memory

if TYPE_CHECKING:
    from scrubjay.memory.lives import Life
    from scrubjay.memory.recording import Recording

__all__ = ["LONGEST", "RawLife"]

LONGEST = 400
_JUMP_CELLS = 8.0
_JUMP_TIMES = 10.0
_ENOUGH = 4  # lengths of steps, before any is judged by them
_RECENT = 50


class RawLife:
    """The lives of one environment, one after the other.

    On a full disk StorageFull is raised and nothing is lost: what could not be written waits, and is written first
    by the next call.
    """

    def __init__(self, memory: Memory, task: str) -> None:
        if not isinstance(memory, Memory):
            raise InvalidInput(
                f"memory: a Memory was expected, found {type(memory).__name__}; Memory.create(path) makes one"
            )
        self._memory, self._task = memory, task
        self.life: Life | None = None
        self.needs_reset = True
        self._open: Recording | None = None
        self._action: RawAction | None = None
        self._waiting: deque[Callable[[], None]] = deque()
        self._position: tuple[float, float, float] | None = None
        self._lengths: deque[float] = deque(maxlen=_RECENT)

    # --- what happens in the environment

    def reset(self, seen: Seen, world: World | str, milestones: Iterable[str] = (), deriver: str = "default") -> None:
        """A life begins with this observation; one that runs ends. `deriver` says what its episodes were."""
        self.needs_reset = False
        self._position = _position(seen.state)
        self._lengths.clear()
        self._do(
            self._finish,
            partial(self._end, "reset"),
            partial(self._begin, world, tuple(milestones), deriver),
            partial(self._observe_first, seen),
            self._finish,
        )

    def step(
        self,
        action: RawAction,
        seen: Seen,
        reward: float | None,
        terminated: bool,
        truncated: bool,
        ending: str | None = None,
    ) -> None:
        """The action was taken and led to this observation. `ending` is how the environment says that it terminated."""
        self.needs_reset = terminated or truncated
        events = self._jump(seen.state)
        how = ending or "terminated" if terminated else "truncated" if truncated else None
        row: Json = {"reward": reward, "terminated": terminated, "truncated": truncated}
        work = [partial(self._finish_other, action), partial(self._open_for, action), partial(self._take, seen, row)]
        if how or events:
            work.append(partial(self._finish, how, events))
        if how:
            work.append(partial(self._end, how))
        self._do(*work)

    def interrupt(self, error: BaseException) -> None:
        """The environment raised instead of giving an observation."""
        self._do(partial(self._finish, "interrupted", [f"the environment raised {type(error).__name__}"]))

    def catch_up(self) -> None:
        """Writes what a full disk kept waiting. Raises StorageFull where it is still full."""
        self._do()

    def close(self) -> None:
        """Ends the life that runs. A second call does nothing."""
        self.needs_reset = True
        self._do(self._finish, partial(self._end, "ended"))

    def _jump(self, state: Json) -> list[str]:
        before, self._position = self._position, _position(state)
        if before is None or self._position is None:
            return []
        length = math.dist(before, self._position)
        if len(self._lengths) >= _ENOUGH and length > self._longest_step():
            return [f"position jumped {length:.1f}"]
        if length:
            self._lengths.append(length)
        return []

    def _longest_step(self) -> float:
        cell = 1.0 if self.life is None else self.life.world.cell
        return max(_JUMP_CELLS * cell, _JUMP_TIMES * statistics.median(self._lengths))

    # --- what that means for the memory

    def _do(self, *work: Callable[[], None]) -> None:
        self._waiting.extend(work)
        while self._waiting:
            try:
                self._waiting[0]()
            except StorageFull:
                raise
            except BaseException:
                self._waiting.popleft()
                raise
            self._waiting.popleft()

    def _begin(self, world: World | str, milestones: tuple[str, ...], deriver: str) -> None:
        try:
            self.life = self._memory.live(self._task, world, milestones=milestones, deriver=deriver)
        except StorageFull:
            raise
        except BaseException:
            self.needs_reset = True
            raise

    def _observe_first(self, seen: Seen) -> None:
        if self.life is None:  # it could not begin, which was told
            return
        self._action = None
        begin = partial(self.life.episode, None, kind="initial", frame=seen.frame, frame_missing=seen.missing)
        try:
            self._open = begin(state=seen.state)
        except InvalidInput:  # it holds objects of the environment's own
            self._open = begin(state=storable(seen).state)

    def _finish_other(self, action: RawAction) -> None:
        if self._open is None:
            return
        if action != self._action or self._open.last_step - self._open.first_step >= LONGEST:
            self._finish()

    def _open_for(self, action: RawAction) -> None:
        if self._open is None:
            assert self.life is not None
            self._open, self._action = self.life.episode(action.kind), action

    def _take(self, seen: Seen, row: Json) -> None:
        assert self._open is not None
        assert self._action is not None
        take = partial(self._open.step, self._action.value, frame=seen.frame, frame_missing=seen.missing, **row)
        try:
            take(state=seen.state, info=seen.info)
        except InvalidInput:
            kept = storable(seen)
            take(state=kept.state, info=kept.info)

    def _finish(self, outcome: str | None = None, events: Iterable[str] = ()) -> None:
        # A forked child, or a memory that was closed, has no life that runs: then there is nothing to finish.
        if self._open is not None and self._is_running and self._open.is_open:
            try:
                self._open.finish(outcome, events=events)
            except StorageFull:
                raise
            except BaseException:
                self._open = None
                raise
        self._open = None

    def _end(self, outcome: str) -> None:
        if self.life is not None and self._is_running:
            self.life.end(outcome)
        self.life = None

    @property
    def _is_running(self) -> bool:
        return self.life is not None and self.life.is_running


def _position(state: Json) -> tuple[float, float, float] | None:
    return position_of(clean({"pos": state.get("pos")})[0])
