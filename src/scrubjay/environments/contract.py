"""What an agent can live in: Gymnasium's contract, and the few facts more that a memory needs.

It knows shapes and names only; it imports no environment and no Gymnasium.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, SupportsFloat

from scrubjay.memory.jsonio import Json
from scrubjay.memory.records import World

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Frame = NDArray[np.uint8]

__all__ = ["Environment"]


class Environment(Protocol):
    """Gymnasium's contract, with a world, named actions and milestones.

    The observation is the frame, `uint8 (H, W, 3)`. `info["state"]` is the structured part of the observation, as
    JSON, and `info["milestones"]` lists those reached in this life, in the order of `milestones`. `step` takes an
    index into `actions`, or, where raw actions have arguments, an object such as `{"click": {"x": 500, "y": 320}}`.
    Where a life ends other than by death, `info["ending"]` says how. It may have `deriver`, the family that says what
    its episodes were (`continuous` for a world without tiles, `desktop` for a screen), and `atoms`, a tuple of `Atom`:
    closed-loop primitives that a plan can call by name.
    `rules`, a text, is what its author has to say to whoever acts in it.
    `options={"life": n}` at reset gives life n: the same world, other chances.
    """

    @property
    def world(self) -> World:
        """The coordinate frame of the positions in the state; it may change at a reset."""

    @property
    def actions(self) -> tuple[str, ...]:
        """Names of the raw actions; the index of a name is what `step` takes."""

    @property
    def milestones(self) -> tuple[str, ...]:
        """What can be reached, verified by the environment itself."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Frame, Json]:
        """Begins a life and returns its first observation."""

    def step(self, action: Any) -> tuple[Frame, SupportsFloat, bool, bool, Json]:
        """Takes one action: frame, reward, terminated, truncated, info."""

    def render(self) -> Any:
        """The frame of the present moment; changes nothing."""

    def close(self) -> None:
        """Gives back what the environment holds."""
