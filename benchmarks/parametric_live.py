"""The whole cycle of the parametric tier in Crafter, with a scripted slow model as teacher: one command.

    python benchmarks/parametric_live.py --memory DIR [--base smollm2-135m] [--lives N] [--steps N] [--train N]

Lives with the teacher, asks the triggers after each life, stages, and trains the adapters for some minutes on the CPU:
all that can be, and which of them were due is told. Then it lives in other worlds with the fast tier before the
teacher, and without it, each life in a copy of the memory as it was after the cycles. Writes
benchmarks/results/parametric/live.json. The teacher and the player that explores are scripted, no language model; the
fast policy is SmolLM2-135M with adapters.
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
from scrubjay.parametric.scoring import due_skills
from scrubjay.parametric.shelf import Shelf
from scrubjay.parametric.staging import stage
from scrubjay.parametric.tiers import FastTier, TwoTiers
from scrubjay.parametric.training import Recipe
from scrubjay.parametric.trigger import TRIGGERS
from scrubjay.parametric.updating import material_of
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


def asked(memory: Memory, life: int) -> list[Json]:
    """What each rule says after a life: the skills that it finds due."""
    return [
        {"life": life, "rule": rule, "skill": one.scored.skill.name, "category": one.scored.skill.category,
         "executions": len(one.scored.skill.executions), "why": one.fired.why}
        for rule, make in TRIGGERS.items()
        for one in due_skills(memory, make())
        if one.fired is not None
    ]  # fmt: skip


def cycles(memory: Memory, shelf: Shelf, adapters: Adapters, steps: int, due: list[str]) -> list[Json]:
    """One of craft, gather and combat, where there is no adapter yet and something was learned; what it says."""
    settings = Settings(Recipe(steps=steps, rate=2e-3, batch=4), max_new_tokens=64)
    for category in ("craft", "gather", "combat"):
        material = bounded(material_of(memory, category, with_frames=False))
        if shelf.current(category) is None and len(material.successes) >= 8:
            run_cycle(shelf, adapters, category, material, settings)
    found = []
    for cycle in shelf.cycles():
        kinds = [row["kind"] for row in cycle.rows("data")]
        result = cycle.read("result") or {}
        found.append({"category": cycle.category, "was_due": cycle.category in due, "pairs": kinds.count("pair"),
                      "successes": kinds.count("success"), **result})  # fmt: skip
        print(json.dumps(found[-1]), flush=True)
    return found


def main() -> None:
    """The cycle, from nothing or from where the memory stands."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memory", required=True, metavar="DIR")
    parser.add_argument("--base", default="smollm2-135m")
    parser.add_argument("--trigger", default="stc", choices=TRIGGERS, help="by which a category counts as due")
    parser.add_argument("--lives", type=int, default=12, metavar="N", help="lives with the teacher")
    parser.add_argument("--steps", type=int, default=250, metavar="N", help="of each life")
    parser.add_argument("--train", type=int, default=15, metavar="N", help="steps of each cycle")
    arguments = parser.parse_args()
    try:
        memory = Memory.open(arguments.memory)
    except NotFound:
        memory = Memory.create(arguments.memory)
    report: Json = {
        "slow": Teacher.name,
        "base": arguments.base,
        "rule": arguments.trigger,
        "taught": [],
        "triggers": [],
        "fast": [],
        "slow_alone": [],
    }
    with memory:
        for life in range(len(memory.lives()) + 1, arguments.lives + 1):
            live(memory, 99 + life, arguments.steps, None, report["taught"])
            report["triggers"] += asked(memory, life)
        report |= look(memory)
        due = [row["category"] for row in report["triggers"] if row["rule"] == arguments.trigger]
        shelf = Shelf(memory.layout)
        shelf.choose_base(arguments.base)
        adapters = Adapters(load_base(arguments.base))
        report["cycles"] = cycles(memory, shelf, adapters, arguments.train, due)
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
    """What was staged, and which procedures are the worthiest."""
    staged = stage(memory)
    found = {
        "staged": {
            name: {"successes": len(staged.of(name).successes), "pairs": len(staged.of(name).pairs),
                   "unpaired": {why: n for (_, why), n in staged.of(name).unpaired.items()}}
            for name in ("craft", "gather", "combat")
        },
        "lost": {f"{name}: {why}": n for (name, why), n in staged.lost.items()},
        "worthiest": [str(one) for one in due_skills(memory)[:5]],
    }  # fmt: skip
    print(json.dumps(found), flush=True)
    return found


if __name__ == "__main__":
    import torch

    torch.set_num_threads(1)
    main()
