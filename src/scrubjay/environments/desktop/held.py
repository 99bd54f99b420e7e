"""What is held down on a display: keys, mouse buttons, Caps Lock and the other locks; and letting go of it.

A display outlives the program that was used on it: what one life left down would be down in the next. It knows the
X protocol's extensions for input, and nothing of who presses.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scrubjay.environments.desktop.connection import Connection, connected

__all__ = ["Held", "held_on", "let_go", "move_to_middle"]

_KEY_RELEASE, _BUTTON_RELEASE, _MOTION = 3, 5, 6  # events of the core protocol
_BUTTONS = {1: 0x100, 2: 0x200, 3: 0x400}  # and their bits in the mask of a pointer
_KEYBOARD = 0x100  # XKB's name of the keyboard that programs see
_ALL = 0xFF


@dataclass(frozen=True, slots=True)
class Held:
    """Keycodes and mouse buttons that are down, and the modifiers that are locked (a mask)."""

    keys: frozenset[int] = frozenset()
    buttons: frozenset[int] = frozenset()
    locks: int = 0


def held_on(display: str) -> Held:
    """What is down now. Raises DisplayGone."""
    with connected(display) as connection:
        return _held(connection)


def let_go(display: str, until: Held) -> None:
    """Lets go of what is down beyond `until`, and puts the locks as they were then. Raises DisplayGone."""
    with connected(display) as connection:
        now = _held(connection)
        keyboard, press = connection.extension("xkb"), connection.extension("xtest")
        with connection.answers():
            for kind, codes in ((_BUTTON_RELEASE, now.buttons - until.buttons), (_KEY_RELEASE, now.keys - until.keys)):
                for code in sorted(codes):
                    press.FakeInput(kind, code, 0, 0, 0, 0, 0, is_checked=True).check()
            keyboard.LatchLockState(_KEYBOARD, _ALL, until.locks, True, 0, _ALL, False, 0, is_checked=True).check()


def move_to_middle(display: str) -> None:
    """Puts the pointer where a new display has it. Raises DisplayGone."""
    with connected(display) as connection, connection.answers():
        screen = connection.setup.roots[0]
        x, y = int(screen.width_in_pixels) // 2, int(screen.height_in_pixels) // 2
        connection.extension("xtest").FakeInput(_MOTION, 0, 0, int(screen.root), x, y, 0, is_checked=True).check()


def _held(connection: Connection) -> Held:
    keyboard = connection.extension("xkb")
    with connection.answers():
        keyboard.UseExtension(1, 0).reply()
        down = bytes(connection.core.QueryKeymap().reply().keys)
        mask = int(connection.core.QueryPointer(connection.setup.roots[0].root).reply().mask)
        locks = int(keyboard.GetState(_KEYBOARD).reply().lockedMods)
    buttons = frozenset(button for button, bit in _BUTTONS.items() if mask & bit)
    return Held(frozenset(_bits(down)), buttons, locks)


def _bits(mask: bytes) -> Iterator[int]:
    return (8 * i + bit for i, byte in enumerate(mask) for bit in range(8) if byte >> bit & 1)
