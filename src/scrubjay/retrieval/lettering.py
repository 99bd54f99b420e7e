"""Text in pictures: text that the fonts at hand can draw, and lines that fit their room.

It knows strings and widths in pixels. It does not know what a label means.
"""

from __future__ import annotations

import functools
import textwrap
import unicodedata
from typing import TYPE_CHECKING

from scrubjay.retrieval.fonts import Fonts, system_fonts

if TYPE_CHECKING:
    import PIL.ImageDraw

    from scrubjay.retrieval.fonts import Font

# Characters that the font lacks and a plain one says as well.
_PLAIN = str.maketrans({"–": "-", "—": "-", "‘": "'", "’": "'", "“": '"', "”": '"', "→": ">", "×": "x", "·": "."})

__all__ = ["font", "line_height", "printable", "shortened", "width_of", "wrapped", "write"]


@functools.cache
def _fonts() -> Fonts:
    return Fonts(system_fonts())


def font(size: int) -> Font:
    """The font that comes with Pillow, at this height in pixels: for figures and ASCII."""
    return _fonts().own(size)


def width_of(text: str, size: int) -> float:
    """How many pixels wide `write` makes this text."""
    return _fonts().width(text, size)


def write(pen: PIL.ImageDraw.ImageDraw, at: tuple[float, float], text: str, size: int, colour: str) -> None:
    """Writes one line of printable text to the right of `at`, its upper left corner, each script in a font that has it.

    Fonts differ in height: all stand on the line of Pillow's own.
    """
    x, y = at
    below = y + _ascent(_fonts().own(size))
    for piece, letters in _fonts().runs(text, size):
        pen.text((x, below), piece, fill=colour, font=letters, anchor="ls")
        x += letters.getlength(piece)


def _ascent(letters: Font) -> int:
    metrics = getattr(letters, "getmetrics", None)  # a font of pixels has none
    return 10 if metrics is None else int(metrics()[0])


def line_height(size: int) -> int:
    """Pixels from one line to the next."""
    return size + max(3, size // 4)


def printable(text: str, fonts: Fonts | None = None) -> str:
    r"""One line that can be drawn: no control characters, no half of a surrogate pair, letters that the fonts have.

    A letter that none has loses its accents where that helps, and else is written as its escape: `\u8bbe`. The text
    itself is in the records, not in the picture. `fonts`: those that are to draw it, the system's by default.
    """
    known = fonts or _fonts()
    plain = unicodedata.normalize("NFC", text).translate(_PLAIN)
    return " ".join("".join(_drawable(c, known) for c in plain).split())


def _drawable(character: str, fonts: Fonts) -> str:
    if character.isspace():
        return " "
    if unicodedata.category(character) in ("Cc", "Cs", "Cf"):
        return "?"
    if fonts.has(character):
        return character
    plain = "".join(c for c in unicodedata.normalize("NFKD", character) if not unicodedata.combining(c))
    if plain and all(map(fonts.has, plain)):
        return plain
    return f"\\u{ord(character):04x}" if ord(character) < 0x10000 else f"\\U{ord(character):08x}"


def shortened(text: str, size: int, width: int) -> str:
    """As much of the text as has room, with `…` where something is cut."""
    text = printable(text)
    if width_of(text, size) <= width:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if width_of(text[:middle] + "…", size) <= width:
            low = middle
        else:
            high = middle - 1
    return text[:low].rstrip() + "…" if low else ""


def wrapped(text: str, size: int, width: int, most: int) -> list[str]:
    """The text in at most `most` lines of this width; the last is shortened where more would follow."""
    text = printable(text)
    mean = width_of(text, size) / len(text) if text else 1.0
    per_line = max(4, int(width / max(mean, 1.0)))
    lines = textwrap.wrap(text, per_line, break_long_words=True) or [""]
    if len(lines) > most:
        lines = [*lines[: most - 1], " ".join(lines[most - 1 :])]
    return [shortened(line, size, width) for line in lines]
