"""VizDoom behind Gymnasium's contract, with its world, its state in words and its milestones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded

from scrubjay.environments.atoms import Atom
from scrubjay.environments.vizdoom.atoms import ATOMS
from scrubjay.environments.vizdoom.engine import BUTTONS, Game, Moment, wad_path
from scrubjay.environments.vizdoom.reached import CELL, Reached, milestones
from scrubjay.environments.vizdoom.state import state_of
from scrubjay.environments.vizdoom.things import contents
from scrubjay.memory.jsonio import Json
from scrubjay.memory.records import World

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Frame = NDArray[np.uint8]

__all__ = ["VizDoom"]


class VizDoom(gymnasium.Env["Frame", int]):
    """A map of Freedoom in ViZDoom (Wydmuch, Kempka, Jaśkowski 2018): 9 actions, each held for 4 of 35 tics a second.

    The map is the world, the same for every seed and life; what monsters do, and what each shot hits, is drawn from
    `reset(seed=…)` and `options={"life": n}`. A reset without either begins the next life. A life ends by death or by
    the map's exit (terminated), or after `length` steps (truncated). The reward counts the milestones that a step
    reached. `size` is width and height of the frame, one that the game has; it decides what is large enough to be
    seen, and nothing else. A forward step is 7 map units from standing and 33 at full speed, a turn 10 degrees.

    The game gives no picture of the moment in which it ends: there the frame is the one before.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 9}  # noqa: RUF012 (Gymnasium's form)

    def __init__(
        self,
        doom_map: str = "MAP01",
        seed: int = 0,
        size: tuple[int, int] = (640, 360),
        length: int | None = 10_000,
        *,
        wad: str = "freedoom2",
        skill: int = 3,
        cheats: bool = False,
        render_mode: str = "rgb_array",
    ) -> None:
        """Raises InvalidInput for a map that `wad` does not hold. The game starts with the first reset."""
        self.render_mode = render_mode
        self.actions: tuple[str, ...] = BUTTONS
        self.atoms: tuple[Atom, ...] = ATOMS
        self.deriver = "continuous"
        self.milestones: tuple[str, ...] = milestones(contents(wad_path(wad), doom_map, skill))
        self.world = World(
            f"doom-{doom_map.lower()}", up="z", unit="map unit", cell=CELL, yaw="0 looks along +x, 90 along +y"
        )
        self.action_space = gymnasium.spaces.Discrete(len(BUTTONS))  # type: ignore[assignment]
        self.observation_space = gymnasium.spaces.Box(0, 255, (size[1], size[0], 3), np.uint8)
        self.game: Game | None = None
        self._start = (wad, doom_map, size, skill, cheats)
        self._length, self._seed, self._life = length, seed, 0
        self._steps = 0
        self._needs_reset = True
        self._reached = Reached()
        self._frame: Frame | None = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Frame, Json]:
        """Begins a life, in a new process where the game's has broken down.

        Raises ValueError for a life below 1, Gymnasium's error for a negative seed.
        """
        super().reset(seed=seed)
        life = (options or {}).get("life", self._life + 1 if seed is None else 1)
        if life < 1:
            raise ValueError(f"life: a number of 1 or more was expected, found {life!r}")
        self._seed = self._seed if seed is None else seed
        self._life = life
        if self.game is not None and not self.game.is_running:
            self.close()
        if self.game is None:
            self.game = Game(*self._start)
        chances = np.random.SeedSequence((self._seed, life)).generate_state(1)[0]
        moment = self.game.begin(int(chances) or 1)  # 0 means no seed to the program
        self._steps, self._needs_reset, self._reached = 0, False, Reached()
        self._frame = moment.frame
        self._reached.observe(moment)
        return self.render(), self._info(moment)

    def step(self, action: int) -> tuple[Frame, float, bool, bool, Json]:
        """Takes the action with this index in `actions`. Raises Gymnasium's ResetNeeded after an end."""
        if self._needs_reset or self.game is None:
            raise ResetNeeded("the life has ended or none was begun: call reset() before step()")
        before = len(self._reached.among(self.milestones))
        moment = self.game.press(BUTTONS[action])
        terminated = self.game.has_ended
        if moment.frame is not None:
            self._frame = moment.frame
        self._steps += 1
        self._reached.observe(moment, terminated)
        truncated = not terminated and self._length is not None and self._steps >= self._length
        self._needs_reset = terminated or truncated
        info = self._info(moment)
        return self.render(), float(len(info["milestones"]) - before), terminated, truncated, info

    def render(self) -> Frame:
        """The frame of this moment, `uint8 (H, W, 3)`; changes nothing. Raises ResetNeeded before the first reset."""
        if self._frame is None:
            raise ResetNeeded("there is no frame before the first reset()")
        return self._frame.copy()

    def close(self) -> None:
        """Ends the game's process. A reset after it starts another."""
        game, self.game, self._needs_reset = self.game, None, True
        if game is not None:
            game.close()

    def _info(self, moment: Moment) -> Json:
        return {
            "state": state_of(moment, self._reached),
            "milestones": self._reached.among(self.milestones),
        }
