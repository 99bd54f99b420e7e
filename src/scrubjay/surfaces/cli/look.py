"""`scrubjay look`: see one stored frame, or a region of it."""

from __future__ import annotations

import argparse

SUMMARY = "See the stored frame of an episode's start or of a step, or a region of it enlarged."
EXAMPLES = """\
examples:
  scrubjay look runs/diamond ep_000043
  scrubjay look runs/diamond ep_000043#2350 --zoom 100 80 64 64 --out door.png
  scrubjay look runs/diamond ep_000043#2350 --q "Is the furnace still there?"

The path of the picture is printed. A frame that fits comes as it is stored, byte for byte."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    from scrubjay.surfaces.cli.showing import add_output, zoom_option

    parser.add_argument("dir", metavar="DIR", help="folder of the memory")
    parser.add_argument("reference", metavar="REF", help="an episode or a step: ep_000043, ep_000043#2350")
    zoom_option(parser, "only this region, in pixels of the stored frame, enlarged")
    parser.add_argument("--camera", metavar="C", help="which camera, where there are several")
    add_output(parser)


def run(arguments: argparse.Namespace) -> int:
    """Writes the picture and prints its path."""
    from scrubjay.surfaces.cli.showing import open_for, write

    with open_for(arguments.dir, arguments.q) as memory:
        view = memory.look(arguments.reference, zoom=arguments.zoom, camera=arguments.camera, question=arguments.q)
    parts = [arguments.reference.strip().replace("#", "-")]
    if arguments.camera:
        parts.append("".join(c if c.isalnum() else "_" for c in arguments.camera))
    if arguments.zoom:
        parts.append("zoom-{}-{}-{}-{}".format(*arguments.zoom))
    return write(view, arguments.out, "-".join(parts), arguments.dir)
