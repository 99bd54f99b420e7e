"""Which part of a memory helps the next life: nothing of it, its documents, its episodes, or all.

    python benchmarks/methods_parts.py [SEED …]      about 40 seconds of CPU a seed; writes results/methods/parts.json
    python benchmarks/methods_parts.py --show        the tables of what was written

A first life of 300 steps in crafter, then a second run of 700 steps in the same world, with the same chances, once for
each part that is kept. What counts are the milestones that the first life did not reach. The player follows rules and
was tuned on other seeds; it keeps what it knows in documents, and asks episodes of earlier lives for places of death
alone. So the share of episodes says more about this player than about episodes.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import sys
import tempfile
from typing import Any

from scrubjay import Memory
from scrubjay.agent.loop import Run
from scrubjay.environments.crafter import Crafter
from scrubjay.experiments.report import table
from scrubjay.models.named import make_model
from scrubjay.statistics import binomial_test, holm, mean_std

RESULTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results", "methods", "parts.json")
SEEDS = tuple(range(100, 110))
FIRST, SECOND = 300, 700
PARTS = ("nothing", "episodes", "documents", "all")


def lived(memory: Memory, seed: int, steps: int, lives: int | None = None) -> Any:
    """A run of the player; the frame's size changes nothing for it."""
    player = make_model("scripted", "crafter")
    return Run(Crafter(size=(64, 64)), player, memory, seed=seed, steps=steps, lives=lives, method="mfm").run()


def kept(part: str, first: str, path: str, seed: int) -> Memory:
    """A memory that holds this part of the first one, and in which the next life is the second of this world."""
    if part in ("all", "episodes"):
        shutil.copytree(first, path)
        memory = Memory.open(path)
        for document in memory.documents.list() if part == "episodes" else ():
            memory.documents.delete(document)
        return memory
    memory = Memory.create(path)
    environment = Crafter(size=(64, 64))
    environment.reset(seed=seed)
    memory.live(world=environment.world).end()
    if part == "documents":
        with Memory.open(first, read_only=True) as before:
            for document in before.documents.list():
                memory.documents.create(document, before.documents.read(document))
    return memory


def compared(seed: int, folder: str) -> dict[str, Any]:
    """The first life of a seed, and how the second run went with each part."""
    first = os.path.join(folder, f"{seed}-first")
    with Memory.create(first) as memory:
        progress = lived(memory, seed, FIRST, lives=1)
        reached = {one.milestone for one in progress.reached}
    left = [name for name in Crafter(size=(18, 18)).milestones if name not in reached]
    found: dict[str, Any] = {
        "seed": seed,
        "first_life": sorted(reached),
        "first_deaths": len(progress.deaths),
        "left": left,
    }
    for part in PARTS:
        with kept(part, first, os.path.join(folder, f"{seed}-{part}"), seed) as memory:
            assert len(memory.lives()) == 1
            progress = lived(memory, seed, SECOND)
            steps = {one.milestone: one.step for one in progress.reached}
        found[part] = {"steps": {name: steps.get(name) for name in left}, "deaths": len(progress.deaths)}
    return found


def measures(run: dict[str, Any], part: str) -> dict[str, float]:
    """Of the milestones that the first life left: how many were reached, and the mean step (700 where never)."""
    steps = list(run[part]["steps"].values())
    return {
        "reached of those left": sum(step is not None for step in steps),
        "mean step to those left": statistics.fmean(SECOND if step is None else step for step in steps),
        "deaths": run[part]["deaths"],
    }


def shown(runs: list[dict[str, Any]]) -> str:
    """Means, and each part against nothing, paired by seed: median of the differences, and a sign test."""
    runs = [run for run in runs if run["left"]]
    values = {part: [measures(run, part) for run in runs] for part in PARTS}
    names = list(values["all"][0])
    rows = [(name, *(str(mean_std(one[name] for one in values[part])) for part in PARTS)) for name in names]
    tests = [(name, part) for name in names for part in PARTS[1:]]
    signs = [
        _signs([one[name] for one in values[part]], [one[name] for one in values["nothing"]]) for name, part in tests
    ]
    corrected = holm([1.0 if p is None else p for *_, p in signs])
    lines = [
        (
            name,
            part,
            f"{middle:g}",
            f"{more} : {fewer} of {len(runs)}",
            "–" if p is None else f"{p:.2g}",
            f"{holms:.2g}",
        )
        for (name, part), (middle, more, fewer, p), holms in zip(tests, signs, corrected, strict=True)
    ]
    left = statistics.fmean(len(run["left"]) for run in runs)
    heads = ("measure", "kept, against nothing", "median difference", "seeds more : less", "sign p", "corrected")
    return "\n\n".join(
        (
            f"Scripted player, crafter, {len(runs)} seeds: of 22 milestones the first life left {left:.1f}.",
            table((f"second run, {SECOND} steps; kept:", *PARTS), rows),
            table(heads, lines),
        )
    )


def _signs(first: list[float], second: list[float]) -> tuple[float, int, int, float | None]:
    """Median difference, pairs in which the first is more and less, p of the sign test."""
    more = sum(a > b for a, b in zip(first, second, strict=True))
    fewer = sum(a < b for a, b in zip(first, second, strict=True))
    middle = statistics.median(a - b for a, b in zip(first, second, strict=True))
    return middle, more, fewer, binomial_test(more, more + fewer).p


def main() -> None:
    """Runs the seeds named on the command line, or ten; or shows what was found."""
    if sys.argv[1:] == ["--show"]:
        with open(RESULTS, encoding="utf-8") as file:
            print(shown(json.load(file)))
        return
    runs = []
    for seed in tuple(int(text) for text in sys.argv[1:]) or SEEDS:
        with tempfile.TemporaryDirectory(prefix="scrubjay-parts-") as folder:
            runs.append(compared(seed, folder))
        print(f"seed {seed} done", file=sys.stderr, flush=True)
        os.makedirs(os.path.dirname(RESULTS), exist_ok=True)
        with open(RESULTS, "w", encoding="utf-8") as file:
            rows = ",\n".join(json.dumps(run) for run in runs)
            file.write(f"[\n{rows}\n]\n")
    print(shown(runs))


if __name__ == "__main__":
    main()
