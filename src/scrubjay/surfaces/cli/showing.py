"""What the commands that show evidence share: opening a memory for a look, writing the picture, saying what it is."""

from __future__ import annotations

import argparse
import shlex
import sys
from typing import TYPE_CHECKING

from scrubjay.errors import ReadOnly
from scrubjay.surfaces.cli.plain import plain

if TYPE_CHECKING:
    from scrubjay.public import Memory
    from scrubjay.retrieval.views import Source, View

__all__ = ["add_output", "open_for", "write", "zoom_option"]


def add_output(parser: argparse.ArgumentParser) -> None:
    """Adds where the picture goes, and the question it is to answer."""
    parser.add_argument("--out", metavar="OUT", help="where to write the picture (default: a file in this folder)")
    parser.add_argument("--q", metavar="TEXT", help="the question that this look is to answer; kept, with its answer")


def zoom_option(parser: argparse.ArgumentParser, what: str) -> None:
    """Adds `--zoom`."""
    parser.add_argument("--zoom", type=int, nargs=4, metavar=("X", "Y", "W", "H"), help=what)


def open_for(folder: str, question: str | None) -> Memory:
    """The memory: writable only where a question is to be kept, and where that is possible."""
    from scrubjay.public import Memory

    if question is None:
        return Memory.open(folder, read_only=True)
    try:
        return Memory.open(folder)
    except ReadOnly:
        return Memory.open(folder, read_only=True)


def write(view: View, out: str | None, name: str, folder: str) -> int:
    """Writes the picture and prints its path; what it shows goes to stderr."""
    print(view.save(out or f"{name}.{view.extension}"))
    for source in view.sources:
        print(plain(f"  {_told(source)}"), file=sys.stderr)
    if view.inspection is not None:
        print(f"  Q: {view.question}", file=sys.stderr)
        print(f"  answer it: scrubjay answer {shlex.quote(folder)} {view.inspection} TEXT", file=sys.stderr)
    if view.warning is not None:
        print(f"  {view.warning}", file=sys.stderr)
    return 0


def _told(source: Source) -> str:
    name = str(source.reference) + (f" camera {source.camera}" if source.camera else "")
    if source.size is None:
        return f"{name}: {source.missing}"
    text = "{}, {}x{} pixels".format(name, *source.size)
    if source.region is not None:
        text += ", region {} {} {} {}".format(*source.region) + (" (what lies inside)" if source.clipped else "")
    return text
