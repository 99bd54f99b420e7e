"""Results of an experiment, read from its folder, and the measures that reports compare.

It reads `run.json` of every finished trial and nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from scrubjay.errors import NotFound
from scrubjay.experiments.trial_run import result_of
from scrubjay.memory.jsonio import Json
from scrubjay.methods.named import METHODS

__all__ = ["MEASURES", "Measure", "group", "read_results"]


@dataclass(frozen=True, slots=True)
class Measure:
    """A number that every run has, or None where it has none. `is_tested`: methods are compared by it."""

    name: str
    what: str
    of: Callable[[Json], float | None]
    is_tested: bool = False


def read_results(folder: str) -> list[Json]:
    """The results in an experiment's folder, by name of their folders. Raises NotFound where there is none."""
    try:
        names = sorted(os.listdir(folder))
    except FileNotFoundError:
        raise NotFound(f"there is no folder {folder}") from None
    found = (result_of(os.path.join(folder, name)) for name in names if ".cut-" not in name)
    results = [result for result in found if result is not None]
    if not results:
        raise NotFound(f"{folder} holds no finished trial (a folder with run.json in it)")
    return results


def group(results: Iterable[Json]) -> dict[tuple[str, str], dict[str, dict[int, Json]]]:
    """Results by (task, model), then by method, then by seed; methods in the order in which they are listed."""
    groups: dict[tuple[str, str], dict[str, dict[int, Json]]] = {}
    for result in sorted(results, key=_place):
        trial = result["trial"]
        methods = groups.setdefault((trial["task"]["name"], trial["model"]), {})
        methods.setdefault(trial["method"], {})[trial["seed"]] = result
    return groups


def _place(result: Json) -> tuple[int, str]:
    method = result["trial"]["method"]
    return (list(METHODS).index(method) if method in METHODS else len(METHODS), method)


def steps_to(result: Json, milestone: str) -> int | None:
    """The step of the run at which a milestone was first reached; None where it never was."""
    return next((one["step"] for one in result["reached"] if one["milestone"] == milestone), None)


def _mean_steps(result: Json) -> float | None:
    budget, names = result["trial"]["task"]["steps"], result["known_milestones"]
    if not names or result["trial"]["task"].get("goal"):
        return None
    reached = [steps_to(result, name) for name in names]
    return sum(budget if step is None else step for step in reached) / len(names)


def _to_goal(result: Json) -> float | None:
    task = result["trial"]["task"]
    if not task.get("goal"):
        return None
    step = steps_to(result, task["goal"])
    return float(task["steps"] if step is None else step)


def _at_goal(result: Json) -> float | None:
    goal = result["trial"]["task"].get("goal")
    return None if not goal else 100.0 * (steps_to(result, goal) is not None)


def _share(result: Json, part: str, whole: str) -> float | None:
    scores = result["scores"]
    return 100 * scores[part] / scores[whole] if scores.get(whole) else None


def _milestones(result: Json) -> int | None:
    return len(result["reached"]) if result["known_milestones"] else None


def _deaths(result: Json) -> int | None:
    """None in a world without milestones where nobody died: a desktop has no death."""
    return len(result["deaths"]) if result["deaths"] or result["known_milestones"] else None


def _per_turn(result: Json, name: str) -> float | None:
    use = result["use"]
    return use[name] / use["turns"] if use["turns"] and use["requests"] else None


def _skill(result: Json, name: str) -> float | None:
    skills = result.get("skills") or {}
    return skills.get(name) if skills.get("written") or skills.get("called") else None


MEASURES = (
    Measure("milestones", "milestones reached in the run", _milestones, True),
    Measure(
        "steps to a milestone", "mean over all milestones; one never reached counts as the budget", _mean_steps, True
    ),
    Measure("reached the goal, %", "runs that reached the milestone that the task names", _at_goal),
    Measure("steps to the goal", "until that milestone; never counts as the budget", _to_goal, True),
    Measure("reward", "mean score of the tasks, by their evaluator", lambda r: r["scores"].get("reward"), True),
    Measure("reward of doing nothing", "the same tasks, as they are given", lambda r: r["scores"].get("floor")),
    Measure("deaths", "lives that ended in death", _deaths, True),
    Measure(
        "tables again",
        "tables placed in a life that had one already",
        lambda r: r["scores"].get("tables_again"),
        True,
    ),
    Measure(
        "lost, % of steps",
        "steps in which something needed was seen before, is not in view, and is not come nearer to within 10 steps",
        lambda r: _share(r, "lost", "steps"),
    ),
    Measure(
        "lost, % of out of view",
        "the same, of the steps in which something needed was seen before and is not in view",
        lambda r: _share(r, "lost", "out_of_view"),
        True,
    ),
    Measure("turns", "turns of the run", lambda r: r["turns"]),
    Measure("steps per turn", "environment steps in a turn", lambda r: r["use"]["steps_per_turn"]),
    Measure("requests per turn", "requests to a language model", lambda r: _per_turn(r, "requests")),
    Measure("tokens in per turn", "input tokens", lambda r: _per_turn(r, "input_tokens")),
    Measure("tokens out per turn", "output tokens", lambda r: _per_turn(r, "output_tokens")),
    Measure("images per turn", "pictures sent", lambda r: _per_turn(r, "images")),
    Measure("model seconds per turn", "waiting for the model", lambda r: _per_turn(r, "seconds")),
    Measure("inspections", "references looked at in the run", lambda r: r["use"]["inspected"] or None),
    Measure(
        "consolidations",
        "of the run; what they used counts with the turns",
        lambda r: r["use"].get("consolidations") or None,
    ),
    Measure("procedures written", "at the end of the run", lambda r: _skill(r, "written")),
    Measure("procedure calls", "in the run", lambda r: _skill(r, "called")),
    Measure("procedure calls that succeeded", "of them", lambda r: _skill(r, "succeeded")),
    Measure("procedures reused", "called more than once", lambda r: _skill(r, "reused")),
    Measure("procedures reused later", "called again in a later life", lambda r: _skill(r, "reused_in_later_lives")),
    Measure("cost, $", "where prices are known", lambda r: r["use"]["cost"]),
    Measure("memory, MB", "bytes stored in all", lambda r: r["storage"]["bytes"] / 1e6),
    Measure(
        "CPU seconds per 1,000 steps",
        "environment and recording included",
        lambda r: 1000 * r["cpu_seconds"] / r["steps"] if r["steps"] else None,
    ),
    Measure("CPU seconds", "of the whole run, environment and recording included", lambda r: r["cpu_seconds"]),
)
