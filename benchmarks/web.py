"""How long each page of `scrubjay serve web` takes, over a generated memory and a real server on the loopback.

    python benchmarks/web.py [EPISODES] [--folder DIR]      (100,000 episodes)

The memory is that of the query benchmark with a grid, frames in every hundredth episode, turns, calls, and documents
that cite; every page is asked for `ROUNDS` times by one client after the server has read the index. It prints the
table and writes benchmarks/results/web.json.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from query_memories import LIVES, WORLDS, memory_of
from scrubjay.memory import journal
from scrubjay.memory.document_changes import Change, digest_of
from scrubjay.memory.evidence import read_record
from scrubjay.memory.jsonio import dumps
from scrubjay.memory.layout import Layout, episode_id
from scrubjay.memory.record import encode, grid_rows
from scrubjay.memory.splices import Splice

ROUNDS = 15
RESULTS = Path(__file__).parent / "results" / "web.json"
FRAME_EVERY = 100


def complete(layout: Layout, count: int) -> None:
    """Adds what the query benchmark's memory lacks and pages show: grid, frames, turns, calls, documents."""
    if os.path.exists(layout.grid):
        return
    choice = random.Random(count)
    frame = _frame()
    with open(f"{layout.grid}.unfinished", "wb") as grid:
        for number in range(1, count + 1):
            path = os.path.join(layout.episode(episode_id(number)), Layout.EPISODE_RECORD)
            with open(path, "rb") as file:
                record = json.loads(file.read())
            grid.writelines(dumps(row.to_json()) + b"\n" for row in grid_rows(record))
            if number % 40 == 0 and record["start"]["pos"] is not None:
                cell = [int(value) for value in record["start"]["pos"]]
                hazard = {"cell": cell, "kind": "hazard", "what": "lava", "step": record["first_step"]}
                grid.write(dumps({**hazard, "episode": record["id"], "world": record["world"]}) + b"\n")
            if number % FRAME_EVERY == 0:
                _give_frame(layout, record, frame)
    _turns(layout, count, choice)
    _documents(layout, count, choice)
    os.replace(f"{layout.grid}.unfinished", layout.grid)


def _frame() -> bytes:
    import io

    import numpy as np
    from PIL import Image

    pixels = np.random.default_rng(1).integers(0, 255, (30, 53, 3), np.uint8).repeat(12, 0).repeat(12, 1)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "WEBP", lossless=True, quality=0)
    return buffer.getvalue()


def _give_frame(layout: Layout, record: dict[str, object], data: bytes) -> None:
    folder = layout.episode(str(record["id"]))
    first, last = record["first_step"], record["last_step"]
    evidence = {"frames": {"0.webp": {"file": "start.webp"}}, "files": {"start.webp": {"size": len(data)}}}
    held = record["evidence"]
    assert isinstance(held, dict)
    with open(os.path.join(folder, "start.webp"), "wb") as file:
        file.write(data)
    with open(os.path.join(folder, Layout.EPISODE_RECORD), "wb") as file:
        file.write(encode({**record, "evidence": {**held, **evidence}}))
    start, end = record["start"], record["end"]
    assert isinstance(start, dict)
    assert isinstance(end, dict)
    with open(os.path.join(folder, Layout.STEPS), "wb") as file:
        rows = [
            {"step": first, "time": record["started"], "state": start["state"], "frame": "0.webp"},
            {"step": last, "time": record["ended"], "state": end["state"], "frame": None, "after": {"forward": 1}},
        ]
        file.writelines(dumps(row) + b"\n" for row in rows)


