"""A key for every character: what no key of a display makes gets a spare key, and keeps it.

xdotool lends such a character a key for the moment of its press alone; a busy program looks what the key means when
that moment is over, and loses the character. It knows the X protocol's keyboard mapping, and nothing of who types.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from scrubjay.environments.desktop.connection import Connection, connected

__all__ = ["Keymap"]

_PLAIN_AND_SHIFTED = 2
_NOTHING = 0
_UNICODE = 0x1000000  # keysyms from here on are code points; below 256 they are Latin-1


class Keymap:
    """The keyboard mapping of a display. Spare keys that were given a character keep it until `release`."""

    def __init__(self, display: str) -> None:
        self._display = display
        self._given: list[int] = []  # keycodes, the one that was given a character longest ago first

    def parts(self, text: str) -> Iterator[str]:
        """The text in parts, each once all of its characters have a key: one part, unless the spare keys run out.

        Before it asks for a further part, the caller waits until the last one has been read: its keys mean something
        else then. Raises DisplayGone.
        """
        with connected(self._display) as connection:
            while text:
                count, given = _plan(text, *self._read(connection))
                self._give(connection, given.items())
                self._given = [one for one in self._given if one not in given.values()] + list(given.values())
                yield text[:count]
                text = text[count:]

    def release(self) -> None:
        """Makes the keys spare again that were given a character. Raises DisplayGone."""
        if self._given:
            with connected(self._display) as connection:
                self._give(connection, ((_NOTHING, keycode) for keycode in self._given))
            self._given = []

    def _give(self, connection: Connection, given: Iterable[tuple[int, int]]) -> None:
        with connection.answers():
            for symbol, keycode in given:
                row = [symbol] * _PLAIN_AND_SHIFTED
                connection.core.ChangeKeyboardMapping(1, keycode, len(row), row, is_checked=True).check()

    def _read(self, connection: Connection) -> tuple[set[int], list[int], dict[int, int]]:
        """The keysyms that a key makes alone or with Shift, spare keycodes, and which keysym got which keycode here."""
        first, last = int(connection.setup.min_keycode), int(connection.setup.max_keycode)
        with connection.answers():
            found = connection.core.GetKeyboardMapping(first, last - first + 1).reply()
        per, symbols = int(found.keysyms_per_keycode), [int(one) for one in found.keysyms]
        rows = {first + i: symbols[i * per : (i + 1) * per] for i in range(last - first + 1)}
        spare = [keycode for keycode, row in rows.items() if not any(row)]
        given = {rows[keycode][0]: keycode for keycode in self._given if keycode not in spare}
        typed = (row[:_PLAIN_AND_SHIFTED] for keycode, row in rows.items() if keycode not in given.values())
        return {symbol for row in typed for symbol in row}, spare, given


def _plan(text: str, typed: set[int], spare: list[int], given: dict[int, int]) -> tuple[int, dict[int, int]]:
    """How many characters from the start can be typed, and the keycodes that must be given a keysym before.

    A key that was given one longest ago is given another first, and none that this part of the text needs. Where there
    is no spare key at all, a character goes alone, and xdotool must lend it one.
    """
    free, oldest = list(spare), [symbol for symbol in given if symbol not in typed]
    ready, new = set(typed), dict[int, int]()
    for i, character in enumerate(text):
        symbol = _symbol(character)
        if character < " " or symbol in ready:
            continue
        if symbol in oldest:
            oldest.remove(symbol)
        elif free:
            new[symbol] = free.pop(0)
        elif oldest:
            new[symbol] = given[oldest.pop(0)]
        else:
            return max(i, 1), new
        ready.add(symbol)
    return len(text), new


def _symbol(character: str) -> int:
    code = ord(character)
    return code if code < 0x100 else _UNICODE | code
