"""Figures of an experiment: milestones over steps, one picture per task and model. Needs matplotlib."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from scrubjay.experiments.results import group
from scrubjay.memory.jsonio import Json

__all__ = ["draw_figures"]


def draw_figures(results: Sequence[Json], folder: str) -> list[str]:
    """Draws into a folder and returns the names; none where matplotlib is not installed."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ModuleNotFoundError:
        return []
    names = []
    for (task, model), methods in group(results).items():
        figure, axes = pyplot.subplots(figsize=(7, 4), layout="constrained")
        _progression(axes, methods)
        is_scripted = next(iter(next(iter(methods.values())).values()))["model"]["is_scripted"]
        axes.set_title(f"{task}: {'scripted player' if is_scripted else model}")
        names.append(f"progression-{task}-{model}.png".replace("/", "-").replace(":", "-"))
        figure.savefig(os.path.join(folder, names[-1]), dpi=120)
        pyplot.close(figure)
    return names


def _progression(axes: Any, methods: Mapping[str, Mapping[int, Json]]) -> None:
    """Milestones reached by a step, mean over seeds."""
    for method, by_seed in methods.items():
        budget = max(result["trial"]["task"]["steps"] for result in by_seed.values())
        steps = sorted(one["step"] for result in by_seed.values() for one in result["reached"])
        counts = [(nth + 1) / len(by_seed) for nth in range(len(steps))]
        axes.step([0, *steps, budget], [0, *counts, counts[-1] if counts else 0], where="post", label=method)
    axes.set_xlabel("steps of the run")
    axes.set_ylabel("milestones, mean over seeds")
    axes.legend()
