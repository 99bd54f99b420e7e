"""Locating episodes: CPU per query, against a scan of every row, on generated memories of a thousand to a million rows.

    python benchmarks/query.py --rows 1000 10000 100000        memories are kept in --folder (9 GB for a million rows)

Each kind of query is asked with many values; the CPU of a query is the smallest of three passes and includes reading
the rows back; making objects of them, a page of up to 200, is shown beside it. p95 is over the values. The reference is
one pass over the index that judges every row by what a query means, for so many queries of each kind as --check says.
Writes benchmarks/results/query.json and prints the table.
"""

from __future__ import annotations

import argparse
import gc
import heapq
import json
import math
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

from query_memories import ACTIONS, RARE_TAGS, RARE_TEXTS, TAGS, TWO_CHARACTERS, add_rows, memory_of
from scrubjay import Memory, Query
from scrubjay.memory.layout import Layout, episode_id
from scrubjay.retrieval.build import bring_up_to_date
from scrubjay.retrieval.cache_files import current_files
from scrubjay.retrieval.cues import Line, read_lines
from scrubjay.retrieval.judge import Judge
from scrubjay.retrieval.locate import Locator
from scrubjay.retrieval.scan import ScanFacts
from scrubjay.retrieval.scope import Surroundings, scope_of
from scrubjay.retrieval.text import Texts

RESULTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results", "query.json")
PASSES = 3
COMMON_TEXTS = ("iron_ore", "zomb", "dirt", "go_to(x=")
VALUES = 20
BOUNDS_MS = {
    "last": 2, "steps": 2, "near": 2, "near + tag": 2, "action + tag": 2,
    "rare text": 30, "regex": 30, "two rare tags": 30, "two characters": 30,
}  # fmt: skip


def queries(lines: list[Line], choice: random.Random) -> dict[str, list[Query]]:
    """Every kind of query with VALUES values, taken from rows of the memory so that most find something."""
    placed = [line.row for line in lines if line.row.position is not None]

    def asked(make: Callable[[int], Query]) -> list[Query]:
        return [make(number) for number in range(VALUES)]

    def near(number: int, **more: Any) -> Query:
        row = choice.choice(placed)
        x, _y, z = row.position or (0.0, 0.0, 0.0)
        return Query(near=(x + 1, z - 1), radius=choice.choice((3, 6, 10)), world=row.world, **more)

    def steps(number: int) -> Query:
        row = choice.choice(placed)
        assert row.first_step is not None
        return Query(steps=(row.first_step, row.first_step + choice.randint(1, 2000)), life=row.life)

    def through(number: int) -> Query:
        row = choice.choice(placed)
        x, _y, z = row.position or (0.0, 0.0, 0.0)
        return Query(through=(x, z), world=row.world)

    patterns = (
        r"POL-\d{3}",
        r"重跑\w+",
        r"obsidian_\w+ stands",
        r"tin\s+whistle",
        r"mechanism #[0-9]",
        r"moved 1\d\.0.*itgc",
    )
    ids = [choice.choice(lines).row.id for _ in range(VALUES)]
    return {
        "last": asked(lambda n: Query(last=1 + n, life="all" if n % 4 == 3 else None)),
        "steps": asked(steps),
        "near": asked(near),
        "near + tag": asked(lambda n: near(n, tag=TAGS[n % 6], last=20)),
        "action + tag": asked(lambda n: Query(action=ACTIONS[n % 10], tag=TAGS[n % len(TAGS)], last=20, life="all")),
        "rare text": asked(lambda n: Query(grep=ids[n] if n % 3 == 0 else RARE_TEXTS[n % len(RARE_TEXTS)], life="all")),
        "regex": asked(lambda n: Query(regex=patterns[n % len(patterns)], life="all")),
        "two rare tags": asked(lambda n: Query(tag=tuple(choice.sample(RARE_TAGS, 2)), life="all")),
        "two characters": asked(lambda n: Query(grep=TWO_CHARACTERS[n % len(TWO_CHARACTERS)], life="all")),
        "tag, a page": asked(lambda n: Query(tag=TAGS[n % len(TAGS)], life="all")),
        "below + action": asked(lambda n: Query(below=choice.uniform(-64, 0), action=ACTIONS[n % 10], last=20)),
        "through": asked(through),
        "since": asked(lambda n: Query(since=choice.choice(placed).ended, last=20, life="all")),
        "common text": asked(lambda n: Query(grep=COMMON_TEXTS[n % 4], last=20, life="all")),
        "digits": asked(lambda n: Query(grep=f"{choice.randint(100, 9999)}", last=20, life="all")),
    }  # fmt: skip


