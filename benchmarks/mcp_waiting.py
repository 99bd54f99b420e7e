"""How long an MCP client waits for `episodes`: a real client and a real server process on a pipe, generated memories.

    python benchmarks/mcp_waiting.py --rows 1000 100000        memories are kept in --folder

The time of a call is what the client sees: writing the request, the server's search, rows as lines and as objects,
and the client's own check of the reply. Kinds of queries and their values are those of `query.py`. The index is built
before the first call. Writes benchmarks/results/mcp_waiting.json and prints the table.

On a machine that is busy with other work it measures that work: `chrt -f 20 python benchmarks/mcp_waiting.py` (Linux,
as root) asks for the cores first, and the results say so.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import sys
import time
from typing import Any

import anyio
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from query import queries
from query_memories import memory_of
from scrubjay import Query
from scrubjay.memory.layout import Layout
from scrubjay.retrieval.build import bring_up_to_date
from scrubjay.retrieval.cues import read_lines

RESULTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results", "mcp_waiting.json")
PASSES = 5
WARMING = 20
BOUND_MS = 15.0
KINDS = (
    "last", "steps", "near", "near + tag", "action + tag", "two rare tags", "rare text", "regex", "common text",
    "since", "tag, a page",
)  # fmt: skip


def arguments_of(query: Query) -> dict[str, Any]:
    """The arguments of a call that asks for the same."""
    values = {name: getattr(query, name) for name in query.__dataclass_fields__}
    given = {name: value for name, value in values.items() if value not in (None, False) and name != "limit"}
    return {**given, "tag": list(query.tags)} if query.tags else given


async def measure(layout: Layout) -> dict[str, Any]:
    """Waiting times of every kind of query, in milliseconds, in the order they were asked."""
    asked = queries(list(read_lines(layout, bare=False)), random.Random(7))
    calls = {kind: [arguments_of(query) for query in asked[kind]] for kind in KINDS}
    times: dict[str, list[float]] = {kind: [] for kind in KINDS}
    rows: dict[str, list[int]] = {kind: [] for kind in KINDS}
    server = StdioServerParameters(command=sys.executable, args=["-m", "scrubjay", "serve", "mcp", layout.root])
    begin = time.perf_counter()
    async with Client(stdio_client(server)) as client:
        await client.call_tool("episodes", {"last": 1})
        started = time.perf_counter() - begin
        for _ in range(WARMING):
            await client.call_tool("episodes", {"last": 20})
        for _ in range(PASSES):
            for kind, several in calls.items():
                for call in several:
                    begin = time.perf_counter()
                    reply = await client.call_tool("episodes", call)
                    times[kind].append((time.perf_counter() - begin) * 1000)
                    if reply.is_error:
                        raise SystemExit(f"{call}: {reply.content}")
                    rows[kind].append(len(reply.structured_content["rows"]))
    every = [one for several in times.values() for one in several]
    kinds = {kind: {**spread(times[kind]), "rows": sum(rows[kind]) / len(rows[kind])} for kind in KINDS}
    return {"seconds_to_first_answer": started, "all": spread(every), "kinds": kinds}


def spread(times: list[float]) -> dict[str, float]:
    """Median, 95th percentile and greatest of waiting times."""
    ordered = sorted(times)
    return {
        "calls": len(ordered),
        "p50_ms": ordered[len(ordered) // 2],
        "p95_ms": ordered[math.ceil(0.95 * len(ordered)) - 1],
        "max_ms": ordered[-1],
    }


def table(results: dict[str, Any]) -> str:
    """The table as Markdown."""
    lines = [
        "| episodes | query | rows | p50 ms | p95 ms | max ms |",
        "| ---: | --- | ---: | ---: | ---: | ---: |",
    ]
    for count, found in results["memories"].items():
        for kind, one in {**found["kinds"], "all": found["all"]}.items():
            rows = f"{one['rows']:.0f}" if "rows" in one else ""
            times = " | ".join(f"{one[name]:.1f}" for name in ("p50_ms", "p95_ms", "max_ms"))
            lines.append(f"| {int(count):,} | {kind} | {rows} | {times} |")
    return "\n".join(lines)


def main() -> int:
    """Measures, writes and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 100_000])
    parser.add_argument("--folder", default=os.path.join(os.path.expanduser("~"), ".cache", "scrubjay-benchmarks"))
    options = parser.parse_args()
    memories: dict[str, Any] = {}
    for count in options.rows:
        layout = memory_of(options.folder, count)
        bring_up_to_date(layout.root)
        memories[str(count)] = anyio.run(measure, layout)
    machine = {"cores": os.cpu_count(), "load": os.getloadavg()[0], "python": sys.version.split()[0]}
    machine["real_time"] = os.sched_getscheduler(0) != os.SCHED_OTHER
    results = {**machine, "passes": PASSES, "memories": memories}
    with open(RESULTS, "w") as file:
        json.dump(results, file, indent=1)
        file.write("\n")
    print(table(results))
    worst = max(found["all"]["p95_ms"] for found in memories.values())
    print(f"\np95 of all calls: {worst:.1f} ms, {BOUND_MS:.0f} are allowed")
    return 0 if worst < BOUND_MS else 1


if __name__ == "__main__":
    sys.exit(main())
