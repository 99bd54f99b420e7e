"""KiCad's tasks by the scripted solver: reward and steps, each task with a memory of its own and all in one memory.

    python benchmarks/kicad.py cua-bench-kicad                25 tasks in three ways, about 25 minutes
    python benchmarks/kicad.py cua-bench-kicad --again ID …   steps of the first, second and third life of a task
    python benchmarks/kicad.py cua-bench-kicad --ready        seconds until the editor can be used, for each task

The folder is that of the tasks, by default those that ship. Results go to benchmarks/results/kicad*. What is set
beside the tasks alone is `experiments/kicad.toml`, as `scrubjay experiment run` carries it out: with and without a
memory that outlives a task.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
import tomllib
from pathlib import Path
from statistics import median

from scrubjay.agent.evaluating import evaluations
from scrubjay.environments.kicad.environment import KiCad
from scrubjay.environments.kicad.tasks import read_tasks
from scrubjay.experiments.plan import Experiment, experiment_of
from scrubjay.experiments.report import report
from scrubjay.experiments.results import read_results
from scrubjay.experiments.running import Done, Running
from scrubjay.memory.jsonio import Json
from scrubjay.public import Memory

RESULTS = Path(__file__).parent / "results"
EXPERIMENT = Path(__file__).parents[1] / "experiments" / "kicad.toml"
LIMIT = 15.0  # seconds, within which the editor is to be ready
TOLD = "Do in KiCad's schematic editor what the state names as the task."
STEPS = 100


def trials(name: str, given: dict[str, str], folder: str | None, lives: int) -> Experiment:
    """An experiment with the tasks `given` (name of a trial -> what is asked of the environment)."""
    where = {} if folder is None else {"tasks": folder}
    tasks = [
        {"name": trial, "text": TOLD, "steps": STEPS * lives, "lives": lives, "arguments": {"task": task, **where}}
        for trial, task in given.items()
    ]
    return experiment_of({"name": name, "environment": "kicad", "methods": ["mfm"], "seeds": [0], "tasks": tasks})


def carry_out(experiment: Experiment, folder: Path) -> dict[str, list[Json]]:
    """Its rows, a task and life each, by method."""
    Running(experiment, str(folder), tell=_tell).run()
    rows: dict[str, list[Json]] = {}
    for result in read_results(str(folder)):
        rows.setdefault(result["trial"]["method"], []).extend(result["scores"]["tasks"])
    return rows


def _tell(done: Done) -> None:
    said = done.error or ("" if done.result is None else f"reward {done.result['scores']['reward']}")
    print(f"  {done.trial.name}: {said}", flush=True)


def comparison(folder: str | None, work: Path) -> Json:
    """Every task alone; all in one memory; all without one that outlives a task. Writes the report of the last two."""
    ids = [task.id for task in read_tasks(folder)]
    alone = carry_out(trials("alone", {one: one for one in ids}, folder, 1), work / "alone")["mfm"]
    given = tomllib.loads(EXPERIMENT.read_text())
    where = {} if folder is None else {"tasks": folder}
    given["tasks"][0] |= {"arguments": {"task": "all", **where}, "lives": len(ids), "steps": STEPS * len(ids)}
    across = carry_out(experiment_of(given), work / "across")
    (RESULTS / "kicad_report.md").write_text(report(read_results(str(work / "across")), "kicad"))
    ordered = sorted(alone, key=lambda row: ids.index(row["task"]))
    return {"alone": ordered, "shared": across["mfm"], "forgetting": across["vista"]}


WAYS = {
    "alone": "a memory for each task (mfm)",
    "shared": "one memory for all tasks (mfm)",
    "forgetting": "no memory from task to task (vista)",
}


def table(found: Json) -> str:
    """The tables of the README: task by task, and the means."""
    heads = ("task", "doing nothing", "alone", "steps", "in one memory", "steps", "without", "steps")
    lines = ["| " + " | ".join(heads) + " |", "| --- " * len(heads) + "|"]
    by_way = {way: {row["task"]: row for row in found[way]} for way in WAYS}
    for row in found["alone"]:
        cells = [row["task"], f"{row['floor']:.2f}"]
        for rows in by_way.values():
            cells += [_score(rows[row["task"]]), str(rows[row["task"]]["steps"])]
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", "| | mean reward | doing nothing | steps of the solved | steps in all |", "| --- " * 5 + "|"]
    solved = {row["task"] for row in found["alone"] if all(_is_solved(rows[row["task"]]) for rows in by_way.values())}
    for way, told in WAYS.items():
        means = [f"{_mean(found[way], name):.3f}" for name in ("score", "floor")]
        steps = [sum(row["steps"] for row in found[way] if row["task"] in kept) for kept in (solved, by_way[way])]
        lines.append(f"| {told} | {' | '.join([*means, *map(str, steps)])} |")
    lines.append(f"\n{len(solved)} tasks are solved in every way.")
    return "\n".join(lines)


def _is_solved(row: Json) -> bool:
    return bool(row["score"] == 1.0)


def _score(row: Json) -> str:
    return "not judged" if row["score"] is None else f"{row['score']:.2f}"


def _mean(rows: list[Json], name: str) -> float:
    values = [row[name] for row in rows if row[name] is not None]
    return float(sum(values) / len(values))


def again(ids: list[str], folder: str | None, work: Path) -> Json:
    """Steps of three lives of each task in one memory."""
    found: Json = {}
    for ident in ids:
        carry_out(trials("again", {ident: ident}, folder, 3), work / ident)
        with Memory.open(next((work / ident).glob("*/memory")), read_only=True) as memory:
            rows = [noted[-1] for noted in evaluations(memory).values()]
        found[ident] = [{"steps": row["step"], "score": row["score"]} for row in rows]
    return found


def again_table(found: Json) -> str:
    """Steps per life."""
    lines = ["| task | first life | second | third |", "| --- | --- | --- | --- |"]
    for ident, lives in found.items():
        cells = [f"{one['steps']} steps, {_score(one)}" for one in lives]
        lines.append(f"| {ident} | {' | '.join(cells)} |")
    return "\n".join(lines)


def ready(folder: str | None) -> Json:
    """Seconds that it takes to end the editor of one task, and open that of the next so that it can be used."""
    environment, found = KiCad("all", folder), {}
    try:
        for life, task in enumerate(read_tasks(folder), 1):
            began = time.perf_counter()
            environment.reset(options={"life": life})
            found[task.id] = round(time.perf_counter() - began, 2)
            print(f"  {task.id}: {found[task.id]} s", flush=True)
    finally:
        environment.close()
    return found


def ready_table(found: Json) -> str:
    """Fastest, middle and slowest."""
    seconds = sorted(found.values())
    within = sum(one < LIMIT for one in seconds)
    return (
        f"| tasks | fastest | median | slowest | under {LIMIT:g} s |\n| --- | --- | --- | --- | --- |\n"
        f"| {len(seconds)} | {seconds[0]:.1f} s | {median(seconds):.1f} s | {seconds[-1]:.1f} s | {within} |"
    )


def main() -> None:
    """Runs, prints the table, writes the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("tasks", nargs="?", metavar="DIR", help="folder of tasks (default: those that ship)")
    parser.add_argument("--again", nargs="+", metavar="ID", help="three lives of these tasks instead")
    parser.add_argument("--ready", action="store_true", help="only how long it takes until the editor can be used")
    arguments = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="scrubjay-kicad-") as work:
        if arguments.again:
            found, name, show = again(arguments.again, arguments.tasks, Path(work)), "kicad_again", again_table
        elif arguments.ready:
            found, name, show = ready(arguments.tasks), "kicad_ready", ready_table
        else:
            found, name, show = comparison(arguments.tasks, Path(work)), "kicad", table
    print(show(found))
    (RESULTS / f"{name}.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
