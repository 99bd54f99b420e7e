"""The parametric tier: what its objective, its isolation, its selection and its trigger are worth. Prints the tables.

    python benchmarks/parametric.py PART… [--folder DIR]     one process, one thread; goes on where it was stopped
    python benchmarks/parametric.py report                   the tables, from benchmarks/results/parametric/

Parts: tiny (a base of a million weights made here: objectives, control, retention; three seeds), smollm2 (the same on
SmolLM2-135M: objectives of three seeds and one retention run), choosing (worthiness and trigger, on made records),
numbers (what things cost), paths (latency and tokens of the fast path against retrieval into the prompt), visual (the
weight of visual retrieval, on a taught memory in FOLDER/taught), suite (11 long tasks in Crafter).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from typing import Any

RESULTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results", "parametric")
SEEDS = (0, 1, 2)
Json = dict[str, Any]


Unit = tuple[str, Iterator[Json]]


def tiny(folder: str) -> Iterator[Unit]:
    """Sweeps on the small base."""
    from parametric_learning import STRENGTHS, Bench, Scale, control, objectives, retention
    from parametric_tasks import Judge
    from parametric_tiny import tiny as base
    from scrubjay.parametric.training import Recipe

    where = os.path.join(folder, "tiny")
    scale = Scale("tiny, 1 M", Recipe(steps=30, rate=3e-3, batch=8), full_rate=1e-3)
    bench = Bench(lambda: base(where), scale, Judge())
    for seed in SEEDS:
        yield f"objectives {seed}", objectives(bench, seed)
        yield f"control {seed}", control(bench, seed)
        for kind in ("isolated", "shared", "naive"):
            yield f"{kind} {seed}", retention(bench, seed, kind)
        for strength in STRENGTHS:
            yield f"EWC {strength:g} {seed}", retention(bench, seed, "EWC", strength)
    bench.judge.close()


def smollm2(folder: str) -> Iterator[Unit]:
    """The pretrained base: objectives of three seeds, one retention run."""
    from parametric_learning import Bench, Scale, objectives, retention
    from parametric_paths import RECIPE
    from parametric_tasks import Judge
    from scrubjay.parametric.bases import SMOLLM2, load_base

    scale = Scale("SmolLM2-135M-Instruct", RECIPE, 1e-4, learned=(48, 48))
    bench = Bench(lambda: load_base(SMOLLM2), scale, Judge())
    for seed in SEEDS:
        yield f"objectives {seed}", objectives(bench, seed, ("DPO", "BC + DPO"))
        if seed == 0:
            for kind in ("isolated", "shared"):
                yield f"{kind} {seed}", retention(bench, seed, kind)
    bench.judge.close()


def choosing(folder: str) -> Iterator[Unit]:
    """Selection and trigger, on records made by rules; no model."""
    from parametric_choosing import units

    return units()


def paths(folder: str) -> Iterator[Unit]:
    """The fast path against retrieval into the prompt, on the pretrained base."""
    from parametric_paths import units

    return units(folder)


def suite(folder: str) -> Iterator[Unit]:
    """Eleven held-out tasks in Crafter."""
    from parametric_suite import units

    return units(folder)


def numbers(folder: str) -> Iterator[Unit]:
    """What things cost."""
    from parametric_numbers import units

    return units(os.path.join(tempfile.mkdtemp(), "memory"))


def visual(folder: str) -> Iterator[Unit]:
    """The weight of visual retrieval, swept."""
    from parametric_visual import units

    return units(folder)


PARTS = {
    "tiny": tiny, "smollm2": smollm2, "choosing": choosing, "numbers": numbers, "paths": paths, "visual": visual,
    "suite": suite,
}  # fmt: skip


def keep(name: str, units: Iterable[Unit]) -> None:
    """Runs the units that are not done yet; the rows of one are written together, when it is."""
    os.makedirs(RESULTS, exist_ok=True)
    path = os.path.join(RESULTS, f"{name}.jsonl")
    done = {row["unit"] for row in read(path)}
    for unit, rows in units:
        if unit in done:
            continue
        print(f"{name}: {unit}", file=sys.stderr, flush=True)
        lines = [json.dumps({"unit": unit, **row}, ensure_ascii=False) + "\n" for row in rows]
        with open(path, "a", encoding="utf-8") as file:
            file.write("".join(lines))


def read(path: str) -> list[Json]:
    """The rows of a part; none where it was not run."""
    try:
        with open(path, encoding="utf-8") as file:
            return [json.loads(line) for line in file]
    except FileNotFoundError:
        return []


def main() -> None:
    """Runs the parts that are named, and prints the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="+", choices=[*PARTS, "report"])
    parser.add_argument("--folder", default=os.path.join(tempfile.gettempdir(), "scrubjay-parametric"))
    arguments = parser.parse_args()
    for name in arguments.parts:
        if name != "report":
            if name in ("tiny", "smollm2", "numbers", "paths", "suite"):
                import torch

                torch.set_num_threads(1)
            keep(name, PARTS[name](arguments.folder))
    from parametric_report import report

    print(report(RESULTS))


if __name__ == "__main__":
    main()