def reference(layout: Layout, asked: list[Query]) -> list[list[str]]:
    """The ids that a scan gives for each query: one pass, judging every row for every query."""
    surroundings = Surroundings(layout, bare=False)
    facts = ScanFacts(read_lines(layout, bare=False))
    descriptor = os.open(layout.index, os.O_RDONLY)
    texts = _OneText(layout, bare=False)
    judges = [Judge(query, scope_of(query, surroundings, facts), layout, lambda: texts, descriptor) for query in asked]
    found: list[list[int]] = [[] for _ in asked]
    for line in read_lines(layout, bare=False):
        for judge, numbers in zip(judges, found, strict=True):
            if judge.matches(line):
                numbers.append(line.place.number)
    os.close(descriptor)
    return [_page(query, numbers) for query, numbers in zip(asked, found, strict=True)]


class _OneText(Texts):
    """Keeps the text that was read last, since many queries ask for the same."""

    _kept: tuple[int, str] = (-1, "")

    def of(self, place: Any, descriptor: int) -> str:
        if self._kept[0] != place.number:
            self._kept = (place.number, super().of(place, descriptor))
        return self._kept[1]


def _page(query: Query, numbers: list[int]) -> list[str]:
    numbers = sorted(numbers) if query.last is None else sorted(heapq.nlargest(query.last, numbers))
    return [episode_id(number) for number in numbers[: query.limit]]


def cpu_of(call: Callable[[], Any]) -> float:
    """Milliseconds of CPU of one call."""
    begin = time.process_time()
    call()
    return (time.process_time() - begin) * 1e3


def percentile(values: list[float], share: float) -> float:
    """The value below which this share lies, by the nearest rank."""
    return sorted(values)[math.ceil(share * len(values)) - 1]


def measure_queries(layout: Layout, kinds: dict[str, list[Query]], check: int) -> list[dict[str, Any]]:
    """A line of the table for each kind; so many queries of each are compared with the scan."""
    flat = [query for asked in kinds.values() for query in asked]
    compared = [at for at in range(len(flat)) if at % VALUES < check]
    with Locator(layout, small=0, background=False) as locator:
        smallest, with_rows = [math.inf] * len(flat), [math.inf] * len(flat)
        answers: list[list[str]] = [[] for _ in flat]
        for _ in range(PASSES):
            for at, query in enumerate(flat):
                begin = time.process_time()
                matches = locator.find(query)
                found = time.process_time()
                rows = matches.rows
                smallest[at] = min(smallest[at], (found - begin) * 1e3)
                with_rows[at] = min(with_rows[at], (time.process_time() - begin) * 1e3)
                answers[at] = [row.id for row in rows]
    right = dict(zip(compared, reference(layout, [flat[at] for at in compared]), strict=True))
    table = []
    for position, kind in enumerate(kinds):
        at_kind = range(position * VALUES, (position + 1) * VALUES)
        times = [smallest[at] for at in at_kind]
        same = [right[at] == answers[at] for at in at_kind if at in right]
        table.append(
            {
                "kind": kind, "p50_ms": round(percentile(times, 0.5), 3), "p95_ms": round(percentile(times, 0.95), 3),
                "p95_with_rows_ms": round(percentile([with_rows[at] for at in at_kind], 0.95), 3),
                "bound_ms": BOUNDS_MS.get(kind), "rows": round(sum(len(answers[at]) for at in at_kind) / VALUES, 1),
                "queries": VALUES, "compared": len(same), "same_rows": sum(same),
            }
        )  # fmt: skip
    return table


def measure_opening(layout: Layout) -> dict[str, float]:
    """Milliseconds of CPU to open the memory, and to open it and ask for the last ten."""

    def opened() -> None:
        Memory.open(layout.root, read_only=True).close()

    def asked() -> None:
        with Memory.open(layout.root, read_only=True) as memory:
            memory.find(Query(last=10))

    return {name: round(min(cpu_of(call) for _ in range(5)), 2) for name, call in (("open", opened), ("ask", asked))}


def measure_process(layout: Layout) -> dict[str, float]:
    """CPU of the command as a process, beside Python with three imports; bytecode is kept, as it is where installed."""

    def cpu(command: list[str]) -> float:
        costs = []
        for _ in range(12):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True, env=environment)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            costs.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        return min(costs) * 1e3

    with tempfile.TemporaryDirectory() as bytecode:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = bytecode
        bare = cpu([sys.executable, "-c", "import sqlite3, json, argparse"])
        script = os.path.join(os.path.dirname(sys.executable), "scrubjay")
        command = cpu([script, "episodes", layout.root, "--last", "10"])
    return {"imports_ms": round(bare, 1), "command_ms": round(command, 1), "ratio": round(command / bare, 2)}


