"""What recording costs: CPU of a step, time of finish(), memory, bytes on disk.

    python benchmarks/record.py            # about ten minutes; writes benchmarks/results/record.json
    python benchmarks/record.py --quick    # a minute, smaller numbers of everything; writes nothing

Frames are 640x360, from a seeded walk in a VizDoom map and one in Crafter, made before anything is measured.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

from record_finish import BareEpisode, pairs_of_finish
from record_sources import SOURCES, WORLDS, Walk, store_walk
from scrubjay import Memory

Result = dict[str, Any]
RESULTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results", "record.json")
EPISODE = 40
LIMITS = {
    "step_thread_cpu_ms": 12.0,
    "finish_ratio": 1.5,
    "memory_mb": 150.0,
    "bytes_ratio_40": 0.8,
}


def cpu_of_steps(folder: str, walk: Walk, source: str, episodes: int) -> Result:
    """CPU of the calling thread in each step(), and of the whole process per step with everything it waits for."""
    samples: list[float] = []
    with Memory.create(os.path.join(folder, "cpu")) as memory, memory.live("walk", WORLDS[source]) as life:
        n, whole = 0, 0.0
        for _ in range(episodes):
            first = walk[n]
            began = time.process_time()
            episode = life.episode("walk", {}, frame=first.frame, state=first.state)
            whole += time.process_time() - began
            for _ in range(EPISODE):
                n += 1
                shown = walk[n]
                began, thread = time.process_time(), time.thread_time()
                episode.step({"forward": 1}, frame=shown.frame, state=shown.state)
                samples.append((time.thread_time() - thread) * 1000)
                whole += time.process_time() - began
            began = time.process_time()
            episode.finish("success")
            whole += time.process_time() - began
    samples.sort()
    return {
        "step_thread_cpu_ms": statistics.median(samples),
        "step_thread_cpu_ms_p95": samples[int(0.95 * len(samples))],
        "step_process_cpu_ms": whole * 1000 / len(samples),
        "steps": len(samples),
    }


def bytes_on_disk(folder: str, walk: Walk, source: str, steps: int, length: int) -> Result:
    """Everything under episodes/ (hard links once) next to Pillow's default PNG of the same frames, each once."""
    from PIL import Image

    root = os.path.join(folder, f"bytes-{length}")
    with Memory.create(root) as memory, memory.live("walk", WORLDS[source]) as life:
        for first in range(0, steps, length):
            frame, state = (walk[0].frame, walk[0].state) if first == 0 else (None, None)
            with life.episode("walk", {}, frame=frame, state=state) as episode:
                for n in range(first + 1, first + length + 1):
                    episode.step({"forward": 1}, frame=walk[n].frame, state=walk[n].state)
        used = apparent_size(memory.layout.episodes_folder)
    png = 0
    for n in range(steps + 1):
        buffer = io.BytesIO()
        Image.fromarray(walk[n].frame).save(buffer, format="PNG")
        png += buffer.tell()
    shutil.rmtree(root)
    return {
        f"bytes_ratio_{length}": used / png,
        f"bytes_{length}": used,
        f"png_bytes_{length}": png,
        f"steps_{length}": steps,
    }


def apparent_size(folder: str) -> int:
    """Bytes of all files under a folder, a file with several names once."""
    seen: dict[tuple[int, int], int] = {}
    for path, _, names in os.walk(folder):
        for name in names:
            status = os.lstat(os.path.join(path, name))
            seen[status.st_dev, status.st_ino] = status.st_size
    return sum(seen.values())


def memory_of_recording(folder: str, source: str, path: str, steps: int) -> Result:
    """Greatest resident memory of a process of its own that does nothing but record; the environment is not in it."""
    command = [sys.executable, os.path.abspath(__file__), "--record", path, source, str(steps)]
    root = os.path.join(folder, "memory")
    output = subprocess.run([*command, root], check=True, capture_output=True, text=True).stdout
    shutil.rmtree(root)
    return {**json.loads(output), "memory_steps": steps}


def record_only(path: str, source: str, steps: int, root: str) -> None:
    """Runs in the child: records `steps` steps of a stored walk and prints the memory it took."""
    walk = Walk(path)
    at_start = peak_mb()
    with Memory.create(root) as memory, memory.live("walk", WORLDS[source]) as life:
        for first in range(0, steps, EPISODE):
            with life.episode("walk", {}, frame=walk[first].frame, state=walk[first].state) as episode:
                for n in range(first + 1, first + EPISODE + 1):
                    shown = walk[n]
                    episode.step({"forward": 1}, frame=shown.frame, state=shown.state)
            if first == 0:
                after_one = peak_mb()
    print(json.dumps({"memory_mb": peak_mb(), "memory_mb_one_episode": after_one, "memory_mb_before": at_start}))


