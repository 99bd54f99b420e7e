"""`scrubjay serve`: a memory for other programs and for people, each way of serving in a package of its own."""

from __future__ import annotations

import argparse
import importlib

SUMMARY = "Serve a memory to other programs or to a person. `scrubjay serve web --help` shows the options of one way."

# Each is a module with `SUMMARY`, `EXAMPLES`, `configure(parser)` and `run(arguments)`.
SERVERS = {
    "mcp": ("scrubjay.surfaces.mcp.command", "agents, over the Model Context Protocol"),
    "web": ("scrubjay.surfaces.web.command", "a person, in a browser"),
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the ways of serving."""
    ways = parser.add_subparsers(dest="way", required=True, metavar="WAY")
    for name, (path, what) in SERVERS.items():
        module = importlib.import_module(path)
        way = ways.add_parser(
            name, help=what, description=module.SUMMARY, epilog=module.EXAMPLES, formatter_class=parser.formatter_class
        )
        module.configure(way)


def run(arguments: argparse.Namespace) -> int:
    """Serves until it is told to end."""
    return int(importlib.import_module(SERVERS[arguments.way][0]).run(arguments))
