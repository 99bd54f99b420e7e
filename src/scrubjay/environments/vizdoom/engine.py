"""The VizDoom program as one started game on one map: begin a life, hold buttons for some tics, see what is there.

It knows the program's buttons, variables and buffers. What is reached by playing, and words for it, it does not know.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import vizdoom

from scrubjay.environments.vizdoom.launching import Launch
from scrubjay.errors import InvalidInput

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Frame = NDArray[np.uint8]

__all__ = ["BUTTONS", "TICS", "Game", "Moment", "Thing", "wad_path"]

TICS = 4  # that an action is held; the game makes 35 in a second
_FIRST_TIC = 14  # before it the game takes no input and the weapon still rises
_TURN = 2.5  # degrees in a tic
_BUTTON = vizdoom.Button
_PRESSED: dict[str, tuple[Any, float] | None] = {
    "noop": None,
    "forward": (_BUTTON.MOVE_FORWARD, 1),
    "back": (_BUTTON.MOVE_BACKWARD, 1),
    "turn_left": (_BUTTON.TURN_LEFT_RIGHT_DELTA, -_TURN),
    "turn_right": (_BUTTON.TURN_LEFT_RIGHT_DELTA, _TURN),
    "strafe_left": (_BUTTON.MOVE_LEFT, 1),
    "strafe_right": (_BUTTON.MOVE_RIGHT, 1),
    "use": (_BUTTON.USE, 1),
    "attack": (_BUTTON.ATTACK, 1),
}
BUTTONS = tuple(_PRESSED)
_KEYS = list(dict.fromkeys(pressed[0] for pressed in _PRESSED.values() if pressed))
_VARIABLES = {
    name: getattr(vizdoom.GameVariable, name)
    for name in (
        *("POSITION_X", "POSITION_Y", "POSITION_Z", "ANGLE", "HEALTH", "ARMOR", "DEAD"),
        *("KILLCOUNT", "DAMAGECOUNT", "ITEMCOUNT", "SECRETCOUNT", "SELECTED_WEAPON", "SELECTED_WEAPON_AMMO"),
        *("AMMO2", "AMMO3", "AMMO5", "AMMO6"),
        *(f"WEAPON{slot}" for slot in range(1, 8)),
    )
}


@dataclass(frozen=True, slots=True)
class Thing:
    """Something of which at least a pixel shows: the game's name and category for it, and where it is."""

    name: str
    category: str
    position: tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Moment:
    """What the game says of a moment. `frame` is None where it has ended: it shows no picture then."""

    variables: dict[str, float]
    frame: Frame | None = None
    things: tuple[Thing, ...] = ()
    messages: tuple[str, ...] = ()


class Game:
    """One process of the program. The same seed and buttons give the same game, in any process."""

    def __init__(self, wad: str, doom_map: str, size: tuple[int, int], skill: int, cheats: bool = False) -> None:
        """Starts it. Raises InvalidInput for a size that the program has not. `cheats` lets tests use `command`."""
        self._game: Any = vizdoom.DoomGame()
        self._launch = Launch(self._game.get_vizdoom_path() or _beside("vizdoom"))
        self._finalizer: Callable[[], Any] = weakref.finalize(self, _end, self._game, self._launch)
        try:
            self._configure(wad, doom_map, size, skill, cheats)
            self._game.init()
        except BaseException:
            self.close()
            raise

    def _configure(self, wad: str, doom_map: str, size: tuple[int, int], skill: int, cheats: bool) -> None:
        game = self._game
        game.set_vizdoom_path(self._launch.program)
        game.set_doom_config_path(self._launch.settings)
        game.set_doom_game_path(wad_path(wad))
        game.set_doom_map(doom_map)
        game.set_doom_skill(skill)
        game.set_window_visible(False)
        game.set_sound_enabled(False)
        game.set_screen_resolution(_resolution(size))
        game.set_screen_format(vizdoom.ScreenFormat.RGB24)
        game.set_render_hud(True)
        game.set_render_weapon(True)
        game.set_render_crosshair(False)
        game.set_labels_buffer_enabled(True)
        game.set_notifications_buffer_enabled(True)
        game.set_notifications_buffer_size(TICS)
        game.set_mode(vizdoom.Mode.PLAYER)
        game.set_episode_timeout(0)
        game.set_episode_start_time(_FIRST_TIC)
        game.set_available_buttons(_KEYS)
        game.set_available_game_variables(list(_VARIABLES.values()))
        if cheats:
            game.add_game_args("+sv_cheats 1")

    def begin(self, seed: int) -> Moment:
        """A new life, its chances drawn from a seed of 32 bits."""
        self._game.set_seed(seed)
        self._game.new_episode()
        return self._moment()

    def press(self, button: str) -> Moment:
        """Holds a button of BUTTONS for `TICS` tics. `use` is let go after the first, or the next would not count."""
        pressed = _PRESSED[button]
        held = [0.0 if pressed is None or key is not pressed[0] else pressed[1] for key in _KEYS]
        if button == "use":
            self._game.set_action(held)
            self._game.advance_action(1, False)
            if not self.has_ended:
                self._game.make_action([0.0] * len(_KEYS), TICS - 1)
        else:
            self._game.make_action(held, TICS)
        return self._moment()

    def command(self, text: str) -> None:
        """A command of the program's console, carried out with the next tic."""
        self._game.send_game_command(text)

    @property
    def is_running(self) -> bool:
        """False where the process has ended by itself, or was ended from outside."""
        return bool(self._game.is_running())

    @property
    def has_ended(self) -> bool:
        """True after death, and when the map's exit was taken."""
        return bool(self._game.is_episode_finished())

    def close(self) -> None:
        """Ends the process and removes its files. A second call does nothing."""
        self._finalizer()

    def _moment(self) -> Moment:
        variables = {name: float(self._game.get_game_variable(key)) for name, key in _VARIABLES.items()}
        state = self._game.get_state()
        if state is None:
            return Moment(variables)
        things = tuple(
            Thing(
                str(label.object_name),
                str(label.object_category),
                (float(label.object_position_x), float(label.object_position_y), float(label.object_position_z)),
            )
            for label in state.labels
        )
        text = "".join(c if c.isprintable() else "\n" for c in state.notifications_buffer or "")
        messages = tuple(line.strip() for line in text.split("\n") if line.strip())
        return Moment(variables, np.array(state.screen_buffer, np.uint8), things, messages)


def wad_path(wad: str) -> str:
    """The file of `freedoom1` or `freedoom2`, which come with the package. Raises InvalidInput for another."""
    if wad not in ("freedoom1", "freedoom2"):
        raise InvalidInput(f"wad: freedoom1 or freedoom2 was expected, found {wad!r}")
    return _beside(f"{wad}.wad")


def _beside(name: str) -> str:
    return os.path.join(os.path.dirname(vizdoom.__file__), name)


def _resolution(size: tuple[int, int]) -> Any:
    known = vizdoom.ScreenResolution.__members__
    name = f"RES_{size[0]}X{size[1]}"
    if name not in known:
        shown = ", ".join(other.removeprefix("RES_").lower() for other in known)
        raise InvalidInput(f"size: VizDoom has no frames of {size[0]}x{size[1]}, only of {shown}")
    return known[name]


def _end(game: Any, launch: Launch) -> None:
    try:
        launch.release()
        game.close()
    finally:
        launch.remove()
