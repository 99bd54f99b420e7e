"""`scrubjay compare`: see several stored frames in one picture."""

from __future__ import annotations

import argparse

SUMMARY = "See 2 to 16 stored frames in one labelled picture."
EXAMPLES = """\
examples:
  scrubjay compare runs/diamond ep_000043 ep_000310
  scrubjay compare runs/diamond ep_000043#2350 ep_000310#4841 --zoom 200 100 64 64 --q "The same furnace?"
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    from scrubjay.surfaces.cli.showing import add_output, zoom_option

    parser.add_argument("dir", metavar="DIR", help="folder of the memory")
    parser.add_argument("references", metavar="REF", nargs="+", help="episodes or steps: ep_000043, ep_000043#2350")
    zoom_option(parser, "the same region of each, in pixels of the stored frames, enlarged")
    add_output(parser)


def run(arguments: argparse.Namespace) -> int:
    """Writes the picture and prints its path."""
    from scrubjay.surfaces.cli.showing import open_for, write

    with open_for(arguments.dir, arguments.q) as memory:
        view = memory.compare(arguments.references, zoom=arguments.zoom, question=arguments.q)
    ends = (arguments.references[0], arguments.references[-1])
    name = "compare-" + "-".join(reference.strip().replace("#", "-") for reference in ends)
    return write(view, arguments.out, name, arguments.dir)
