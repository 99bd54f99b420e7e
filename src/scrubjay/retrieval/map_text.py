"""The grid as text: a map for a terminal, or for a model that reads.

It knows characters and widths. What a mark means it takes from the chart.
"""

from __future__ import annotations

from scrubjay.retrieval.maps import RANKS, Chart, Mark, coarser

__all__ = ["draw_text", "summary"]

_CHARACTERS = {"newest": "@", "start": "S", "hazard": "!", "opened": "O", "blocked": "#", "walked": "·"}
_MEANINGS = {"newest": "newest position", "placed": "placed"}
_MOST_LINES = 60
_TICK_LINES = 5


def _character(mark: Mark) -> str:
    return mark.letter or _CHARACTERS.get(mark.kind, "?")


def summary(chart: Chart) -> str:
    """One line: the world, how many cells of each kind, which layer and window."""
    counts = ", ".join(f"{count:,} {kind}" for kind, count in chart.counts.items() if count)
    parts = [f"{chart.world.world or 'the world'}: {counts} cells"]
    if chart.height is not None:
        parts.append(f"layer {chart.world.up} = {chart.height * chart.world.cell:g}")
    if chart.beyond:
        parts.append(f"{chart.beyond:,} known places beyond this window")
    return "; ".join(parts)


def draw_text(chart: Chart, width: int) -> str:
    """The map in lines of at most `width` characters, with coordinates and a legend.

    A cell is two characters wide where that has room, so that it looks square; else one; else several cells share a
    character, which the legend says.
    """
    gutter = 1 + max(len(f"{chart.coordinate(line):g}") for line in (chart.lines()[0], chart.lines()[-1]))
    room = max(8, width - gutter - 1)
    shown = coarser(chart, (room, _MOST_LINES))
    step = 2 if shown.places[0] * 2 <= room else 1
    blank = " " * (step - 1)
    lines = [summary(chart)]
    for number, line in enumerate(shown.lines()):
        label = f"{shown.coordinate(line):g}" if number % _TICK_LINES == 0 else ""
        row = "".join(
            (_character(shown.marks[column, line]) if (column, line) in shown.marks else " ") + blank
            for column in shown.columns()
        )
        lines.append(f"{label:>{gutter}} {row}".rstrip())
    lines.append(_ruler(shown, step, gutter))
    lines.extend(_legend(shown, width))
    return "\n".join(lines)


def _ruler(chart: Chart, step: int, gutter: int) -> str:
    """Coordinates below the map, each under the beginning of its place."""
    text, free = " " * (gutter + 1), 0
    for number, column in enumerate(chart.columns()):
        label = f"{chart.coordinate(column):g}"
        at = gutter + 1 + number * step
        if at >= free and at + len(label) <= gutter + 1 + max(chart.places[0] * step, len(label)):
            text = text.ljust(at) + label
            free = at + len(label) + 4
    return text


def _legend(chart: Chart, width: int) -> list[str]:
    kinds = {mark.kind for mark in chart.marks.values()}
    shown = {mark.letter for mark in chart.marks.values() if mark.letter}
    entries = [
        f"{_CHARACTERS[kind]} {_MEANINGS.get(kind, kind)}" for kind in reversed(RANKS) if kind in kinds - {"placed"}
    ]
    entries += [f"{letter} {name}" for letter, name in sorted(chart.letters.items()) if letter in shown]
    down = "up" if chart.is_upward else "down"
    entries.append(f"{chart.axes[0]} grows to the right, {chart.axes[1]} {down}")
    if chart.block > 1:
        entries.append(f"1 character = {chart.block} x {chart.block} cells")
    lines = [""]
    for entry in entries:
        joined = f"{lines[-1]}   {entry}" if lines[-1] else entry
        if len(joined) <= width or not lines[-1]:
            lines[-1] = joined
        else:
            lines.append(entry)
    return lines
