"""`scrubjay report`: one page about a memory that opens from disk."""

from __future__ import annotations

import argparse

SUMMARY = """\
Write one HTML page about a memory: milestones over steps, actions per turn, retrieval lag, map, most-cited episodes,
storage. It needs nothing beside it, and no network."""
EXAMPLES = """\
examples:
  scrubjay report runs/diamond
  scrubjay report runs/diamond --out diamond.html"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("dir", metavar="DIR", help="folder of the memory")
    parser.add_argument("--out", metavar="FILE", default="report.html", help="where to write (default: report.html)")


def run(arguments: argparse.Namespace) -> int:
    """Writes the page and prints its path."""
    from datetime import UTC, datetime

    from scrubjay.memory.handing_out import hand_out
    from scrubjay.surfaces.report.facts import gather
    from scrubjay.surfaces.report.html import report
    from scrubjay.surfaces.web.reader import Reader
    from scrubjay.version import __version__

    reader = Reader(arguments.dir)
    try:
        text = report(gather(reader), f"Made by scrubjay {__version__} on {datetime.now(UTC):%d %B %Y, %H:%M} UTC.")
    finally:
        reader.close()
    hand_out(arguments.out, text.encode(errors="backslashreplace"))
    print(arguments.out)
    return 0
