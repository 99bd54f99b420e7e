"""How far the scripted player gets in crafter: 2,000 steps with lives, in a memory of its own for each seed.

    python benchmarks/crafter_player.py [SEED …]    about two minutes a seed; writes benchmarks/results/crafter.json

The player follows rules; it is no model, and no claim about one. It sees the local view and what its memory tells it.
The table says at which step of the run each of the 22 milestones was first reached, whatever the life, and the deaths.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import time
from dataclasses import asdict
from typing import Any

from scrubjay import Memory
from scrubjay.agent.loop import Run
from scrubjay.environments.crafter import Crafter
from scrubjay.models.named import make_model

RESULTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results", "crafter.json")
STEPS = 2000
SEEDS = (0, 1, 2, 3, 4)


def lived(seed: int, folder: str) -> dict[str, Any]:
    """One run of the scripted player, with frames of 640 x 360, recorded like any other."""
    began = time.process_time()
    with Memory.create(os.path.join(folder, str(seed))) as memory:
        progress = Run(
            Crafter(), make_model("scripted", "crafter"), memory, task="benchmark", method="mfm", seed=seed, steps=STEPS
        ).run()
    return {
        "seed": seed,
        "milestones": len(progress.reached),
        "deaths": list(progress.deaths),
        "turns": progress.turns,
        "episodes": progress.episodes,
        "seconds": round(progress.seconds, 1),
        "cpu_seconds": round(time.process_time() - began, 1),
        "reached": [asdict(one) for one in progress.reached],
    }


def table(runs: list[dict[str, Any]], milestones: tuple[str, ...]) -> str:
    """A row per milestone, a column per seed, in Markdown."""
    steps = [{one["milestone"]: one["step"] for one in run["reached"]} for run in runs]
    lines = [
        "| scripted player, first step of | " + " | ".join(f"seed {run['seed']}" for run in runs) + " |",
        "| --- |" + " ---: |" * len(runs),
        *(f"| {name} | " + " | ".join(str(found.get(name, "–")) for found in steps) + " |" for name in milestones),
        "| **milestones of 22** | " + " | ".join(str(run["milestones"]) for run in runs) + " |",
        "| deaths | " + " | ".join(str(len(run["deaths"])) for run in runs) + " |",
    ]
    return "\n".join(lines)


def main() -> None:
    """Runs the seeds named on the command line, or five."""
    seeds = tuple(int(text) for text in sys.argv[1:]) or SEEDS
    runs = []
    with tempfile.TemporaryDirectory(prefix="scrubjay-crafter-") as folder:
        for seed in seeds:
            runs.append(lived(seed, folder))
            last = runs[-1]
            print(f"seed {seed}: {last['milestones']} of 22, {last['seconds']} s", file=sys.stderr, flush=True)
    mean = statistics.mean(run["milestones"] for run in runs)
    print(table(runs, Crafter(size=(18, 18)).milestones))
    print(f"\nmean {mean:.1f} of 22 in {STEPS} steps, {statistics.mean(len(run['deaths']) for run in runs):.1f} deaths")
    os.makedirs(os.path.dirname(RESULTS), exist_ok=True)
    with open(RESULTS, "w", encoding="utf-8") as file:
        json.dump({"player": "scripted", "steps": STEPS, "mean_milestones": mean, "runs": runs}, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
