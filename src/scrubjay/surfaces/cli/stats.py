"""`scrubjay stats`: what a memory holds, and its disk use."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from dataclasses import asdict

SUMMARY = "What this memory holds and what it weighs: the storage table (Table 8) of the MFM paper, for this memory."
EXAMPLES = """\
examples:
  scrubjay stats runs/diamond
  scrubjay stats runs/diamond --json"""

_WHAT = {
    "episodes": "episode records",
    "states": "step states and actions",
    "frames": "frames (start, end, between)",
    "index": "index rows (cues)",
    "grid": "cell events (spatial grid)",
    "lives": "lives: begun episodes, turns, logs",
    "documents": "documents of the agent and history",
    "inspections": "questions asked of evidence",
    "adapters": "adapters",
    "cache": "cache (can be deleted)",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("dir", metavar="DIR", help="folder of the memory")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Prints the table."""
    from scrubjay.memory import folder
    from scrubjay.retrieval.contents import contents
    from scrubjay.surfaces.cli.plain import plain

    layout, _ = folder.open_folder(arguments.dir, read_only=True)
    found = contents(layout)
    if arguments.json:
        shown = {"parts": [asdict(part) for part in found.parts], "lives": found.lives, "steps": found.steps}
        counts = {name: dict(getattr(found, name)) for name in ("tags", "actions", "outcomes", "cells")}
        print(json.dumps({**shown, **counts, "bytes": found.bytes}, ensure_ascii=False))
        return 0
    per_step = found.bytes / found.steps if found.steps else 0.0
    print(f"{'part':<36}{'count':>10}{'files':>10}{'bytes':>12}{'bytes/step':>12}")
    for part in found.parts:
        each = part.bytes / found.steps if found.steps else 0.0
        print(f"{_WHAT[part.name]:<36}{part.count:>10,}{part.files:>10,}{_size(part.bytes):>12}{_size(each):>12}")
    print(f"{'in all, without the cache':<36}{'':>10}{'':>10}{_size(found.bytes):>12}{_size(per_step):>12}")
    print()
    print(f"lives {found.lives}, steps {found.steps:,}")
    for name, counter in (("actions", found.actions), ("tags", found.tags), ("outcomes", found.outcomes)):
        print(plain(f"{name:<9} {_top(counter)}"))
    print(plain(f"{'cells':<9} {_top(found.cells)}"))
    return 0


def _top(counter: Counter[str], shown: int = 8) -> str:
    if not counter:
        return "-"
    text = ", ".join(f"{name} {count:,}" for name, count in counter.most_common(shown))
    return text + (f", {len(counter) - shown} more" if len(counter) > shown else "")


def _size(count: float) -> str:
    for unit in ("B", "KB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"
