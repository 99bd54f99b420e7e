"""Every character reaches the program that has the focus, however late it looks what its key means."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrubjay.environments.desktop.actions import parse_action
from scrubjay.environments.desktop.connection import Connection
from scrubjay.environments.desktop.environment import Desktop
from scrubjay.environments.desktop.input import Hands
from scrubjay.environments.desktop.keymap import Keymap

pytestmark = pytest.mark.xdist_group("screens")
PROGRAM = [sys.executable, str(Path(__file__).with_name("desk_program.py"))]
ALPHABETS = "".join(map(chr, range(0x410, 0x430))) + "αβγδεζηθΩ"  # more characters than there are spare keys


@pytest.fixture
def desk() -> Iterator[Desktop]:
    desktop = Desktop(PROGRAM, (640, 480))
    desktop.reset(seed=1)
    desktop.step({"click": {"x": 150, "y": 110}})
    yield desktop
    desktop.close()


def title(desk: Desktop, text: str) -> str:
    return str(desk.step({"type": {"text": text}})[4]["state"]["active"]["title"])


def test_a_program_that_looks_late_gets_every_character(desk: Desktop) -> None:
    assert desk.program is not None
    assert desk.screen is not None
    hands = Hands(desk.screen.display, (640, 480))
    os.kill(desk.program.pid, signal.SIGSTOP)
    try:
        assert hands.do(parse_action({"type": {"text": "4.7 kΩ µ+ä Ω"}})) is None
    finally:
        os.kill(desk.program.pid, signal.SIGCONT)
    assert desk.step({"wait": {"seconds": 0.5}})[4]["state"]["active"]["title"] == "*desk 4.7 kΩ µ+ä Ω"


def test_more_characters_than_spare_keys_are_typed_in_parts(desk: Desktop) -> None:
    assert title(desk, ALPHABETS) == f"*desk {ALPHABETS}"
    assert title(desk, "ΩА") == f"*desk {ALPHABETS}ΩА"


def test_a_character_that_has_a_key_is_not_given_another(desk: Desktop) -> None:
    assert desk.screen is not None
    keymap = Keymap(desk.screen.display)
    before = mapping(desk.screen.display)
    assert list(keymap.parts("plain ASCII, with ~{}| and\ttabs\n")) == ["plain ASCII, with ~{}| and\ttabs\n"]
    assert mapping(desk.screen.display) == before
    list(keymap.parts("ΩΩ µ"))
    after = mapping(desk.screen.display)
    assert sum(row != before[code] for code, row in after.items()) == 2
    list(keymap.parts("µ Ω"))
    assert mapping(desk.screen.display) == after
    keymap.release()
    assert mapping(desk.screen.display) == before


def test_a_display_of_another_gets_its_keyboard_back(display: str) -> None:
    before = mapping(display)
    guest = Desktop([*PROGRAM], display=display)
    guest.reset(seed=1)
    guest.step({"type": {"text": "Ω"}})
    assert mapping(display) != before
    guest.close()
    assert mapping(display) == before


@settings(max_examples=25)
@given(texts=st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=60), max_size=3))
def test_each_part_of_any_text_has_its_keys(display: str, texts: list[str]) -> None:
    keymap = Keymap(display)
    for text in texts:
        parts = []
        for part in keymap.parts(text):
            parts.append(part)
            made = {symbol for row in mapping(display).values() for symbol in row[:2]}
            assert all((ord(one) if ord(one) < 0x100 else 0x1000000 | ord(one)) in made for one in part)
        assert "".join(parts) == text
    keymap.release()


@pytest.fixture(scope="module")
def display() -> Iterator[str]:
    desktop = Desktop([], (640, 480))
    desktop.reset(seed=1)
    assert desktop.screen is not None
    yield desktop.screen.display
    desktop.close()


def mapping(display: str) -> dict[int, list[int]]:
    """Keysyms by keycode, as any program sees them."""
    connection = Connection(display)
    first, last = connection.setup.min_keycode, connection.setup.max_keycode
    found = connection.core.GetKeyboardMapping(first, last - first + 1).reply()
    connection.close()
    per, symbols = found.keysyms_per_keycode, list(found.keysyms)
    return {first + i: symbols[i * per : (i + 1) * per] for i in range(last - first + 1)}
