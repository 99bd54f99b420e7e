"""Text in pictures: fonts that need no file, text that any font can take, lines that fit their room.

It knows strings and widths in pixels. It does not know what a label means.
"""

from __future__ import annotations

import functools
import textwrap
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import PIL.ImageFont

    Font = PIL.ImageFont.FreeTypeFont | PIL.ImageFont.ImageFont

# Characters that the font lacks and a plain one says as well.
_PLAIN = str.maketrans({"–": "-", "—": "-", "‘": "'", "’": "'", "“": '"', "”": '"', "→": ">", "×": "x", "·": "."})

__all__ = ["font", "line_height", "printable", "shortened", "wrapped"]


@functools.lru_cache(maxsize=32)
def font(size: int) -> Font:
    """The font that comes with Pillow, at this height in pixels."""
    from PIL import ImageFont

    return ImageFont.load_default(size)


def line_height(size: int) -> int:
    """Pixels from one line to the next."""
    return size + max(3, size // 4)


def printable(text: str) -> str:
    """One line that can be drawn: no control characters, no half of a surrogate pair, letters that the font has.

    A letter it lacks loses its accents where that helps; a character of another script becomes a box, as wide as it
    would be, so that a label stays a label. The text itself is in the records, not in the picture.
    """
    return " ".join("".join(_drawable(c) for c in unicodedata.normalize("NFC", text).translate(_PLAIN)).split())


@functools.lru_cache(maxsize=4096)
def _drawable(character: str) -> str:
    if character.isspace():
        return " "
    if unicodedata.category(character) in ("Cc", "Cs", "Cf"):
        return "?"
    if _has(character):
        return character
    plain = "".join(c for c in unicodedata.normalize("NFKD", character) if not unicodedata.combining(c))
    return plain if plain and all(_has(c) for c in plain) else "\ufffd"


def _has(character: str) -> bool:
    letters = font(16)
    return character.isascii() or bytes(letters.getmask(character)) != bytes(letters.getmask("\uffff"))


def shortened(text: str, size: int, width: int) -> str:
    """As much of the text as has room, with `…` where something is cut."""
    text = printable(text)
    if font(size).getlength(text) <= width:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if font(size).getlength(text[:middle] + "…") <= width:
            low = middle
        else:
            high = middle - 1
    return text[:low].rstrip() + "…" if low else ""


def wrapped(text: str, size: int, width: int, most: int) -> list[str]:
    """The text in at most `most` lines of this width; the last is shortened where more would follow."""
    text = printable(text)
    per_line = max(4, int(width / max(font(size).getlength("n"), 1)))
    lines = textwrap.wrap(text, per_line, break_long_words=True) or [""]
    if len(lines) > most:
        lines = [*lines[: most - 1], " ".join(lines[most - 1 :])]
    return [shortened(line, size, width) for line in lines]
