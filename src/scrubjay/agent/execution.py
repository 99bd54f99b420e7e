"""Executing one entry of a plan: environment steps until it is done or something calls for another look.

One entry is one episode. It knows an environment and a life; why the entry was chosen it does not know.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from scrubjay.agent.stopping import Stop
from scrubjay.environments.contract import Environment
from scrubjay.errors import InvalidInput
from scrubjay.memory.jsonio import Json
from scrubjay.memory.records import Row, is_number
from scrubjay.models.contract import Entry

if TYPE_CHECKING:
    from scrubjay.memory.lives import Life

__all__ = ["MILESTONE", "Executed", "Seen", "execute"]

MILESTONE = "milestone "  # how the event of an episode that reached one begins


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


@dataclass(frozen=True, slots=True)
class Executed:
    """How an entry went. `ending` is why the life ended with it (`died`, `truncated`), else None."""

    row: Row
    seen: Seen
    new: dict[str, int] = field(default_factory=dict)  # milestone -> step of the life
    is_cut: bool = False
    ending: str | None = None


def execute(
    environment: Environment, life: Life, entry: Entry, before: Seen, most: int, plan: Json, stop: Stop
) -> Executed:
    """Takes the entry's action up to `repeat` and at most `most` times, recorded as one episode.

    Stops early where a milestone is reached, health is lost, the life ends or somebody asks to stop; then the rest
    of the plan is out of date as well. Raises InvalidInput for an action that the environment does not have.
    """
    if entry.action not in environment.actions or entry.repeat < 1:
        known = ", ".join(environment.actions)
        raise InvalidInput(f"plan: {entry.action!r} x{entry.repeat} is no entry; the actions are {known}")
    action = environment.actions.index(entry.action)
    seen, new, ending, taken = before, {}, None, 0
    with life.episode(entry.action, plan=plan) as episode:
        while taken < min(entry.repeat, most) and not stop.asked:
            frame, reward, terminated, truncated, info = environment.step(action)
            last, seen, taken = seen, Seen.of(frame, info), taken + 1
            step = episode.step(
                entry.action,
                frame=frame,
                state=seen.state,
                reward=float(reward),
                terminated=terminated,
                truncated=truncated,
            )
            reached = [name for name in seen.milestones if name not in last.milestones]
            new.update(dict.fromkeys(reached, step))
            for name in reached:
                episode.event(f"{MILESTONE}{name}")
            ending = "died" if terminated else "truncated" if truncated else None
            if ending or reached or _is_hurt(last.state, seen.state):
                break
        is_cut = taken < entry.repeat or ending is not None
        row = episode.finish(ending or (None if not is_cut else "interrupted" if stop.asked else "stopped"))
    return Executed(row, seen, new, is_cut or bool(new), ending)


def _is_hurt(before: Json, after: Json) -> bool:
    a, b = before.get("health"), after.get("health")
    return is_number(a) and is_number(b) and b < a