def peak_mb() -> float:
    """Greatest resident memory of this process so far (VmHWM), in MB."""
    with open("/proc/self/status", encoding="ascii") as status:
        line = next(line for line in status if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024 / 1e6


def finish_against_bare(folder: str, walk: Walk, source: str, pairs: int) -> Result:
    """finish() with the queue drained and the writer idle, and the bare pattern, in turn."""
    with Memory.create(os.path.join(folder, "finish")) as memory, memory.live("walk", WORLDS[source]) as life:
        bare = BareEpisode(os.path.join(folder, "bare"))
        measured = pairs_of_finish(memory, life, walk, bare, pairs, EPISODE)
    ratios = [pair["finish_ms"] / pair["bare_ms"] for pair in measured]
    return {
        "finish_ratio": statistics.median(ratios),
        "finish_ms": statistics.median(pair["finish_ms"] for pair in measured),
        "bare_ms": statistics.median(pair["bare_ms"] for pair in measured),
        "finish_pairs": measured,
    }


def measure(source: str, quick: bool) -> Result:
    """Every number for one source of frames."""
    folder = tempfile.mkdtemp(prefix="scrubjay-record-", dir=os.environ.get("SCRUBJAY_BENCHMARK_FOLDER"))
    try:
        path = os.path.join(folder, "walk")
        walk = store_walk(source, path, 201 if quick else 401)
        result: Result = {}
        result |= cpu_of_steps(folder, walk, source, 3 if quick else 10)
        result |= finish_against_bare(folder, walk, source, 8 if quick else 60)
        result |= bytes_on_disk(folder, walk, source, len(walk) - 1, EPISODE)
        result |= bytes_on_disk(folder, walk, source, 40 if quick else 200, 1)
        return result | memory_of_recording(folder, source, path, 400 if quick else 10_000)
    finally:
        shutil.rmtree(folder)


def table(results: dict[str, Result]) -> str:
    """The numbers as Markdown, the limit beside each that has one."""
    lines = ["| recording 640x360 frames | VizDoom | Crafter | limit |", "| --- | ---: | ---: | ---: |"]
    for key, what, form in (
        ("step_thread_cpu_ms", "CPU of the calling thread per step, median, ms", ".2f"),
        ("step_thread_cpu_ms_p95", "the same, 95th percentile, ms", ".2f"),
        ("step_process_cpu_ms", "CPU of the whole process per step, mean, ms", ".1f"),
        ("finish_ms", "finish() with the queue drained, median, ms", ".1f"),
        ("bare_ms", "the bare pattern, median, ms", ".1f"),
        ("finish_ratio", "finish() over bare, median of pairs", ".2f"),
        ("memory_mb", "resident memory at most, MB", ".0f"),
        ("memory_mb_one_episode", "the same after one episode, MB", ".0f"),
        ("bytes_ratio_40", "bytes over PNG's, episodes of 40 steps", ".2f"),
        ("bytes_ratio_1", "bytes over PNG's, episodes of 1 step", ".2f"),
    ):
        values = " | ".join(format(results[source][key], form) for source in SOURCES)
        lines.append(f"| {what} | {values} | {LIMITS.get(key, '')} |")
    return "\n".join(lines)


def machine() -> Result:
    """Where this was measured."""
    import numpy
    import PIL

    return {
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "pillow": PIL.__version__,
        "load_before": os.getloadavg()[0],
    }


def main() -> int:
    """Measures, prints the table, writes the results; 1 where a limit is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a minute, smaller numbers of everything")
    parser.add_argument("--record", nargs=4, metavar=("WALK", "SOURCE", "STEPS", "ROOT"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.record:
        path, source, steps, root = arguments.record
        record_only(path, source, int(steps), root)
        return 0
    where = machine()
    results = {source: measure(source, arguments.quick) for source in SOURCES}
    print(table(results))
    if not arguments.quick:
        with open(RESULTS, "w", encoding="utf-8") as file:
            json.dump({"machine": where, "limits": LIMITS, "results": results}, file, indent=1)
    missed = [f"{source}: {key}" for source in SOURCES for key, limit in LIMITS.items() if results[source][key] > limit]
    print("missed: " + ", ".join(missed) if missed else "every limit is kept")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
