"""`scrubjay install`: tell the coding agents of a project that there is a memory, and how to use it from a shell."""

from __future__ import annotations

import argparse
import sys

SUMMARY = """\
Write into a project what its coding agents need to use a memory from a shell: a block of AGENTS.md, between markers
and without touching the rest, and an Agent Skill in .agents/skills/scrubjay/. The memory is made where none is."""

EXAMPLES = """\
examples:
  scrubjay install memory                      into this folder, about the memory in ./memory
  scrubjay install memory --into ~/project --show
  scrubjay install --into ~/project --remove   takes both out again
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("dir", metavar="DIR", nargs="?", help="folder of the memory")
    parser.add_argument("--into", metavar="FOLDER", default=".", help="the project (default: this folder)")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--show", "--dry-run", action="store_true", help="print what would be written; change nothing")
    what.add_argument("--remove", action="store_true", help="take out what was written")


def run(arguments: argparse.Namespace) -> int:
    """Writes, shows or removes."""
    from scrubjay.surfaces.guide import Project

    if arguments.dir is None and not arguments.remove:
        print("scrubjay install: DIR is missing: the folder of the memory", file=sys.stderr)
        return 2
    project = Project(arguments.into)
    if arguments.remove:
        for path in project.remove():
            print(f"removed {path}")
        return 0
    files = project.files(arguments.dir)
    if arguments.show:
        for path, text in files.items():
            print(f"--- {path}\n{text}", end="")
        return 0
    for path in project.write(arguments.dir):
        print(path)
    return 0
