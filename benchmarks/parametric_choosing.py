"""Selection and trigger on records made by rules: which skills are worth it, and when one is due.

No model and no environment: skills have a true rate and a frequency, and some are twins in code. What a choice is
worth is known here, because the later half of the records is made too.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from parametric_tasks import CATEGORIES, tasks
from scrubjay.parametric.metrics import jaccard
from scrubjay.parametric.skills import Execution, Skill
from scrubjay.parametric.trigger import STC, FixedSchedule, FixedThreshold, SequentialSTC, Trigger
from scrubjay.parametric.weighing import chosen_by, saved, search
from scrubjay.parametric.worthiness import Weights, heuristic, score

Json = dict[str, Any]
SEEDS = range(12)
SIZE = 10
_LIVES = 10
_RATES = {"craft": 0.9, "gather": 0.8, "combat": 0.6}  # of success, around which skills vary
SLICES = {
    "even": {"craft": 1.0, "gather": 1.0, "combat": 1.0},
    "craft-heavy": {"craft": 4.0, "gather": 1.0, "combat": 0.5},
    "combat-heavy": {"craft": 0.5, "gather": 1.0, "combat": 4.0},
}
TRIGGERS: dict[str, Trigger] = {
    "STC (the paper's rule)": STC(),
    "STC, sequential, with cool-down and floor": SequentialSTC(),
    "fixed schedule, 20": FixedSchedule(20),
    "fixed threshold, 0.5 of 10": FixedThreshold(0.5, 10),
}


def made_skills(seed: int, heavy: str = "even") -> list[Skill]:
    """Sixty skills, their calls drawn by a slice; every category has families of twins.

    A slice changes how often skills are called, and nothing else about them.
    """
    found = []
    for category in CATEGORIES:
        for task in random.Random(f"{seed} {category}").sample(tasks(category), 20):
            rng = random.Random(f"{seed} {task.name}")
            often = rng.paretovariate(1.2) * SLICES[heavy][category]
            rate = min(0.99, max(0.05, rng.gauss(_RATES[category], 0.2)))
            by_world = [min(1.0, max(0.0, rate + rng.choice((-1, 1)) * rng.random() * 0.3)) for _ in range(4)]
            runs = []
            for life in range(1, _LIVES + 1):
                for _ in range(min(40, int(often * rng.random() * 3))):
                    world = rng.randrange(4)
                    runs.append(Execution(rng.random() < by_world[world], f"world-{world}", life))
            found.append(Skill(task.name, task.good, category, tuple(runs), _LIVES))
    return found


def weights() -> Iterator[Json]:
    """The grid search, its values summed over seeds: the default weights come from here."""
    totals: dict[Weights, float] = {}
    for seed in SEEDS[:6]:
        for one in search(made_skills(seed), SIZE):
            totals[one.weights] = totals.get(one.weights, 0.0) + one.value
    best = sorted(totals.items(), key=lambda item: -item[1])
    for place, (found, value) in enumerate(best[:5]):
        yield {"part": "weights", "place": place + 1, "weights": _plain(found), "saved": round(value / 6)}
    yield {"part": "weights", "place": "default", "weights": _plain(Weights()),
           "saved": round(totals.get(Weights(), 0.0) / 6)}  # fmt: skip


def _plain(found: Weights) -> list[float]:
    return [found.cost, found.stability, found.redundancy, found.forgetting]


def selection() -> Iterator[Json]:
    """What ten chosen skills save later, by PV whole, without each term, by the heuristic, by chance; other seeds."""
    whole = Weights()
    rules: dict[str, Weights | None] = {
        "PV": whole,
        "PV without U_cost": replace(whole, cost=0.0),
        "PV without U_stab": replace(whole, stability=0.0),
        "PV without P_redun": replace(whole, redundancy=0.0),
        "PV without R_forget": replace(whole, forgetting=0.0),
        "heuristic": None,
        "chance": None,
    }
    for heavy in SLICES:
        for seed in range(100, 100 + len(SEEDS)):
            skills = made_skills(seed, heavy)
            early = [replace(one, executions=one.executions[: len(one.executions) // 2]) for one in skills]
            for rule, chosen_weights in rules.items():
                if chosen_weights is not None:
                    names = [one.name for one in chosen_by(early, chosen_weights, SIZE)]
                elif rule == "heuristic":
                    fit = sorted(heuristic(early), key=lambda one: (-len(one.executions), one.name))
                    names = [one.name for one in fit[:SIZE]]
                else:
                    names = [one.name for one in random.Random(seed).sample(skills, SIZE)]
                kept = [one for one in skills if one.name in names]
                yield {
                    "part": "selection", "slice": heavy, "seed": seed, "rule": rule, "chosen": len(kept),
                    "saved": round(saved(skills, kept, 0.5)),
                }  # fmt: skip


def overlap() -> Iterator[Json]:
    """Jaccard of the ten worthiest, between slices of the same skills."""
    for seed in SEEDS:
        best = {heavy: [one.skill.name for one in score(made_skills(seed, heavy))[:SIZE]] for heavy in SLICES}
        for one, other in (("even", "craft-heavy"), ("even", "combat-heavy"), ("craft-heavy", "combat-heavy")):
            yield {"part": "overlap", "seed": seed, "between": [one, other],
                   "jaccard": round(jaccard(best[one], best[other]), 3)}  # fmt: skip


# --- triggers


def false_fires(n: int = 1000, length: int = 100) -> Iterator[Json]:
    """Series in which nothing changes: how many fire at least once, asked after every execution."""
    for rate in (0.1, 0.3, 0.5):
        rng = random.Random(round(rate * 10))
        many = [[rng.random() >= rate for _ in range(length)] for _ in range(n)]
        for name, trigger in TRIGGERS.items():
            fired = sum(trigger.first(one) is not None for one in many)
            yield {"part": "false fires", "trigger": name, "failing": rate, "n": n, "length": length, "fired": fired}


def delays(n: int = 500, before: int = 50, after: int = 100) -> Iterator[Json]:
    """Series that change after 50 executions, or are bad from the start: which are found, and how late."""
    for old, new in ((0.1, 0.4), (0.1, 0.7), (0.1, 1.0), (0.3, 0.8), (None, 0.8), (None, 1.0)):
        rng = random.Random(repr((old, new)))
        start = 0 if old is None else before
        many = [
            [rng.random() >= (old or 0) for _ in range(start)] + [rng.random() >= new for _ in range(after)]
            for _ in range(n)
        ]
        for name, trigger in TRIGGERS.items():
            found = [trigger.first(one) for one in many]
            late = [one.at - start for one in found if one is not None and one.at > start]
            early = sum(one is not None and one.at <= start for one in found)
            yield {
                "part": "delay", "trigger": name, "from": old, "to": new, "n": n, "before_change": early,
                "found": len(late), "median_delay": statistics.median(late) if late else None,
            }  # fmt: skip


def slices(length: int = 400, skills: int = 60) -> Iterator[Json]:
    """Triggers in use, on re-slices: half of the skills break halfway; an update mends one until the end.

    Counted are updates, those of skills that were broken, and the failures that were suffered in all.
    """
    for heavy, mix in SLICES.items():
        for name, trigger in TRIGGERS.items():
            for seed in range(3):
                yield {"part": "slices", "slice": heavy, "trigger": name, "seed": seed,
                       **_lived(trigger, mix, random.Random(seed), length, skills)}  # fmt: skip


def _lived(trigger: Trigger, mix: dict[str, float], rng: random.Random, length: int, skills: int) -> Json:
    updates = useful = failures = executions = 0
    for nth in range(skills):
        category = CATEGORIES[nth % len(CATEGORIES)]
        calls = round(length * mix[category] / sum(mix.values()))
        failing, broken = 1 - _RATES[category], nth % 2 == 1
        series: list[bool] = []
        updated, is_broken = 0, False
        for call in range(calls):
            is_broken = is_broken or (broken and call == calls // 2)
            series.append(rng.random() >= (0.9 if is_broken else failing))
            if trigger.last(series, updated) is not None:
                updates, useful, updated = updates + 1, useful + is_broken, len(series)
                broken, is_broken = broken and not is_broken, False
        failures += len(series) - sum(series)
        executions += len(series)
    return {"executions": executions, "updates": updates, "useful": useful, "failures": failures}


def units() -> Iterator[tuple[str, Iterator[Json]]]:
    """All of it, seconds each."""
    for one in (weights, selection, overlap, false_fires, delays, slices):
        yield one.__name__, one()
