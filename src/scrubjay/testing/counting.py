"""CountingEnvironment: a tiny world whose frames tell which step they show, to test recorders with.

It knows Gymnasium's contract and numbers; it does not know memories.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np

from scrubjay.memory.jsonio import Json
from scrubjay.memory.records import World

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Frame = NDArray[np.uint8]

__all__ = ["CountingEnvironment", "count_in", "frame_of"]

_DIGITS = 8


def frame_of(count: int, life: int = 0, size: tuple[int, int] = (32, 24)) -> Frame:
    """The frame that shows this count of this life: uint8 (H, W, 3)."""
    width, height = size
    frame = np.zeros((height, width, 3), np.uint8)
    frame[:, :, 2] = np.arange(width, dtype=np.uint8)
    for row, number in enumerate((count, life)):
        for digit in range(_DIGITS):
            frame[row, digit, :] = (number >> (8 * digit) & 255) if digit < 4 else 0
    return frame


def count_in(frame: Frame) -> tuple[int, int]:
    """Count and life that a frame of `frame_of` shows, read from its pixels."""
    count, life = (sum(int(frame[row, digit, 0]) << (8 * digit) for digit in range(4)) for row in range(2))
    return count, life


class CountingEnvironment(gymnasium.Env["Frame", int]):
    """Counts its steps and shows the count. `right` and `left` walk a line of cells, `wait` doesn't, `jump` leaps 100.

    It ends (terminated) after `length` steps, or is cut (truncated) after `cut`. Milestones are the counts 3 and 6.
    With `reuse` every frame is the same buffer, written anew.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"]}  # noqa: RUF012 (Gymnasium's form)
    actions = ("wait", "right", "left", "jump")
    milestones = ("three", "six")

    def __init__(self, length: int = 10, cut: int | None = None, size: tuple[int, int] = (32, 24), reuse: bool = False):
        self.render_mode = None
        self.action_space = gymnasium.spaces.Discrete(len(self.actions))  # type: ignore[assignment]
        self.observation_space = gymnasium.spaces.Box(0, 255, (size[1], size[0], 3), np.uint8)
        self._length, self._cut, self._size, self._reuse = length, cut, size, reuse
        self._buffer = np.zeros((size[1], size[0], 3), np.uint8)
        self._life, self._count, self._x = 0, 0, 0
        self._seed = 0

    @property
    def world(self) -> World:
        """`counting-7` for seed 7: a line of cells along x."""
        return World(f"counting-{self._seed}")

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Frame, Json]:
        """Begins the next life at count 0; a seed begins the first one of a world."""
        super().reset(seed=seed)
        if seed is not None:
            self._seed, self._life = seed, 0
        self._life, self._count, self._x = (options or {}).get("life", self._life + 1), 0, 0
        return self._picture(), self._info()

    def step(self, action: int) -> tuple[Frame, float, bool, bool, Json]:
        """Counts one step further, also after the end: what comes then must not be recorded."""
        self._count += 1
        self._x += (0, 1, -1, 100)[int(action)]
        terminated = self._count >= self._length
        truncated = not terminated and self._cut is not None and self._count >= self._cut
        return self._picture(), float(self._count), terminated, truncated, self._info()

    def render(self) -> Frame:
        """The frame of this moment; changes nothing."""
        return frame_of(self._count, self._life, self._size)

    def _picture(self) -> Frame:
        if not self._reuse:
            return self.render()
        self._buffer[...] = self.render()
        return self._buffer

    def _info(self) -> Json:
        reached = [name for name, at in zip(self.milestones, (3, 6), strict=True) if self._count >= at]
        state = {"pos": [self._x, 0, 0], "count": self._count, "life": self._life, "health": 20}
        return {"state": state, "milestones": reached}
