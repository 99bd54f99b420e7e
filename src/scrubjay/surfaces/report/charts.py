"""Small charts as SVG text: steps that rise, bars, a map from above.

They know numbers and places on paper; colours come from the page's style by class. Every text is escaped here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from scrubjay.surfaces.web.terrain import Ground, Land, Shown

__all__ = ["Bar", "Line", "bars", "land_map", "rising", "spans"]

_WIDTH, _HEIGHT = 900, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 128, 14, 34
_COLOURS = 6
_PLACES = 150


@dataclass(frozen=True, slots=True)
class Line:
    """A count that rises: at which steps, and where it ends. `ended` draws a cross at the end (a death)."""

    name: str
    at: Sequence[tuple[int, str]]
    last: int
    ended: bool


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: what it counts, and the shorter text that stands below it where that is long."""

    label: str
    count: int
    short: str = ""


def _ticks(most: float, about: int) -> list[float]:
    step = max(most / about, 1)
    size = 10 ** math.floor(math.log10(step))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= step)
    return [step * number for number in range(int(most / step) + 1)]


def _number(value: float) -> str:
    return f"{value:,.0f}".replace(",", "\u202f")


def _svg(inside: Iterable[str], label: str, height: int = _HEIGHT, width: int = _WIDTH) -> str:
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(label, quote=True)}">'
        f"{''.join(inside)}</svg>"
    )


def _axes(most_x: float, most_y: float, label: str) -> list[str]:
    wide, tall = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
    parts = []
    for value in _ticks(most_y, 4):
        y = _TOP + tall - value * tall / most_y
        parts.append(f'<line class="rule" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text class="tick end" x="{_LEFT - 8}" y="{y + 4:.1f}">{_number(value)}</text>')
    for value in _ticks(most_x, 7):
        x = _LEFT + value * wide / most_x
        parts.append(f'<text class="tick middle" x="{x:.1f}" y="{_HEIGHT - 16}">{_number(value)}</text>')
    parts.append(f'<text class="tick end" x="{_WIDTH - _RIGHT}" y="{_HEIGHT - 1}">{escape(label)}</text>')
    return parts


def rising(lines: Sequence[Line], label: str) -> str:
    """How counts rise over steps, one line each; the last ones are named at their ends."""
    most_x = max([line.last for line in lines] + [1])
    most_y = max([len(line.at) for line in lines] + [1])
    wide, tall = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
    parts = _axes(most_x, most_y, "steps")
    taken: list[float] = []
    for number, line in enumerate(lines):
        x, y = float(_LEFT), float(_TOP + tall)
        path = [f"M{x:.1f} {y:.1f}"]
        dots = []
        for count, (step, name) in enumerate(line.at, 1):
            x, y = _LEFT + step * wide / most_x, _TOP + tall - count * tall / most_y
            path.append(f"H{x:.1f}V{y:.1f}")
            said = escape(f"step {step}: {name}")
            dots.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3"><title>{said}</title></circle>')
        x = _LEFT + line.last * wide / most_x
        path.append(f"H{x:.1f}")
        kind = f"c{(len(lines) - 1 - number) % _COLOURS}" if number >= len(lines) - _COLOURS else "old"
        end = f'<path class="cross" d="M{x - 4:.1f} {y - 4:.1f}l8 8m0-8l-8 8"/>' if line.ended else ""
        text = ""
        if kind != "old":
            at = _free(y + 4, taken)
            text = f'<text class="name" x="{x + 9:.1f}" y="{at:.1f}">{escape(line.name)}</text>'
        marks = "" if kind == "old" else "".join(dots)
        parts.append(f'<g class="line {kind}"><path d="{"".join(path)}"/>{marks}{end}{text}</g>')
    return _svg(parts, label)


def _free(y: float, taken: list[float]) -> float:
    """The place nearest to `y` where a name covers no other."""
    offset = 0.0
    while any(abs(y - offset - other) < 13 for other in taken):
        offset = -offset if offset > 0 else -offset + 7
    taken.append(y - offset)
    return y - offset


def spans(values: Iterable[int]) -> list[Bar]:
    """Counts in spans that double: 0, 1, 2 to 3, 4 to 7, …"""
    found: dict[int, int] = {}
    for value in values:
        found[value.bit_length()] = found.get(value.bit_length(), 0) + 1
    if not found:
        return []
    return [Bar(_span(bits), found.get(bits, 0), _short(bits)) for bits in range(min(found), max(found) + 1)]


def _short(bits: int) -> str:
    """Where a span begins: `128`, `131k`."""
    low = (1 << bits) >> 1
    return str(low) if low < 10_000 else f"{low // 1000}k" if low < 10_000_000 else f"{low // 1_000_000}M"


def _span(bits: int) -> str:
    low, high = (1 << bits) >> 1, (1 << bits) - 1
    return _number(low) if low >= high else f"{_number(low)}–{_number(high)}"


def bars(given: Sequence[Bar], label: str, below: str) -> str:
    """One bar beside the other."""
    most = max([bar.count for bar in given] + [1])
    tall, wide = 190, (_WIDTH - 20) / max(len(given), 1)
    each = min(wide, 120.0)
    parts = []
    for number, bar in enumerate(given):
        x, height = 10 + number * each, bar.count * (tall - 34) / most
        middle, top = x + each / 2, tall - height
        parts.append(
            f'<g class="bar"><title>{escape(f"{bar.label}: {bar.count}")}</title>'
            f'<rect x="{x + 2:.1f}" y="{top:.1f}" width="{max(each - 4, 1):.1f}" height="{height:.1f}" rx="3"/>'
            f'<text class="tick middle" x="{middle:.1f}" y="{top - 6:.1f}">{_number(bar.count)}</text>'
            f'<text class="tick middle" x="{middle:.1f}" y="{tall + 17}">{escape(bar.short or bar.label)}</text></g>'
        )
    parts.append(f'<text class="tick" x="12" y="{tall + 38}">{escape(below)}</text>')
    return _svg(parts, label, tall + 44)


def land_map(land: Land, label: str) -> tuple[str, int]:
    """A world from above, and how many cells along an edge make one square of it."""
    layer = land.layers[None]
    low = (min(one for one, _ in layer), min(two for _, two in layer))
    high = (max(one for one, _ in layer), max(two for _, two in layer))
    block = max(1, math.ceil((max(high[0] - low[0], high[1] - low[1]) + 1) / _PLACES))
    places = _coarse(layer, block)
    first = (low[0] // block, low[1] // block)
    size = (high[0] // block - first[0] + 1, high[1] // block - first[1] + 1)
    upward = land.world.up == "z"
    paths: dict[str, list[str]] = {}
    for (one, two), shown in sorted(places.items()):
        down = size[1] - 1 - (two - first[1]) if upward else two - first[1]
        paths.setdefault(shown.kind, []).append(f"M{one - first[0]} {down}h1v1h-1z")
    drawn = [f'<path class="{escape(kind, quote=True)}" d="{"".join(paths[kind])}"/>' for kind in _order(paths)]
    return _svg(drawn, label, size[1], size[0]), block


def _order(paths: Mapping[str, object]) -> list[str]:
    return [kind for kind in ("walked", "blocked", "opened", "placed", "hazard") if kind in paths]


def _coarse(layer: Mapping[Ground, Shown], block: int) -> dict[Ground, Shown]:
    found: dict[Ground, Shown] = {}
    for (one, two), shown in layer.items():
        place = (one // block, two // block)
        if shown.over(found.get(place)):
            found[place] = shown
    return found
