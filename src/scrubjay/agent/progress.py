"""What a run says of itself while it goes on, and at its end."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Progress", "Reached"]


@dataclass(frozen=True, slots=True)
class Reached:
    """A milestone of a run, the first time: the step of the run, the life of the memory, the episode that shows it."""

    milestone: str
    step: int
    life: int
    episode: str


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run stands: steps of the whole run, episodes recorded, milestones of all its lives.

    `earlier` names the milestones that lives of this world reached before this run.
    `deaths` are the steps at which a life ended by death, `health` is that of the last state, where it has one.
    `is_stopped` is true where somebody asked the run to stop.
    """

    life: int
    step: int
    steps: int
    episodes: int
    turns: int
    reached: tuple[Reached, ...]
    deaths: tuple[int, ...]
    health: float | None
    seconds: float
    intention: str = ""
    is_stopped: bool = False
    earlier: frozenset[str] = frozenset()

    @property
    def known(self) -> frozenset[str]:
        """Every milestone that the memory holds of this world."""
        return self.earlier | {one.milestone for one in self.reached}