def measure_catching_up(layout: Layout, count: int) -> dict[str, float]:
    """Microseconds of CPU a row: after 1 and 100 rows in the query that follows, after 10,000 as the builder does it.

    The builder adds rows, words, cells, screens and descriptors at once. The memory is left as it was.
    """
    size = os.path.getsize(layout.index)
    (path,) = current_files(layout, bare=False)
    shutil.copy(path, f"{path}.kept")
    costs = {}
    new, following = 0, count + 1
    with Locator(layout, small=0, background=False) as locator:
        query = Query(last=1, life="all")
        locator.find(query)
        for new in (1, 100):
            smallest = []
            for _ in range(30 if new == 1 else 5):
                add_rows(layout, following, new, count)
                following += new
                grown = cpu_of(lambda: locator.find(query))
                usual = min(cpu_of(lambda: locator.find(query)) for _ in range(3))
                smallest.append((grown - usual) * 1e3 / new)
            costs[f"after {new}"] = round(min(smallest), 1)
    bring_up_to_date(layout.root)
    smallest = []
    for _ in range(3):
        add_rows(layout, following, 10_000, count)
        following += 10_000
        gc.disable()  # as the builder's process does
        smallest.append(cpu_of(lambda: bring_up_to_date(layout.root)) * 1e3 / 10_000)
        gc.enable()
    costs["after 10000"] = round(min(smallest), 1)
    os.truncate(layout.index, size)
    for number in range(count + 1, following):
        shutil.rmtree(layout.episode(episode_id(number)))
    for name in os.listdir(layout.cache):
        if not name.endswith(".kept"):
            os.unlink(os.path.join(layout.cache, name))
    os.rename(f"{path}.kept", path)
    return costs


def measure(folder: str, count: int, check: int) -> dict[str, Any]:
    """All figures of one memory."""
    layout = memory_of(folder, count)
    build_s = None
    if not current_files(layout, bare=False):
        gc.disable()
        build_s = round(cpu_of(lambda: bring_up_to_date(layout.root)) / 1e3, 1)
        gc.enable()
    (path,) = current_files(layout, bare=False)
    size = os.path.getsize(path)
    sample = [line for number, line in enumerate(read_lines(layout, bare=False)) if number % max(1, count // 2000) == 0]
    return {
        "rows": count,
        "build_cpu_s": build_s,
        "cache_bytes_a_row": round(size / count),
        "opening_ms": measure_opening(layout),
        "process": measure_process(layout),
        "catching_up_us_a_row": measure_catching_up(layout, count),
        "queries": measure_queries(layout, queries(sample, random.Random(count)), check),
    }


def show(result: dict[str, Any]) -> None:
    """Prints the table of one memory as Markdown."""
    print(f"\n### {result['rows']:,} rows\n")
    print("| query | p50 ms | p95 ms | p95 with row objects | bound | rows found | same rows as the scan |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for line in result["queries"]:
        same = f"{line['same_rows']} of {line['compared']}"
        bound = line["bound_ms"] or "-"
        times = f"{line['p50_ms']} | {line['p95_ms']} | {line['p95_with_rows_ms']}"
        print(f"| {line['kind']} | {times} | {bound} | {line['rows']:.0f} | {same} |")
    print(f"\nopening: {result['opening_ms']}, command as a process: {result['process']}")
    print(
        f"catching up, CPU a row: {result['catching_up_us_a_row']} µs; the index: {result['build_cpu_s']} s of CPU to"
    )
    print(f"build, {result['cache_bytes_a_row']} bytes a row", flush=True)


def keep(result: dict[str, Any]) -> None:
    """Writes the result among those of other sizes."""
    kept: dict[str, Any] = {}
    if os.path.exists(RESULTS):
        with open(RESULTS) as file:
            kept = json.load(file)
    before = kept.get(str(result["rows"]), {})
    if result["build_cpu_s"] is None:  # it was built in an earlier run
        result["build_cpu_s"] = before.get("build_cpu_s")
    kept[str(result["rows"])] = result
    os.makedirs(os.path.dirname(RESULTS), exist_ok=True)
    with open(RESULTS, "w") as file:
        json.dump(dict(sorted(kept.items(), key=lambda item: int(item[0]))), file, indent=1)
        file.write("\n")


def main() -> None:
    """Measures, prints, writes."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 10_000, 100_000])
    parser.add_argument("--folder", default=os.path.join(os.path.expanduser("~"), ".cache", "scrubjay-benchmarks"))
    parser.add_argument("--check", type=int, default=VALUES, help="how many of each kind are compared with the scan")
    arguments = parser.parse_args()
    for count in arguments.rows:
        result = measure(arguments.folder, count, arguments.check)
        show(result)
        keep(result)


if __name__ == "__main__":
    main()
