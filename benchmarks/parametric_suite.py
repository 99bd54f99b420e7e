"""Eleven tasks in Crafter that begin with empty hands: craft, gather, combat; ours, the paper's list is not at hand.

Every method is lived by the scripted player, which is no language model: a method that only puts something before a
language model gives it nothing. A life is judged on all eleven tasks, since the player does not read its task. `peam`,
`mfm-peam` and their control live in copies of a memory that was taught (see parametric_live.py): the control is `mfm`
in the same memory, without the fast tier.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from typing import Any

from scrubjay import Memory
from scrubjay.agent.loop import Run
from scrubjay.agent.skills import Skills
from scrubjay.environments.crafter import Crafter
from scrubjay.methods.named import METHODS, make_method, make_player
from scrubjay.parametric.metrics import tier_use

Json = dict[str, Any]
TASKS = {
    "craft": ("place_table", "make_wood_pickaxe", "make_wood_sword", "make_stone_pickaxe", "make_stone_sword"),
    "gather": ("collect_drink", "eat_cow", "collect_stone", "collect_coal"),
    "combat": ("defeat_zombie", "defeat_skeleton"),
}
SEEDS = (310, 311, 312)
STEPS = 300
TAUGHT = ("mfm", "peam", "mfm-peam")
FRESH = tuple(name for name in METHODS if "peam" not in name)


def lived(method_name: str, seed: int, taught: str | None) -> Iterator[Json]:
    """One life; a row for each of the eleven tasks."""
    folder = os.path.join(tempfile.mkdtemp(), "memory")
    if taught is None:
        Memory.create(folder).close()
    else:
        shutil.copytree(taught, folder)
    environment, method = Crafter(size=(64, 64), length=STEPS), make_method(method_name)
    with Memory.open(folder) as memory:
        first = len(memory.lives()) + 1
        skills = Skills(environment, memory)
        player = make_player("scripted", "crafter", method, memory, skills)
        progress = Run(
            environment, player, memory, task="Reach as many milestones as you can.", method=method_name, seed=seed,
            steps=STEPS, lives=1, skills=skills, recall=method.recall,
        ).run()  # fmt: skip
        skills.close()
        use = tier_use(memory, [first])
    at = {one.milestone: one.step for one in progress.reached}
    shutil.rmtree(os.path.dirname(folder))
    for category, names in TASKS.items():
        for name in names:
            yield {
                "part": "suite", "method": method_name, "memory": "taught" if taught else "fresh", "seed": seed,
                "category": category, "task": name, "success": name in at, "step": at.get(name),
                "turns": use.turns, "fast_turns": use.fast, "tokens": use.tokens, "latency_s": use.latency,
            }  # fmt: skip


def units(folder: str) -> Iterator[tuple[str, Iterator[Json]]]:
    """Every method and seed; those in a taught memory where `folder/taught` is one."""
    for seed in SEEDS:
        for method in FRESH:
            yield f"{method} {seed}", lived(method, seed, None)
        taught = os.path.join(folder, "taught")
        if os.path.isdir(taught):
            for method in TAUGHT:
                yield f"taught {method} {seed}", lived(method, seed, taught)
