"""What a way of remembering is worth to a player of rules: crafter, methods side by side, seeds it was not tuned on.

    python benchmarks/methods.py [--folder DIR] [--jobs N] [--seeds N]

About 25 seconds of CPU a whole run, 2 a small task: 95 minutes for ten seeds on one core. Goes on where it was stopped
when given the same folder. Writes benchmarks/results/methods/: runs.json (all that the report needs; what is there of
trials not run again is kept), runs.csv, milestones.csv, report.md, figures.

The player follows rules; it is no language model, and no claim about one. It was tuned on seeds 0 to 9 with all of its
memory. It calls no procedure and opens no stored frame, but asks in the last two tasks for the look of one.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile

from scrubjay.environments.tasks import TASKS
from scrubjay.experiments.figures import draw_figures
from scrubjay.experiments.plan import Experiment, experiment_of
from scrubjay.experiments.report import report
from scrubjay.experiments.results import read_results
from scrubjay.experiments.running import Done, Running
from scrubjay.experiments.tables import milestones_csv, runs_csv
from scrubjay.memory.jsonio import Json

RESULTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results", "methods")
FIRST_SEED = 100
COMMON = {
    "name": "methods",
    "environment": "crafter",
    "frame": [64, 64],  # the player looks at no pixel; the size of the frame changes nothing in the game
    "steps": 2000,
}
TEXT = "Reach as many milestones as you can."
MILESTONES = {"name": "milestones", "text": TEXT}
SHORT_LIVES = {"name": "short-lives", "text": TEXT, "arguments": {"length": 400}}  # five lives in one world
FELT = ["direct", "prolong", "vista", "mfm", "mfm-flat"]
UNFELT = [  # they give this player what mfm gives it, or what direct does
    "mfm-no-frames", "mfm-no-procedures", "mfm-no-consolidation", "reflexion", "voyager", "jarvis1", "mrsteve",
    "optimus1",
]  # fmt: skip
AT_TASKS = [*FELT, "mfm-no-frames", "mrsteve"]  # in the last two tasks it asks for the look of a frame


def experiments(seeds: int) -> list[Experiment]:
    """Small tasks in which memory must matter, then whole lives: with what the player can feel, then with the rest."""
    chosen = list(range(FIRST_SEED, FIRST_SEED + seeds))
    given = {**COMMON, "seeds": chosen}
    return [
        experiment_of({**given, "methods": AT_TASKS, "tasks": list(TASKS)}),
        experiment_of({**given, "methods": FELT, "tasks": [MILESTONES, SHORT_LIVES]}),
        experiment_of({**given, "methods": UNFELT, "tasks": [MILESTONES]}),
    ]


def tell(done: Done) -> None:
    """A line for each run."""
    what = done.error or "stopped"
    if done.result is not None:
        what = f"{len(done.result['reached'])} of 22, {done.result['cpu_seconds']:.0f} s of CPU"
    print(f"{done.trial.name}: {what}", file=sys.stderr, flush=True)


def with_kept(results: list[Json]) -> list[Json]:
    """These results, and those kept from before of trials that are not among them: a run goes the same way again."""
    path = os.path.join(RESULTS, "runs.json")
    kept: list[Json] = []
    if os.path.isfile(path):
        with open(path, encoding="utf-8") as file:
            kept = json.load(file)
    every = {_place(result): result for result in (*kept, *results)}
    return [every[place] for place in sorted(every)]


def _place(result: Json) -> tuple[str, str, str, int]:
    trial = result["trial"]
    return trial["task"]["name"], trial["model"], trial["method"], trial["seed"]


def write(results: list[Json]) -> None:
    """Everything that is kept of the runs. Controls are told in the report and not drawn."""
    os.makedirs(RESULTS, exist_ok=True)
    drawn = [result for result in results if not result["trial"]["task"]["name"].endswith("-control")]
    figures = draw_figures(drawn, RESULTS)
    text = report(results, "Methods in crafter, played by rules") + "".join(f"\n![]({name})\n" for name in figures)
    rows = ",\n".join(json.dumps(result, ensure_ascii=False) for result in results)
    for name, content in (
        ("report.md", text),
        ("runs.csv", runs_csv(results)),
        ("milestones.csv", milestones_csv(results)),
        ("runs.json", f"[\n{rows}\n]\n"),
    ):
        with open(os.path.join(RESULTS, name), "w", encoding="utf-8") as file:
            file.write(content)
    print(text)


def main() -> None:
    """Runs what is not done yet, and writes the results of all that is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", default=os.path.join(tempfile.gettempdir(), "scrubjay-methods"))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=10)
    arguments = parser.parse_args()
    for experiment in experiments(arguments.seeds):
        if not Running(experiment, arguments.folder, arguments.jobs, tell).run():
            print("not all runs are done; the same command goes on", file=sys.stderr)
            break
    write(with_kept(read_results(arguments.folder)))


if __name__ == "__main__":
    main()
