"""Taking raw actions in the environment into an open episode, one by one, until something calls for another look.

It knows an environment and an episode. Whether a repeated action, an atom, a procedure or a reflex asks for the steps
it does not know: all of them are bounded and stopped here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scrubjay.agent.stopping import Stop
from scrubjay.environments.atoms import Raw
from scrubjay.environments.contract import Environment
from scrubjay.errors import InvalidInput
from scrubjay.memory.jsonio import Json
from scrubjay.memory.records import is_number

if TYPE_CHECKING:
    from scrubjay.memory.recording import Recording

__all__ = ["MILESTONE", "Halt", "Seen", "Stepper"]

MILESTONE = "milestone "  # an event that begins with this names a milestone, verified by the environment


@dataclass(frozen=True, slots=True)
class Seen:
    """An observation: the frame, the state, the milestones reached in this life so far."""

    frame: Any
    state: Json
    milestones: tuple[str, ...]

    @classmethod
    def of(cls, frame: Any, info: Json) -> Seen:
        """The observation that an environment gave with this `info`."""
        return cls(frame, info["state"], tuple(info["milestones"]))


class Halt(Exception):
    """No further step may be taken: the life ended, the steps are spent, a reflex or somebody asked to stop."""


class Stepper:
    """The steps of one entry. `new` maps milestones reached to their step, `is_hurt` says whether health was lost.

    `after` is called after every step; it may take steps itself, and say in `stopped_by` which reflex stops the plan.
    """

    def __init__(
        self,
        environment: Environment,
        episode: Recording,
        before: Seen,
        most: int,
        stop: Stop,
        after: Callable[[Stepper], None] = lambda stepper: None,
    ) -> None:
        self._environment, self.episode, self._most, self._stop = environment, episode, most, stop
        self._after = after
        self.seen, self.taken = before, 0
        self.new: dict[str, int] = {}
        self.ending: str | None = None
        self.is_hurt = False
        self.stopped_by: str | None = None

    @property
    def is_over(self) -> bool:
        """True where no further step may be taken."""
        return self.is_spent or self.is_stopped

    @property
    def is_spent(self) -> bool:
        """True where all steps that there were are taken."""
        return self.taken >= self._most

    @property
    def is_stopped(self) -> bool:
        """True where the life ended, or a reflex or somebody asked to stop."""
        return self._stop.asked or self.ending is not None or self.stopped_by is not None

    @property
    def calls_for_a_look(self) -> bool:
        """True where what a plan was made for is not what there is any more."""
        return self.ending is not None or bool(self.new) or self.is_hurt or self.stopped_by is not None

    def take(self, action: Raw) -> Json:
        """Takes one raw action and returns the state it led to. Raises Halt, InvalidInput for an unknown action."""
        if isinstance(action, str) and action not in self._environment.actions:
            raise InvalidInput(f"{action!r} is no action; there are {', '.join(self._environment.actions)}")
        if self.is_over:
            raise Halt(self._why_over())
        taken = self._environment.actions.index(action) if isinstance(action, str) else action
        frame, reward, terminated, truncated, info = self._environment.step(taken)
        before, self.seen = self.seen, Seen.of(frame, info)
        self.taken += 1
        step = self.episode.step(
            action,
            frame=frame,
            state=self.seen.state,
            reward=float(reward),
            terminated=terminated,
            truncated=truncated,
        )
        for name in self.seen.milestones:
            if name not in before.milestones:
                self.new[name] = step
                self.episode.event(f"{MILESTONE}{name}")
        self.ending = str(info.get("ending", "died")) if terminated else "truncated" if truncated else None
        self.is_hurt = self.is_hurt or _is_hurt(before.state, self.seen.state)
        self._after(self)
        return self.seen.state

    def _why_over(self) -> str:
        by_reflex = None if self.stopped_by is None else f"the reflex {self.stopped_by} said stop"
        return self.ending or by_reflex or ("stopped" if self._stop.asked else "the steps are spent")


def _is_hurt(before: Json, after: Json) -> bool:
    a, b = before.get("health"), after.get("health")
    return is_number(a) and is_number(b) and b < a
