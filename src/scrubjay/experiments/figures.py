"""Figures of an experiment, after those of the MFM paper: overhead (5), retrieval lag (6), progression (7), turns (8).

Needs matplotlib. A figure is drawn where there is something to show: the scripted player looks at nothing, so it has
no lags.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from scrubjay.experiments.axes import Curve, Spread, curves, dots, spreads
from scrubjay.experiments.results import MEASURES, group
from scrubjay.memory.jsonio import Json

__all__ = ["draw_figures"]

Runs = Mapping[str, Mapping[int, Json]]
_FAR = 200  # steps: where looks go back further, the axis is logarithmic
_UNSAFE = re.compile(r"[^\w.-]+")
# What a method costs beside acting, where a run has it.
_OVERHEAD = ("CPU seconds per 1,000 steps", "requests per turn", "tokens in per turn", "images per turn")


def draw_figures(results: Sequence[Json], folder: str) -> list[str]:
    """Draws into a folder and returns the names; none where matplotlib is not installed."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ModuleNotFoundError:
        return []
    groups = group(results)
    drawn: list[tuple[str, Any]] = []
    for (task, model), methods in groups.items():
        title = f"{task}, {_who(methods, model)}"
        for name, draw in (("progression", _progression), ("turns", _turns), ("lags", _lags)):
            figure = draw(pyplot, methods, title)
            if figure is not None:
                drawn.append((f"{name}-{task}-{_name(model)}", figure))
    for model in dict.fromkeys(model for _, model in groups):
        figure = _overhead(pyplot, {task: methods for (task, one), methods in groups.items() if one == model}, model)
        if figure is not None:
            drawn.append((f"overhead-{_name(model)}", figure))
    names = []
    for name, figure in drawn:
        names.append(f"{_UNSAFE.sub('-', name)}.png")
        figure.savefig(os.path.join(folder, names[-1]), dpi=130)
        pyplot.close(figure)
    return names


def _name(model: str) -> str:
    """A model without the address of its server."""
    return model.partition("@")[0]


def _first(methods: Runs) -> Json:
    return next(iter(next(iter(methods.values())).values()))


def _goal(methods: Runs) -> str | None:
    goal: str | None = _first(methods)["trial"]["task"].get("goal")
    return goal


def _who(methods: Runs, model: str) -> str:
    return (
        "played by rules, no language model" if _first(methods)["model"]["is_scripted"] else f"played by {_name(model)}"
    )


def _titled(pyplot: Any, title: str, said: str, height: float, draw: Callable[[Any], None]) -> Any:
    figure, axes = pyplot.subplots(figsize=(7.6, height), layout="constrained")
    draw(axes)
    axes.set_title(f"{said}\n", loc="left", fontsize=11, fontweight="bold", color="#222222")
    axes.text(0, 1.02, title, transform=axes.transAxes, fontsize=9, color="#666666")
    return figure


def _progression(pyplot: Any, methods: Runs, title: str) -> Any | None:
    """Milestones by steps (Figure 7); with a goal, the share of runs that reached it."""
    if not _first(methods)["known_milestones"]:
        return None
    goal = _goal(methods)
    most = max(map(len, methods.values()))
    given = {method: _reached(by_seed, goal) for method, by_seed in methods.items() if 2 * len(by_seed) >= most}
    if len(given) < len(methods):
        title += f" · left out: {len(methods) - len(given)} methods with few runs"
    said = f"Share of runs that reached {goal}" if goal else "Milestones reached by a step, mean over seeds"

    def draw(axes: Any) -> None:
        curves(axes, given, is_share=bool(goal))
        axes.set_xlabel("environment steps of the run", fontsize=9)
        axes.set_xlim(0, max(x[-1] for x, _ in given.values()))

    return _titled(pyplot, title, said, 4.2, draw)


