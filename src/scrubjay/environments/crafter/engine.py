"""The published crafter game with chances that depend on seed, life and actions, and on nothing else.

The package, as installed, has two traps. Its chunks are Python sets of objects, which iterate by memory address, so
that one seed gives different lives in different processes. And the noise of the night is drawn from the world's own
generator, so that the size of the frame, or one look more, changes what happens next. Both are cured here in
subclasses: the installed files and other users of the package are untouched, and so are the rules of the game.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import crafter
import numpy as np
from crafter import constants, engine, objects

from scrubjay.environments.crafter.layouts import Layout

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Game"]

_CHUNK = (12, 12)
_VITALS = ("health", "food", "drink", "energy")
_FULL = 9


class _InOrder(dict[Any, None]):
    """A set that iterates in the order of insertion, with the two methods that a chunk needs."""

    def add(self, item: Any) -> None:
        self[item] = None

    def remove(self, item: Any) -> None:
        del self[item]


class _World(engine.World):  # type: ignore[misc]
    """The package's world, whose chunks iterate in the order in which creatures came into them."""

    def reset(self, seed: int | None = None) -> None:
        super().reset(seed)
        self._chunks: defaultdict[tuple[int, ...], _InOrder] = defaultdict(_InOrder)


class _View(engine.LocalView):  # type: ignore[misc]
    """The package's view, whose night noise comes from a generator of its own, the same for every look at a moment."""

    moment: tuple[int, ...] = (0,)

    def _noise(self, canvas: NDArray[Any], amount: float, stddev: float) -> Any:
        noise = np.random.default_rng(self.moment).uniform(32, 127, canvas.shape[:2])[..., None]
        mask = amount * self._vignette(canvas.shape, stddev)[..., None]
        return (1 - mask) * canvas + mask * noise


class Game(crafter.Env):  # type: ignore[misc]
    """The package's game, made repeatable. Frames are rendered when asked for, not at every step.

    `view_size` is how many tiles the picture shows of the world, across and down: 9 and 7. A `layout` takes the place
    of the package's world: see `layouts`.
    """

    def __init__(
        self, size: tuple[int, int], length: int | None, layout: Callable[[int, int], Layout] | None = None
    ) -> None:
        self._draw = layout
        self.layout: Layout | None = None
        super().__init__(size=size, length=length, seed=0)
        self._life = 1
        self._world = _World(self._area, constants.materials, _CHUNK)
        rows = -(-len(constants.items) // self._view[0])  # of the picture, given to the inventory
        self.view_size = (int(self._view[0]), int(self._view[1] - rows))
        self._local_view = _View(self._world, self._textures, self.view_size)
        self._sem_view = engine.SemanticView(
            self._world,
            [objects.Player, objects.Cow, objects.Zombie, objects.Skeleton, objects.Arrow, objects.Plant],
        )

    def begin(self, seed: int, life: int, length: int | None) -> None:
        """Makes the world of `seed` anew. Its first life is the package's own; each later one has other chances."""
        self._seed, self._life, self._length, self._episode = seed, life, length, 0
        self.layout = None if self._draw is None else self._draw(seed, life)
        self.reset()
        if life > 1:
            self._world.random.seed(np.random.SeedSequence((seed, life)).generate_state(4))

    def reset(self) -> None:
        """The package's reset; with a layout, that is the world."""
        if self.layout is None:
            super().reset()
            return
        self._step = 0
        self._world.reset(seed=self._seed)
        self._update_time()
        for x in range(self._area[0]):
            for z in range(self._area[1]):
                self._world[x, z] = self.layout.tiles.get((x, z), "water")
        self._player = objects.Player(self._world, self.layout.start)
        self._player.inventory.update(self.layout.inventory)
        self._last_health = self._player.health
        self._world.add(self._player)
        self._unlocked: set[str] = set()

    def step(self, action: int) -> Any:
        """The package's step; in a layout nobody gets hungry, thirsty or tired."""
        found = super().step(action)
        if self.layout is not None:
            self._player.inventory.update(dict.fromkeys(_VITALS, _FULL))
        return found

    def _update_time(self) -> None:
        super()._update_time()
        if self._draw is not None:
            self._world.daylight = 1.0

    def _balance_chunk(self, chunk: Any, objs: Any) -> None:
        if self._draw is None:
            super()._balance_chunk(chunk, objs)

    def picture(self) -> NDArray[np.uint8]:
        """The frame of this moment, `uint8 (H, W, 3)`."""
        self._local_view.moment = (self._seed, self._life, self._step)
        frame: NDArray[np.uint8] = np.ascontiguousarray(self.render())
        return frame

    def _obs(self) -> None:
        """Nothing: the package would render here, at every step."""

    @property
    def player(self) -> Any:
        """The package's player object."""
        return self._player

    @property
    def daylight(self) -> float:
        """From 0 in the night to 1."""
        return float(self._world.daylight)

    def at(self, x: int, y: int) -> tuple[str | None, Any]:
        """Material and creature of a tile; None and None beyond the edge."""
        material, thing = self._world[x, y]
        return material, thing
