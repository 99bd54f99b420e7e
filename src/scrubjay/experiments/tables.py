"""Results as CSV: a row per run, and a row per run and milestone."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from scrubjay.experiments.results import MEASURES, steps_to
from scrubjay.memory.jsonio import Json

__all__ = ["milestones_csv", "runs_csv"]

_TRIAL = ("task", "model", "method", "seed")


def _trial(result: Json) -> list[object]:
    trial = result["trial"]
    return [trial["task"]["name"], trial["model"], trial["method"], trial["seed"]]


def runs_csv(results: Sequence[Json]) -> str:
    """Every measure of every run; empty where a run has none."""
    rows = [[*_trial(result), *(measure.of(result) for measure in MEASURES)] for result in results]
    return _text([*_TRIAL, *(measure.name for measure in MEASURES)], rows)


def milestones_csv(results: Sequence[Json]) -> str:
    """The step at which each run first reached each milestone; empty where it never did."""
    rows = [
        [*_trial(result), name, steps_to(result, name)] for result in results for name in result["known_milestones"]
    ]
    return _text([*_TRIAL, "milestone", "step"], rows)


def _text(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows([["" if cell is None else cell for cell in row] for row in rows])
    return buffer.getvalue()
