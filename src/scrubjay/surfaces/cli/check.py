"""`scrubjay check`: verify a memory, and repair it."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time

from scrubjay.surfaces.cli.plain import plain

SUMMARY = "Verify every rule that a file can show: digests, index against episodes, frames against steps, citations."
EXAMPLES = """\
examples:
  scrubjay check runs/diamond            names what is wrong, exit status 1 where something is
  scrubjay check runs/diamond --repair   mends what files alone can mend, then checks again

A repair adds: it fences torn rows, rebuilds index rows from episode folders, adopts episodes whose process died and
completes the grid and the logs. It changes no byte of evidence."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("dir", metavar="DIR", help="folder of the memory")
    parser.add_argument("--repair", action="store_true", help="mend what can be mended without touching evidence")
    parser.add_argument("--json", action="store_true", help="print the report as one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Checks; 0 where all is well, 1 where something is wrong."""
    from scrubjay.memory import folder
    from scrubjay.memory.checking import check, repair
    from scrubjay.public import Memory, cue_makers

    layout, _ = folder.open_folder(arguments.dir, read_only=not arguments.repair)
    show = _Progress(sys.stderr.isatty())
    if arguments.repair:
        report = repair(layout, cue_makers(), lambda line: print(plain(line), file=sys.stderr), show)
        with Memory.open(arguments.dir) as memory:
            found = len(list(memory.find().rows))
            print(f"opened and queried: {found} episodes of the newest life", file=sys.stderr)
    else:
        report = check(layout, show)
    show.end()
    if arguments.json:
        print(json.dumps(report.to_json(), ensure_ascii=False))
        return 0 if report.is_sound else 1
    for problem in report.problems:
        print(plain(str(problem)))
    for note in report.notes:
        print(plain(f"note: {note}"))
    print(", ".join(f"{count:,} {name}" for name, count in sorted(report.counts.items())))
    if report.is_sound:
        print("sound: nothing is wrong")
    else:
        fixable = sum(problem.repair is not None for problem in report.problems)
        many = f"{len(report.problems)} problem{'' if len(report.problems) == 1 else 's'}"
        print(many + (f", {fixable} of which --repair mends" if fixable else ""))
        own = os.path.basename(layout.mine) + "/"
        if any(problem.repair is None and not problem.file.startswith(own) for problem in report.problems):
            print("evidence that is gone or changed comes back only from a copy of its file; all else can be read")
    return 0 if report.is_sound else 1


class _Progress:
    """One line on a terminal, rewritten a few times a second; nothing elsewhere."""

    def __init__(self, is_terminal: bool) -> None:
        self._shown, self._next = is_terminal, time.monotonic() + 0.5
        self._any = False

    def __call__(self, done: int, total: int) -> None:
        if self._shown and time.monotonic() >= self._next:
            self._next, self._any = time.monotonic() + 0.2, True
            print(f"\r{done:,} of {total:,} episodes", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        if self._any:
            print("\r\033[K", end="", file=sys.stderr)
