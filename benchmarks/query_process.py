"""CPU of `scrubjay episodes DIR --last 10` as a process, around the size at which an index gets a derived one.

Beside it `python -c "import sqlite3, json, argparse"`, which the command may cost 2.5 times. All are run in turn, many
rounds, so that a busy machine is busy for all alike; the ratio is that of the medians, the least is printed too.
Bytecode is kept, as it is where the package is installed.

    .venv/bin/python benchmarks/query_process.py [--rounds N]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from query_memories import memory_of
from scrubjay.retrieval.locate import Locator
from scrubjay.retrieval.query import Query

ROWS = (300, 500, 550, 600, 650, 700, 790, 1000)  # about 800 is the most without a derived index
BOUND = 2.5
RESULTS = Path(__file__).parent / "results" / "query_process.json"


def cpu(command: list[str], environment: dict[str, str]) -> float:
    """Milliseconds of CPU, user and system, of one run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3


def measure(rounds: int, folder: str) -> tuple[dict[str, list[float]], dict[int, int]]:
    """The costs of every round, by name (`imports`, or the count of rows), and the bytes of each index."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = os.path.join(folder, "bytecode")
    script = os.path.join(os.path.dirname(sys.executable), "scrubjay")
    commands = {"imports": [sys.executable, "-c", "import sqlite3, json, argparse"]}
    sizes: dict[int, int] = {}
    for count in ROWS:
        layout = memory_of(os.path.join(folder, str(count)), count)
        sizes[count] = os.path.getsize(layout.index)
        with Locator(layout, background=False) as locator:
            locator.find(Query(last=10))
        commands[str(count)] = [script, "episodes", layout.root, "--last", "10"]
    for command in commands.values():
        cpu(command, environment)
    costs: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            costs[name].append(cpu(command, environment))
    return costs, sizes


def main() -> None:
    """Measures, prints the table and writes the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=60)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        costs, sizes = measure(rounds, folder)
    bare, least = statistics.median(costs["imports"]), min(costs["imports"])
    print(f"{'rows':>8}{'index KB':>10}{'median ms':>11}{'ratio':>7}{'least ms':>10}{'ratio':>7}")
    print(f"{'imports':>8}{'':>10}{bare:>11.1f}{'':>7}{least:>10.1f}")
    rows = {}
    for count in ROWS:
        median, fewest = statistics.median(costs[str(count)]), min(costs[str(count)])
        rows[str(count)] = {
            "index_bytes": sizes[count],
            "median_ms": round(median, 2),
            "least_ms": round(fewest, 2),
            "ratio_of_medians": round(median / bare, 3),
            "ratio_of_least": round(fewest / least, 3),
        }
        shown = f"{median:>11.1f}{median / bare:>7.2f}{fewest:>10.1f}{fewest / least:>7.2f}"
        print(f"{count:>8}{sizes[count] / 1e3:>10.0f}{shown}")
    worst = max(row["ratio_of_medians"] for row in rows.values())
    print(f"\nworst ratio {worst:.2f}, bound {BOUND}: {'held' if worst <= BOUND else 'NOT held'}")
    result = {
        "command": "scrubjay episodes DIR --last 10",
        "rounds": rounds,
        "machine": {"python": platform.python_version(), "cores": os.cpu_count(), "load": os.getloadavg()[0]},
        "imports": {"median_ms": round(bare, 2), "least_ms": round(least, 2)},
        "rows": rows,
        "bound": BOUND,
    }
    RESULTS.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
