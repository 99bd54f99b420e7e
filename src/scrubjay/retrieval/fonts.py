"""Which font can draw which character: the one that comes with Pillow first, then those that the system has.

It knows font files and glyphs. What is written with them it does not know.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import PIL.ImageFont

    Font = PIL.ImageFont.FreeTypeFont | PIL.ImageFont.ImageFont

__all__ = ["Fonts", "system_fonts"]

# Where systems keep fonts of many scripts; what is not there is passed over.
_KNOWN = (
    "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
    "/usr/share/fonts/TTF/DejaVuSans.ttf",
    "/usr/share/fonts/truetype/noto/NotoSans-Regular.ttf",
    "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc",
    "/usr/share/fonts/noto-cjk/NotoSansCJK-Regular.ttc",
    "/usr/share/fonts/google-noto-cjk/NotoSansCJK-Regular.ttc",
    "/usr/share/fonts/truetype/wqy/wqy-microhei.ttc",
    "/usr/share/fonts/truetype/wqy/wqy-zenhei.ttc",
    "/usr/share/fonts/truetype/droid/DroidSansFallbackFull.ttf",
    "/usr/share/ghostscript/10.00.0/Resource/CIDFSubst/DroidSansFallback.ttf",
    "/usr/share/fonts/opentype/unifont/unifont.otf",
    "/System/Library/Fonts/PingFang.ttc",
    "/System/Library/Fonts/Hiragino Sans GB.ttc",
    "/Library/Fonts/Arial Unicode.ttf",
    "/System/Library/Fonts/Supplemental/Arial Unicode.ttf",
    "C:/Windows/Fonts/msyh.ttc",
    "C:/Windows/Fonts/malgun.ttf",
    "C:/Windows/Fonts/segoeui.ttf",
)
_MISSING = "\uffff"  # no font has it: what is drawn for it is drawn for all that lacks


def system_fonts() -> tuple[str, ...]:
    """The font files that this system has, of those known to cover other scripts than Latin."""
    return tuple(path for path in _KNOWN if os.path.isfile(path))


class Fonts:
    """Pillow's own font and these files after it."""

    def __init__(self, files: tuple[str, ...]) -> None:
        self._files = files
        self._at = functools.lru_cache(maxsize=64)(self._opened)
        self._first = functools.lru_cache(maxsize=4096)(self._found)

    def own(self, size: int) -> Font:
        """The font that comes with Pillow, at this height in pixels."""
        return self._at(0, size)

    def has(self, character: str) -> bool:
        """True where one of the fonts has a glyph for it."""
        return self._first(character) is not None

    def runs(self, text: str, size: int) -> Iterator[tuple[str, Font]]:
        """The text in pieces, each with the font that draws it; what none has goes to Pillow's own."""
        begin = 0
        for at in range(1, len(text) + 1):
            nth = self._first(text[begin]) or 0
            if at == len(text) or (self._first(text[at]) or 0) != nth:
                yield text[begin:at], self._at(nth, size)
                begin = at

    def width(self, text: str, size: int) -> float:
        """How many pixels wide it is written."""
        return sum(font.getlength(piece) for piece, font in self.runs(text, size))

    def _found(self, character: str) -> int | None:
        if character.isascii():
            return 0
        return next((nth for nth in range(len(self._files) + 1) if _has(self._at(nth, 16), character)), None)

    def _opened(self, nth: int, size: int) -> Font:
        from PIL import ImageFont

        if nth == 0:
            return ImageFont.load_default(size)
        try:
            return ImageFont.truetype(self._files[nth - 1], size)
        except OSError:
            return ImageFont.load_default(size)  # a file that is no font adds no glyphs


def _has(font: Font, character: str) -> bool:
    drawn = font.getmask(character)
    return any(drawn.size) and bytes(drawn) != bytes(font.getmask(_MISSING))
