"""Crafter behind Gymnasium's contract, with its world, its state in words and its milestones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from crafter import constants

from scrubjay.environments.atoms import Atom
from scrubjay.environments.crafter.atoms import ATOMS
from scrubjay.environments.crafter.engine import Game
from scrubjay.environments.crafter.layouts import LAYOUTS
from scrubjay.environments.crafter.ores import ORE_MILESTONES, Touching, without_names
from scrubjay.environments.crafter.state import milestones_of, state_of
from scrubjay.errors import InvalidInput
from scrubjay.memory.jsonio import Json
from scrubjay.memory.records import World

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Frame = NDArray[np.uint8]

__all__ = ["Crafter"]


class Crafter(gymnasium.Env["Frame", int]):
    """The game of Hafner, "Benchmarking the Spectrum of Agent Capabilities" (2021): 17 actions, 22 achievements.

    `size` is width and height of the frame; it changes nothing else. A life ends by death (terminated) or after
    `length` steps (truncated); a list gives each life its own, and the last to all that follow. `layout` names a small
    world of `layouts.LAYOUTS` instead of the package's. `reset(seed=…)` chooses the world, `options={"life": n}` the
    life in it; a reset without either begins the next life in the same world.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012 (Gymnasium's form)

    def __init__(
        self,
        seed: int = 0,
        size: tuple[int, int] = (640, 360),
        length: int | Sequence[int] | None = 10_000,
        render_mode: str = "rgb_array",
        layout: str | None = None,
    ) -> None:
        """Raises InvalidInput for a layout that there is not."""
        self.render_mode = render_mode
        self.actions: tuple[str, ...] = tuple(constants.actions)
        self.atoms: tuple[Atom, ...] = ATOMS
        self.milestones: tuple[str, ...] = (*constants.achievements, *(ORE_MILESTONES if _has_ores(layout) else ()))
        self.action_space = gymnasium.spaces.Discrete(len(self.actions))  # type: ignore[assignment]
        self.observation_space = gymnasium.spaces.Box(0, 255, (size[1], size[0], 3), np.uint8)
        self._lengths = (length,) if length is None or isinstance(length, int) else tuple(length)
        self._layout = layout
        self._game = Game(size, self._lengths[0], None if layout is None else LAYOUTS[layout])
        self._touching = Touching()
        self._seed = seed
        self._life = 0

    @property
    def world(self) -> World:
        """`crafter-7` for seed 7, `crafter-blocked-way-7` in a layout: x to the right, z down, a tile a cell."""
        name = "crafter" if self._layout is None else f"crafter-{self._layout}"
        return World(f"{name}-{self._seed}", up="y", unit="tile", cell=1.0, yaw="0 looks along +x, 90 along +z")

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Frame, Json]:
        """Begins a life. Raises ValueError for a life below 1, Gymnasium's error for a negative seed."""
        super().reset(seed=seed)
        life = (options or {}).get("life", self._life + 1 if seed is None else 1)
        if life < 1:
            raise ValueError(f"life: a number of 1 or more was expected, found {life!r}")
        self._seed = self._seed if seed is None else seed
        self._life = life
        self._touching = Touching()
        self._game.begin(self._seed, life, self._lengths[min(life, len(self._lengths)) - 1])
        return self._game.picture(), self._info()

    def step(self, action: int) -> tuple[Frame, float, bool, bool, Json]:
        """Takes the action with this index in `actions`."""
        _, reward, done, info = self._game.step(int(action))
        ended = self.actions[int(action)] == "do" and self._touching.touch(self._game)
        terminated = info["discount"] == 0
        truncated = (bool(done) or ended) and not terminated
        return self._game.picture(), float(reward), terminated, truncated, self._info()

    def render(self) -> Frame:
        """The frame of this moment, `uint8 (H, W, 3)`; changes nothing."""
        return self._game.picture()

    def _info(self) -> Json:
        state, milestones = state_of(self._game), milestones_of(self._game)
        if _has_ores(self._layout):
            reached = self._touching.reached
            return {"state": without_names(state, self._game, reached), "milestones": [*milestones, *reached]}
        return {"state": state, "milestones": milestones}


def _has_ores(layout: str | None) -> bool:
    if layout is None:
        return False
    if layout not in LAYOUTS:
        raise InvalidInput(f"layout: {layout!r} is not known; there are {', '.join(LAYOUTS)}")
    return bool(LAYOUTS[layout](0, 1).ores)
