"""Labels in any script: in a font that has it, else as escapes, and never as boxes."""

from __future__ import annotations

from pathlib import Path

import pytest
from fontTools.fontBuilder import FontBuilder  # type: ignore[import-untyped]
from fontTools.pens.ttGlyphPen import TTGlyphPen  # type: ignore[import-untyped]
from PIL import Image, ImageDraw

from scrubjay.retrieval import lettering
from scrubjay.retrieval.fonts import Fonts, system_fonts

CHARACTER = "设"


@pytest.fixture
def chinese(tmp_path: Path) -> str:
    """A font of one character: a bar that stands on the line, half as wide as it is high."""

    def bar(left: int, right: int) -> object:
        pen = TTGlyphPen(None)
        pen.moveTo((left, 0))
        for point in ((left, 800), (right, 800), (right, 0)):
            pen.lineTo(point)
        pen.closePath()
        return pen.glyph()

    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder([".notdef", "bar"])
    builder.setupCharacterMap({ord(CHARACTER): "bar"})
    builder.setupGlyf({".notdef": bar(0, 900), "bar": bar(100, 500)})
    builder.setupHorizontalMetrics({".notdef": (1000, 0), "bar": (1000, 100)})
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": "Bar", "styleName": "Regular"})
    builder.setupOS2(sTypoAscender=800, sTypoDescender=-200)
    builder.setupPost()
    path = str(tmp_path / "bar.ttf")
    builder.save(path)
    return path


def test_without_a_font_that_has_it_a_character_is_its_escape() -> None:
    own = Fonts(())
    assert lettering.printable(f"key {CHARACTER} 🔑", own) == "key \\u8bbe \\U0001f511"
    assert lettering.printable("naïve — café", own) == "naive - cafe"


def test_with_a_font_that_has_it_a_character_is_itself(chinese: str) -> None:
    fonts = Fonts((chinese,))
    assert lettering.printable(f"key {CHARACTER}备", fonts) == f"key {CHARACTER}\\u5907"
    assert [piece for piece, _ in fonts.runs(f"key {CHARACTER} a", 20)] == ["key ", CHARACTER, " a"]
    assert fonts.width(CHARACTER, 20) == 20


def test_a_file_that_is_no_font_adds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "broken.ttf"
    path.write_bytes(b"no font")
    assert lettering.printable(CHARACTER, Fonts((str(path),))) == "\\u8bbe"


@pytest.mark.parametrize("text", ["Einträge", "设备清单", "Ящик", "🔑 key", "مفتاح", "a b"])
def test_whatever_this_system_has_no_box_is_drawn(text: str) -> None:
    fonts = Fonts(system_fonts())
    shown = lettering.printable(text, fonts)
    for piece, font in fonts.runs(shown, 16):
        box = bytes(font.getmask("\uffff"))
        assert all(bytes(font.getmask(c)) != box for c in piece if not c.isspace())


def test_a_line_is_written_within_its_width() -> None:
    text = lettering.printable("ep_000043 设备 Ящик")
    image = Image.new("L", (600, 40))
    lettering.write(ImageDraw.Draw(image), (5, 5), text, 20, "white")
    left, top, right, bottom = image.getbbox() or (0, 0, 0, 0)
    assert left >= 4
    assert top >= 4
    assert right <= 5 + lettering.width_of(text, 20) + 2
    assert bottom > 15
