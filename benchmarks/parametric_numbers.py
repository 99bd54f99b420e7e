"""What worthiness, triggers and a cycle cost: CPU seconds of one thread, and the peak of memory."""

from __future__ import annotations

import random
import resource
import time
from collections.abc import Iterator
from typing import Any

from scrubjay.parametric.skills import Execution, Skill
from scrubjay.parametric.trigger import STC, SequentialSTC
from scrubjay.parametric.worthiness import score

Json = dict[str, Any]


def worthiness() -> Iterator[Json]:
    """10,000 procedures of some 350 characters, 20 calls each, against sets of 10, 100 and 1,000 in the weights."""
    rng = random.Random(0)
    words = ["oak", "birch", "coal", "iron", "zombie", "door", "table", "obtain", "mine", "attack", "equip", "place"]

    def line() -> str:
        return f'    {rng.choice(words)}("{rng.choice(words)}_{rng.choice(words)}", {rng.randint(1, 999)})\n'

    runs = tuple(Execution(rng.random() < 0.8, str(i % 3)) for i in range(20))
    skills = [
        Skill(f"s{i}", f"def s{i}(n):\n" + "".join(line() for _ in range(12)), "craft", runs) for i in range(10_000)
    ]
    for known in (10, 100, 1000):
        began = time.process_time()
        score(skills, skills[:known])
        yield {"part": "numbers", "what": f"PV of 10,000 procedures, {known} in the weights",
               "cpu_s": round(time.process_time() - began, 2)}  # fmt: skip


def triggers() -> Iterator[Json]:
    """A million run records, of 1,000 skills and of 20,000."""
    rng = random.Random(0)
    for skills in (1000, 20_000):
        many = [[rng.random() < 0.7 for _ in range(1_000_000 // skills)] for _ in range(skills)]
        began = time.process_time()
        for series in many:
            STC().last(series)
        yield {"part": "numbers", "what": f"STC, a million records of {skills:,} skills",
               "cpu_s": round(time.process_time() - began, 2)}  # fmt: skip
        began = time.process_time()
        SequentialSTC().first_of(many, [0] * len(many))
        yield {"part": "numbers", "what": f"the corrected rule, a million records of {skills:,} skills",
               "cpu_s": round(time.process_time() - began, 2)}  # fmt: skip


def cycle(folder: str) -> Iterator[Json]:
    """A whole cycle of SmolLM2-135M on 32 successes and 16 pairs: load, reference, training, verifying, saving."""
    from parametric_tasks import learnable, split
    from scrubjay.memory.layout import Layout
    from scrubjay.parametric.adapters import Adapters
    from scrubjay.parametric.bases import SMOLLM2, load_base
    from scrubjay.parametric.cycle import Material, Settings, run_cycle
    from scrubjay.parametric.shelf import Shelf
    from scrubjay.parametric.training import Recipe

    began = time.process_time()
    successes, pairs = learnable(split("craft", 0)[0])
    material = Material(successes[:32], pairs[:16], successes[32:40])
    shelf = Shelf(Layout(folder))
    recipe = Recipe(steps=16, rate=1e-3, batch=4)  # every success twice, every pair four times
    outcome = run_cycle(shelf, Adapters(load_base(SMOLLM2)), "craft", material, Settings(recipe, max_new_tokens=64))
    yield {
        "part": "numbers", "what": "a cycle of SmolLM2-135M, 32 successes and 16 pairs, 16 steps",
        "cpu_s": round(time.process_time() - began, 1), "verified": [outcome.before, outcome.after, outcome.n],
        "kept": outcome.kept, "training_cpu_s": round(outcome.trained.cpu_seconds, 1),
        "peak_gib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20), 2),
    }  # fmt: skip


def units(folder: str) -> Iterator[tuple[str, Iterator[Json]]]:
    """Each in turn. The peak is that of the process, so the records of the others are let go before the cycle."""
    yield "triggers", triggers()
    yield "worthiness", worthiness()
    yield "cycle", cycle(folder)