def _turns(layout: Layout, count: int, choice: random.Random) -> None:
    of_life: dict[int, list[tuple[str, int]]] = {}
    calls = []
    for row in journal.rows(layout.index):
        of_life.setdefault(row["life"], []).append((row["id"], row["first_step"]))
    for life, episodes in of_life.items():
        rows = []
        for at in range(0, len(episodes), 4):
            ident, step = episodes[at]
            looked = [choice.choice(episodes[: at + 1])[0]] if choice.random() < 0.3 else []
            several = [one for one, _ in episodes[at : at + 4]]
            turn = {"turn": at // 4 + 1, "first_step": step, "last_step": step + 1, "episodes": several}
            rows.append({**turn, "entries": [["go_to", 1]], "intention": "walk on", "inspected": looked})
            if at % 40 == 0:
                call = {"procedure": "cut-step", "outcome": choice.choice(("success", "failure")), "steps": 3}
                calls.append({**call, "life": life, "step": step, "episodes": [ident], "arguments": {"n": 1}})
        os.makedirs(layout.life(life), exist_ok=True)
        with open(layout.turns(life), "wb") as file:
            file.writelines(dumps(row) + b"\n" for row in rows)
    with open(layout.procedures_journal, "wb") as file:
        file.writelines(dumps(row) + b"\n" for row in calls)


def _documents(layout: Layout, count: int, choice: random.Random) -> None:
    def claim(number: int) -> str:
        return f"- In the {choice.choice(WORLDS)}, claim {number} [{episode_id(choice.randint(1, count))}].\n"

    contents = {
        "notes.md": "# Notes\n\n" + "".join(map(claim, range(400))),
        "GUIDE.md": "# Guide\n\n" + "".join(map(claim, range(60))) + "- A claim without evidence.\n",
        **{Layout.working(life): "".join(map(claim, range(120))) for life in range(1, LIVES + 1)},
        "procedures/cut-step/SKILL.md": "---\nname: cut-step\ndescription: cuts a step\n---\n\nCut.\n",
    }
    changes: list[Change] = []
    for path, text in contents.items():
        full = os.path.join(layout.mine, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        Path(full).write_text(text)
        content = b""
        for line in text.encode().splitlines(keepends=True):
            before = digest_of(content) if content else None
            splice = Splice(len(content), b"", line)
            content += line
            when = "2026-11-30T12:00:00+00:00"
            changes.append(Change("append", path, splice, before, digest_of(content), 1, 5, "agent", when))
    with open(layout.documents_journal, "wb") as file:
        file.writelines(dumps(change.to_json()) + b"\n" for change in changes)


def pages(layout: Layout, count: int) -> dict[str, str]:
    """What is asked for, by the name it has in the table."""
    framed = episode_id(count // 2 // FRAME_EVERY * FRAME_EVERY)
    step = read_record(layout, framed)[0]["last_step"]
    return {
        "home": "/",
        "a life": f"/lives/{LIVES // 2}",
        "an episode": f"/episodes/{framed}",
        "a step of it": f"/episodes/{framed}/steps/{step}",
        "a frame": f"/frames/{framed}/start",
        "a thumbnail, kept": f"/thumbnails/{framed}/start",
        "search: nothing asked": "/search",
        "search: a tag": "/search?tag=milestone",
        "search: near": "/search?near_1=0&near_2=0&radius=200&world=seed-7",
        "search: rare text": "/search?grep=POL-358",
        "search: common text": "/search?grep=oak_log",
        "search: words": "/search?match=village+lava",
        "search: a regular expression": "/search?regex=tin.whistle",
        "map": "/map",
        "map: cells, kept": "/map/cells?world=seed-7",
        "map: cells of a height, kept": "/map/cells?world=seed-7&height=64",
        "map: path of a life, kept": "/map/path?world=seed-7&life=4",
        "map: one cell": "/map/at?world=seed-7&a=0&b=0&block=8",
        "documents": "/documents",
        "a document": "/documents/notes.md",
        "history of a document": "/history/notes.md",
        "procedures": "/procedures",
        "a procedure with its runs": "/procedures/procedure/cut-step",
        "compare": f"/compare?ref={framed}+{episode_id(FRAME_EVERY)}",
        "did anything change?": "/live",
    }


def asked(address: str) -> tuple[float, int]:
    """Milliseconds, and bytes of the answer."""
    begin = time.perf_counter()
    with urllib.request.urlopen(address) as answer:
        size = len(answer.read())
    return (time.perf_counter() - begin) * 1000, size


def measure(layout: Layout, count: int, port: int) -> dict[str, object]:
    """Starts the server, waits for it, asks for every page."""
    command = [sys.executable, "-m", "scrubjay", "serve", "web", layout.root, "--http", f"127.0.0.1:{port}"]
    environment = {**os.environ, "no_proxy": "127.0.0.1"}
    server = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE)
    base = f"http://127.0.0.1:{port}"
    try:
        begin = time.perf_counter()
        while True:
            try:
                asked(base + "/")
                break
            except OSError:
                if server.poll() is not None:
                    raise RuntimeError(server.stderr.read().decode() if server.stderr else "no server") from None
                time.sleep(0.05)
        first = (time.perf_counter() - begin) * 1000
        for path in pages(layout, count).values():
            asked(base + path)  # what is kept is made, and the derived index is built
        time.sleep(20)
        rows = {}
        for name, path in pages(layout, count).items():
            times = sorted(asked(base + path)[0] for _ in range(ROUNDS))
            rows[name] = {
                "median_ms": round(statistics.median(times), 1),
                "worst_ms": round(times[-1], 1),
                "kilobytes": round(asked(base + path)[1] / 1000, 1),
            }
    finally:
        server.terminate()
        server.wait()
    return {"episodes": count, "first_page_ms": round(first), "rounds": ROUNDS, "pages": rows}


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=100_000)
    parser.add_argument("--folder", default="/tmp/scrubjay-web")
    parser.add_argument("--port", type=int, default=8749)
    arguments = parser.parse_args()
    layout = memory_of(arguments.folder, arguments.count)
    complete(layout, arguments.count)
    found = measure(layout, arguments.count, arguments.port)
    RESULTS.write_text(json.dumps(found, indent=1) + "\n")
    print(f"{arguments.count:,} episodes; the first page after the start of the server: {found['first_page_ms']} ms")
    print(f"{'page':<32}{'median ms':>11}{'worst ms':>11}{'KB':>9}")
    rows = found["pages"]
    assert isinstance(rows, dict)
    for name, row in rows.items():
        print(f"{name:<32}{row['median_ms']:>11}{row['worst_ms']:>11}{row['kilobytes']:>9}")


if __name__ == "__main__":
    main()
