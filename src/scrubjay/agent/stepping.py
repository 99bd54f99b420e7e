"""Taking raw actions in the environment into an open episode, one by one, until something calls for another look.

It knows an environment and an episode. Whether a repeated action, an atom or a procedure asks for the steps it does
not know: all of them are bounded and stopped here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scrubjay.agent.stopping import Stop
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
    """No further step may be taken: the life ended, the steps are spent, or somebody asked to stop."""


class Stepper:
    """The steps of one entry. `new` maps milestones reached to their step, `is_hurt` says whether health was lost."""

    def __init__(self, environment: Environment, episode: Recording, before: Seen, most: int, stop: Stop) -> None:
        self._environment, self._episode, self._most, self._stop = environment, episode, most, stop
        self.seen, self.taken = before, 0
        self.new: dict[str, int] = {}
        self.ending: str | None = None
        self.is_hurt = False

    @property
    def is_over(self) -> bool:
        """True where no further step may be taken."""
        return self.ending is not None or self.taken >= self._most or self._stop.asked

    @property
    def calls_for_a_look(self) -> bool:
        """True where what a plan was made for is not what there is any more."""
        return self.ending is not None or bool(self.new) or self.is_hurt

    def take(self, action: str) -> Json:
        """Takes one raw action and returns the state it led to. Raises Halt, InvalidInput for an unknown action."""
        if action not in self._environment.actions:
            raise InvalidInput(f"{action!r} is no action; there are {', '.join(self._environment.actions)}")
        if self.is_over:
            raise Halt(self.ending or ("stopped" if self._stop.asked else "the steps are spent"))
        index = self._environment.actions.index(action)
        frame, reward, terminated, truncated, info = self._environment.step(index)
        before, self.seen = self.seen, Seen.of(frame, info)
        self.taken += 1
        step = self._episode.step(
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
                self._episode.event(f"{MILESTONE}{name}")
        self.ending = "died" if terminated else "truncated" if truncated else None
        self.is_hurt = self.is_hurt or _is_hurt(before.state, self.seen.state)
        return self.seen.state


def _is_hurt(before: Json, after: Json) -> bool:
    a, b = before.get("health"), after.get("health")
    return is_number(a) and is_number(b) and b < a
