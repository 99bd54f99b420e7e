"""KiCad's tasks by the scripted solver: reward and steps, each task with a memory of its own and all in one memory.

    python benchmarks/kicad.py cua-bench-kicad                25 tasks, about twice ten minutes
    python benchmarks/kicad.py cua-bench-kicad --alone ID …   these tasks once more, each alone, into the same table
    python benchmarks/kicad.py cua-bench-kicad --again ID …   steps of the first, second and third life of a task

The folder is that of the tasks, by default those that ship. Results go to benchmarks/results/kicad*.json. Both ways
are experiments as `scrubjay experiment run` carries them out, trial by trial.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from scrubjay.agent.evaluating import evaluations
from scrubjay.environments.kicad.tasks import read_tasks
from scrubjay.experiments.plan import Experiment, experiment_of
from scrubjay.experiments.results import read_results
from scrubjay.experiments.running import Done, Running
from scrubjay.memory.jsonio import Json
from scrubjay.public import Memory

RESULTS = Path(__file__).parent / "results"
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


def carry_out(experiment: Experiment, folder: Path) -> list[Json]:
    """Its rows, a task and life each."""
    Running(experiment, str(folder), tell=_tell).run()
    return [row for result in read_results(str(folder)) for row in result["scores"]["tasks"]]


def _tell(done: Done) -> None:
    said = done.error or ("" if done.result is None else f"reward {done.result['scores']['reward']}")
    print(f"  {done.trial.name}: {said}", flush=True)


def both(folder: str | None, work: Path) -> Json:
    """Every task alone, then all in one memory."""
    ids = [task.id for task in read_tasks(folder)]
    alone = carry_out(trials("alone", {one: one for one in ids}, folder, 1), work / "alone")
    shared = carry_out(trials("shared", {"all": "all"}, folder, len(ids)), work / "shared")
    return {"alone": sorted(alone, key=lambda row: ids.index(row["task"])), "shared": shared}


def alone_again(ids: list[str], folder: str | None, work: Path, before: Json) -> Json:
    """The results before, with these tasks carried out alone once more; in one memory they are not known then."""
    rows = {row["task"]: row for row in carry_out(trials("alone", {one: one for one in ids}, folder, 1), work)}
    return {
        "alone": [rows.get(row["task"], row) for row in before["alone"]],
        "shared": [{**row, "is_older": row["task"] in rows or row.get("is_older", False)} for row in before["shared"]],
    }


def table(found: Json) -> str:
    """The table of the README."""
    lines = [
        "| task | doing nothing | alone | steps | in one memory | steps |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    later = {row["task"]: row for row in found["shared"]}
    for row in found["alone"]:
        other = later[row["task"]]
        since = " (an earlier solver)" if other.get("is_older") else ""
        cells = (row["task"], f"{row['floor']:.2f}", _score(row), row["steps"], _score(other) + since, other["steps"])
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    means = [_mean(found["alone"], "floor"), *(_mean(found[way], name) for way in found for name in ("score", "steps"))]
    lines.append("| mean | {:.3f} | {:.3f} | {:.1f} | {:.3f} | {:.1f} |".format(*means))
    return "\n".join(lines)


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


def main() -> None:
    """Runs, prints the table, writes the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("tasks", nargs="?", metavar="DIR", help="folder of tasks (default: those that ship)")
    parser.add_argument("--alone", nargs="+", metavar="ID", help="only these tasks, each alone, into the same table")
    parser.add_argument("--again", nargs="+", metavar="ID", help="three lives of these tasks instead")
    arguments = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="scrubjay-kicad-") as work:
        if arguments.again:
            found, name = again(arguments.again, arguments.tasks, Path(work)), "kicad_again"
            print(again_table(found))
        elif arguments.alone:
            before = json.loads((RESULTS / "kicad.json").read_text())
            found, name = alone_again(arguments.alone, arguments.tasks, Path(work), before), "kicad"
            print(table(found))
        else:
            found, name = both(arguments.tasks, Path(work)), "kicad"
            print(table(found))
    (RESULTS / f"{name}.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