def _reached(by_seed: Mapping[int, Json], goal: str | None) -> Curve:
    budget = max(result["trial"]["task"]["steps"] for result in by_seed.values())
    steps = sorted(
        one["step"] for result in by_seed.values() for one in result["reached"] if goal in (None, one["milestone"])
    )
    counts = [(nth + 1) / len(by_seed) for nth in range(len(steps))]
    return [0, *steps, budget], [0, *counts, counts[-1] if counts else 0]


def _turns(pyplot: Any, methods: Runs, title: str) -> Any | None:
    """How many steps a turn takes (Figure 8)."""
    given = {}
    for method, by_seed in methods.items():
        lengths = [
            length
            for result in by_seed.values()
            for length, count in result["use"].get("turn_lengths", [])
            for _ in range(count)
        ]
        if lengths:
            given[method] = _spread(lengths)
    if not given:
        return None

    def draw(axes: Any) -> None:
        spreads(axes, given)
        axes.set_xlabel("environment steps in a turn: median, half and four fifths of all turns", fontsize=9)

    return _titled(pyplot, title, "Steps per turn", 1.5 + 0.32 * len(given), draw)


def _spread(values: Sequence[float]) -> Spread:
    import numpy as np

    least, low, middle, high, most = np.quantile(np.asarray(values, float), (0.1, 0.25, 0.5, 0.75, 0.9)).tolist()
    return least, low, middle, high, most


def _lags(pyplot: Any, methods: Runs, title: str) -> Any | None:
    """How far back a look goes (Figure 6)."""
    given = {}
    for method, by_seed in methods.items():
        lags = sorted(lag for result in by_seed.values() for lag in (result.get("inspection") or {}).get("lags", ()))
        if lags:
            given[f"{method} ({len(lags)})"] = (
                [0, *lags],
                [0, *((nth + 1) / len(lags) for nth in range(len(lags)))],
            )
    if not given:
        return None
    end = max(max(x[-1] for x, _ in given.values()) * 1.05, 10)

    def draw(axes: Any) -> None:
        curves(axes, {name: ([*x, end], [*y, 1.0]) for name, (x, y) in given.items()}, is_share=True)
        if end > _FAR:
            axes.set_xscale("symlog", linthresh=10)
            axes.xaxis.set_major_formatter("{x:g}")
        axes.set_xlim(0, end)
        axes.set_xlabel("steps between an episode's end and the turn that looked at it; in brackets: looks", fontsize=9)

    return _titled(pyplot, title, "Share of looks that went back at most so far", 3.6, draw)


def _overhead(pyplot: Any, tasks: Mapping[str, Runs], model: str) -> Any | None:
    """What each method costs beside acting, per task (Figure 5)."""
    tasks = dict(sorted(tasks.items(), key=lambda both: (_goal(both[1]) is not None, both[0])))
    of = {measure.name: measure.of for measure in MEASURES}
    panels: dict[str, dict[str, dict[str, float]]] = {}
    for name in _OVERHEAD:
        for task, methods in tasks.items():
            for method, by_seed in methods.items():
                found = [value for result in by_seed.values() if (value := of[name](result)) is not None]
                if found:
                    panels.setdefault(name, {}).setdefault(task, {})[method] = sum(found) / len(found)
    if not panels:
        return None
    height = 1.7 + 0.45 * len(tasks)
    figure, all_axes = pyplot.subplots(
        1,
        len(panels),
        figsize=(max(7.6, 2.2 + 2.9 * len(panels)), height),
        layout="constrained",
        squeeze=False,
        sharey=True,
    )
    for axes, (name, values) in zip(all_axes[0], panels.items(), strict=True):
        dots(axes, values)
        axes.set_xlabel(name, fontsize=9)
    who = _who(next(iter(tasks.values())), model)
    figure.suptitle(f"What a method costs, mean over seeds · {who}", x=0.01, ha="left", fontsize=11, fontweight="bold")
    handles, labels = all_axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower left", ncols=min(5, len(labels)), fontsize=8, frameon=False)
    return figure
