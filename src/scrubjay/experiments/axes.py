"""What is drawn into one pair of axes, from plain numbers per method. Needs matplotlib; it knows no results.

Every method keeps its colour in every figure, curves are named at their ends, and methods whose curves are the same
are named together: nobody has to match a legend or wonder what lies below what.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["Curve", "Spread", "curves", "dots", "spreads"]

Curve = tuple[Sequence[float], Sequence[float]]  # x and y of a step function
Spread = tuple[float, float, float, float, float]  # 10th, 25th, 50th, 75th and 90th of a hundred

_COLOURS = {
    "direct": "#7f7f7f", "prolong": "#e69f00", "vista": "#56b4e9", "mfm": "#0b4f9e", "mfm-no-frames": "#cc79a7",
    "mfm-flat": "#009e73", "mfm-no-procedures": "#d55e00", "mfm-no-consolidation": "#a89200", "reflexion": "#8b5e3c",
    "voyager": "#7a6fb8", "jarvis1": "#3b8f8c", "mrsteve": "#c0504d", "optimus1": "#4d4d4d", "peam": "#6a994e",
}  # fmt: skip
_OTHERS = ("#1b9e77", "#7570b3", "#e7298a", "#66a61e")
_INK, _PALE = "#333333", "#d9d9d9"
_LINE_HEIGHT = 0.055  # of the axes' height, between two names at the end of curves


def colour(method: str, place: int) -> str:
    """The colour of a method; `place` chooses one for a method that is not ours."""
    return _COLOURS.get(method) or _OTHERS[place % len(_OTHERS)]


def _plain(axes: Any) -> None:
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(_PALE)
    axes.tick_params(colors=_INK, length=0, labelsize=9)
    axes.set_axisbelow(True)


def curves(axes: Any, given: Mapping[str, Curve], is_share: bool = False) -> None:
    """Step functions, each named where it ends; shares from 0 to 1 are told in percent."""
    _plain(axes)
    axes.grid(axis="y", color=_PALE, linewidth=0.6)
    together: dict[tuple[tuple[float, ...], tuple[float, ...]], list[str]] = {}
    for method, (x, y) in given.items():
        together.setdefault((tuple(x), tuple(y)), []).append(method)
    highest = max((y[-1] for _, y in together), default=1.0)
    axes.set_ylim(0, 1.06 if is_share else max(highest, 1e-9) * 1.06)
    if is_share:
        axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0", "25 %", "50 %", "75 %", "100 %"])
    names = []
    for place, ((x, y), methods) in enumerate(together.items()):
        shown = colour(methods[0].partition(" ")[0], place)
        axes.step(x, y, where="post", color=shown, linewidth=2.4 if "mfm" in methods else 1.6, clip_on=False)
        names.append((y[-1] / axes.get_ylim()[1], _together(methods), shown))
    for height, name, shown in _apart(names):
        axes.annotate(
            name, (1.01, height), xycoords="axes fraction", color=shown, fontsize=9, va="center", annotation_clip=False
        )


def _together(methods: Sequence[str]) -> str:
    """The names of curves that are the same, two a line."""
    pairs = [" = ".join(methods[first : first + 2]) for first in range(0, len(methods), 2)]
    return " =\n".join(pairs)


def _apart(names: list[tuple[float, str, str]]) -> list[tuple[float, str, str]]:
    """The same names, moved up where two would overlap, then down again as far as the axes' top asks for it."""
    halves = {name: _LINE_HEIGHT * (name.count("\n") + 1) / 2 for _, name, _ in names}
    up, end = [], 0.0
    for height, name, shown in sorted(names):
        up.append((max(height, end + halves[name]), name, shown))
        end = up[-1][0] + halves[name]
    down, end = [], 1.03
    for height, name, shown in reversed(up):
        down.append((min(height, end - halves[name]), name, shown))
        end = down[-1][0] - halves[name]
    return down[::-1]


def spreads(axes: Any, given: Mapping[str, Spread]) -> None:
    """A row per method: the median as a dot, half of all in the thick line, four fifths in the thin one."""
    _plain(axes)
    axes.grid(axis="x", color=_PALE, linewidth=0.6)
    for place, (method, (least, low, middle, high, most)) in enumerate(given.items()):
        shown = colour(method, place)
        axes.plot([least, most], [place, place], color=shown, linewidth=1.4)
        axes.plot([low, high], [place, place], color=shown, linewidth=6, alpha=0.45, solid_capstyle="butt")
        axes.plot([middle], [place], "o", color=shown, markersize=7)
    _rows(axes, list(given))
    axes.set_xlim(left=0)
    axes.xaxis.get_major_locator().set_params(integer=True)


def dots(axes: Any, given: Mapping[str, Mapping[str, float]]) -> None:
    """A row per task, in it a dot per method: `given` is task by task, method by method."""
    _plain(axes)
    axes.grid(axis="x", color=_PALE, linewidth=0.6)
    for place in range(0, len(given), 2):
        axes.axhspan(place - 0.5, place + 0.5, color="#f4f4f4", zorder=0)
    methods = list(dict.fromkeys(method for values in given.values() for method in values))
    for number, method in enumerate(methods):
        shift = (number - (len(methods) - 1) / 2) * 0.7 / max(1, len(methods))
        rows = [(values[method], place + shift) for place, values in enumerate(given.values()) if method in values]
        axes.plot(*zip(*rows, strict=True), "o", color=colour(method, number), markersize=5, label=method)
    _rows(axes, list(given))
    most = max((value for values in given.values() for value in values.values()), default=1.0)
    axes.set_xlim(0, 1.05 * most or 1.0)


def _rows(axes: Any, names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
