"""Lives in VizDoom maps, for benchmarks: a seeded walker that wanders a Freedoom map and tells what it sees.

It knows the game alone: nothing of memories, descriptors or queries. No display is needed. The walker keeps a heading
for a while, turns where it is stuck, opens what it runs into, and is neither hurt nor chased, so that a life is long
and no frame is red with pain; monsters stand about and things are picked up, so that no two lives show the same.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["SIZE", "Sighting", "live", "open_game"]

SIZE = (640, 360)
_TICS_PER_MOVE = 4
_STUCK = 6.0  # map units in one move; free running makes about 30
_NEAR = 12.0  # of the depth buffer: a wall about two body widths ahead
_CHEATS = ("god", "notarget")


@dataclass(frozen=True, slots=True)
class Sighting:
    """One frame of a life, uint8 (360, 640, 3), and the pose it was seen from: map units, degrees."""

    tic: int
    frame: NDArray[np.uint8]
    position: tuple[float, float, float]
    angle: float


def open_game(wad: str) -> Any:
    """A started game of `freedoom1` or `freedoom2`, 640x360 RGB, with the status bar and the weapon shown."""
    import vizdoom as vzd

    game = vzd.DoomGame()
    game.set_doom_game_path(os.path.join(os.path.dirname(vzd.__file__), f"{wad}.wad"))
    game.set_window_visible(False)
    game.set_sound_enabled(False)
    game.set_screen_resolution(vzd.ScreenResolution.RES_640X360)
    game.set_screen_format(vzd.ScreenFormat.RGB24)
    game.set_render_hud(True)
    game.set_render_weapon(True)
    game.set_render_crosshair(False)
    game.set_depth_buffer_enabled(True)
    game.set_mode(vzd.Mode.PLAYER)
    game.set_doom_skill(3)
    game.set_episode_timeout(0)
    game.add_game_args("+sv_cheats 1")
    buttons = vzd.Button
    game.set_available_buttons(
        [buttons.MOVE_FORWARD, buttons.MOVE_LEFT_RIGHT_DELTA, buttons.TURN_LEFT_RIGHT_DELTA, buttons.USE]
    )
    variables = vzd.GameVariable
    game.set_available_game_variables(
        [variables.POSITION_X, variables.POSITION_Y, variables.POSITION_Z, variables.ANGLE]
    )
    game.init()
    return game


def live(game: Any, doom_map: str, *, seed: int, frames: int, every: int = 3, warm_up: int = 0) -> Iterator[Sighting]:
    """One life in `doom_map` (`MAP01`, `E1M1`): a sighting every `every` moves of 4 tics, after `warm_up` moves.

    Lives of one map begin at its one start; `warm_up` lets them begin elsewhere. Ends early where the map's exit
    was found.
    """
    game.set_doom_map(doom_map)
    game.set_seed(seed)
    game.new_episode()
    for cheat in _CHEATS:
        game.send_game_command(cheat)
    walker = _Walker(random.Random(seed))
    given = move = 0
    while given < frames and not game.is_episode_finished():
        state = game.get_state()
        if state is None:
            return
        x, y, z, angle = (float(value) for value in state.game_variables)
        if move >= warm_up and (move - warm_up) % every == 0:
            given += 1
            yield Sighting(int(state.tic), np.array(state.screen_buffer, np.uint8), (x, y, z), angle)
        game.make_action(walker.action(x, y, state.depth_buffer), _TICS_PER_MOVE)
        move += 1


class _Walker:
    """Runs where there is room, turns to the freer side before a wall, and turns round where it is stuck."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._last: tuple[float, float] | None = None
        self._drift = 0.0
        self._turns: list[float] = []

    def action(self, x: float, y: float, depth: NDArray[np.uint8]) -> list[float]:
        """[forward, strafe, degrees to turn right per tic, use]"""
        moved = 999.0 if self._last is None else abs(x - self._last[0]) + abs(y - self._last[1])
        self._last = (x, y)
        chance = self._chance
        if self._turns:
            return [0, 0, self._turns.pop(), 0]
        if moved < _STUCK:
            self._drift = 0.0
            if chance.random() < 0.4:
                return [1, 0, 0, 1]
            total = chance.choice((-1, 1)) * chance.uniform(60, 180)
            self._turns = [total / 3 / _TICS_PER_MOVE] * 3
            return [0, 0, 0, 0]
        if chance.random() < 0.12:
            self._drift = chance.gauss(0.0, 1.6)
        left, ahead, right = (float(depth[120:200, a:b].mean()) for a, b in ((0, 160), (240, 400), (480, 640)))
        steer = self._drift
        if ahead < _NEAR:
            steer = (4.0 if right > left else -4.0) + chance.gauss(0.0, 1.0)
        return [1, 0, steer, 1 if chance.random() < 0.05 else 0]
