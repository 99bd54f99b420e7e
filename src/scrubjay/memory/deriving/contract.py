"""The contract of deriving: what goes in while an episode runs, what comes out when it ends."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from scrubjay.memory.jsonio import Json
from scrubjay.memory.records import World

__all__ = ["Derived", "Deriver", "Happened"]


@dataclass(frozen=True, slots=True)
class Happened:
    """What is known of an episode when it ends, beside its steps.

    `arguments` is None for a raw action. `ordinal` counts the actions of the life from 1; `plan` is the plan's text
    or an object with `text`, `step`, `of`; `milestones` those that count in this life, where that is known.
    """

    kind: str
    action_kind: str | None
    arguments: Json | None
    first_step: int
    last_step: int
    outcome: str | None
    events: tuple[str, ...] = ()
    note: str | None = None
    plan: str | Json | None = None
    ordinal: int = 1
    milestones: tuple[str, ...] = ()
    frame_unchanged: bool = False


@dataclass(frozen=True, slots=True)
class Derived:
    """What an episode's record takes over where the caller gave nothing. `cells` are grid rows without episode."""

    summary: str
    tags: tuple[str, ...]
    cells: tuple[Json, ...] = ()
    log_header: str = ""
    log_lines: tuple[str, ...] = field(default=())


class Deriver(Protocol):
    """Sees an episode step by step and then says what it was. One object serves one episode.

    It must depend on nothing but what it is shown: recovery shows the stored steps again and wants the same answer.
    """

    def begin(self, world: World) -> None:
        """The episode begins in this world (axes, cell size)."""
        ...

    def observe(self, step: int, state: Json, after: Any) -> None:
        """o_k and the action that led to it (None at the first)."""
        ...

    def derive(self, happened: Happened) -> Derived:
        """What the episode was."""
        ...
