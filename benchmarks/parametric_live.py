"""The whole cycle of the parametric tier in Crafter, with a scripted slow model as teacher: one command.

    python benchmarks/parametric_live.py --memory DIR [--base smollm2-135m] [--lives N] [--steps N] [--train N]

Lives with the teacher, stages, asks worthiness and trigger, trains the adapters of craft and gather for some minutes
on the CPU, then lives in other worlds with the fast tier before the teacher, and without it, each life in a copy of the
memory as it was after the cycles. Writes benchmarks/results/parametric/live.json. The teacher and the player that
explores are scripted, no language model; the fast policy is SmolLM2-135M with adapters.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
import time
from typing import Any

from parametric_teacher import Teacher, goal_of
from scrubjay import Memory
from scrubjay.agent.loop import Run
from scrubjay.agent.skills import Skills
from scrubjay.environments.crafter import Crafter
from scrubjay.errors import NotFound
from scrubjay.parametric.adapters import Adapters
from scrubjay.parametric.bases import load_base
from scrubjay.parametric.categories import Categories
from scrubjay.parametric.cycle import Material, Settings, run_cycle
from scrubjay.parametric.metrics import tier_use
from scrubjay.parametric.policy import LocalPolicy
from scrubjay.parametric.scoring import due_skills, material_of
from scrubjay.parametric.shelf import Shelf
from scrubjay.parametric.staging import stage
from scrubjay.parametric.tiers import FastTier, TwoTiers
from scrubjay.parametric.training import Recipe
from scrubjay.statistics import wilson

RESULTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results", "parametric", "live.json")
TASK = "Reach as many milestones as you can."
HELD_OUT = (302, 303, 304, 305)  # seeds of worlds that the teacher never saw
Json = dict[str, Any]


def live(memory: Memory, seed: int, steps: int, policy: LocalPolicy | None, told: list[Json]) -> Json:
    """One life; with a policy, the fast tier stands before the teacher."""
    environment = Crafter(size=(64, 64), length=steps)
    skills = Skills(environment, memory)
    teacher = Teacher(memory, seed)
    tier = None if policy is None else FastTier(policy, memory, skills, Categories.default(), goal_of)
    player = teacher if tier is None else TwoTiers(tier, teacher)
    began, first = time.process_time(), len(memory.lives()) + 1
    progress = Run(environment, player, memory, task=TASK, seed=seed, steps=steps, lives=1, skills=skills).run()
    skills.close()
    use = tier_use(memory, [first])
    row: Json = {
        "seed": seed, "steps": progress.step, "turns": progress.turns, "milestones": len(progress.reached),
        "cpu_s": round(time.process_time() - began, 1),
    }  # fmt: skip
    if tier is not None:
        row |= {
            "fast_turns": use.fast, "share": round(use.share, 3), "tokens": use.tokens, "latency_s": use.latency,
            "verified": tier.tally.verified, "taken": tier.tally.taken, "left": tier.tally.left,
        }  # fmt: skip
    told.append(row)
    print(json.dumps(row), flush=True)
    return row


def live_in_copy(folder: str, seed: int, steps: int, policy: LocalPolicy | None, told: list[Json]) -> None:
    """One life that knows what was taught, and nothing of the other lives that are compared."""
    with tempfile.TemporaryDirectory() as held:
        copy = shutil.copytree(folder, os.path.join(held, "memory"))
        with Memory.open(copy) as memory:
            live(memory, seed, steps, policy, told)


def bounded(material: Material, successes: int = 32, pairs: int = 16) -> Material:
    """At most so much of it, spread over what there is."""

    def spread(found: Any, most: int) -> Any:
        return list(found)[:: max(1, -(-len(found) // most))][:most]

    return Material(
        spread(material.successes, successes), spread(material.pairs, pairs), spread(material.held_out, 8),
        material.skills, material.executions,
    )  # fmt: skip


def cycles(memory: Memory, shelf: Shelf, adapters: Adapters, steps: int) -> list[Json]:
    """One of craft and one of gather, where there is no adapter yet; what their folders say."""
    settings = Settings(Recipe(steps=steps, rate=2e-3, batch=4), max_new_tokens=64)
    for category in ("craft", "gather"):
        if shelf.current(category) is None:
            material = bounded(material_of(memory, category, with_frames=False))
            run_cycle(shelf, adapters, category, material, settings)
    found = []
    for cycle in shelf.cycles():
        kinds = [row["kind"] for row in cycle.rows("data")]
        result = cycle.read("result") or {}
        found.append({"category": cycle.category, "successes": kinds.count("success"), "pairs": kinds.count("pair"),
                      **result})  # fmt: skip
        print(json.dumps(found[-1]), flush=True)
    return found


def main() -> None:
    """The cycle, from nothing or from where the memory stands."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memory", required=True, metavar="DIR")
    parser.add_argument("--base", default="smollm2-135m")
    parser.add_argument("--lives", type=int, default=8, metavar="N", help="lives with the teacher")
    parser.add_argument("--steps", type=int, default=250, metavar="N", help="of each life")
    parser.add_argument("--train", type=int, default=15, metavar="N", help="steps of each cycle")
    arguments = parser.parse_args()
    try:
        memory = Memory.open(arguments.memory)
    except NotFound:
        memory = Memory.create(arguments.memory)
    report: Json = {"slow": Teacher.name, "base": arguments.base, "taught": [], "fast": [], "slow_alone": []}
    with memory:
        for seed in range(100 + len(memory.lives()), 100 + arguments.lives):
            live(memory, seed, arguments.steps, None, report["taught"])
        report |= look(memory)
        shelf = Shelf(memory.layout)
        shelf.choose_base(arguments.base)
        adapters = Adapters(load_base(arguments.base))
        report["cycles"] = cycles(memory, shelf, adapters, arguments.train)
        policy = LocalPolicy(shelf, adapters, max_new_tokens=64)
    for seed in HELD_OUT:
        live_in_copy(arguments.memory, seed, arguments.steps, policy, report["fast"])
        live_in_copy(arguments.memory, seed, arguments.steps, None, report["slow_alone"])
    taken = sum(row["taken"] for row in report["fast"])
    verified = sum(row["verified"] for row in report["fast"])
    report["success"] = {"verified": verified, "taken": taken, "wilson": wilson(verified, taken).interval}
    os.makedirs(os.path.dirname(RESULTS), exist_ok=True)
    with open(RESULTS, "w", encoding="utf-8") as file:
        file.write(json.dumps(report, indent=1) + "\n")
    print(json.dumps(report["success"]))


def look(memory: Memory) -> Json:
    """What was staged, and which procedures are due."""
    staged = stage(memory)
    due = due_skills(memory)
    found = {
        "staged": {
            name: {"successes": len(staged.of(name).successes), "pairs": len(staged.of(name).pairs),
                   "unpaired": {why: n for (_, why), n in staged.of(name).unpaired.items()}}
            for name in ("craft", "gather", "combat")
        },
        "lost": {f"{name}: {why}": n for (name, why), n in staged.lost.items()},
        "worthiest": [str(one) for one in due[:5]],
        "due": [one.scored.skill.name for one in due if one.fired is not None],
    }  # fmt: skip
    print(json.dumps(found), flush=True)
    return found


if __name__ == "__main__":
    import torch

    torch.set_num_threads(1)
    main()
