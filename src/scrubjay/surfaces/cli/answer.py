"""`scrubjay answer`: keep the answer to a question that was asked of evidence."""

from __future__ import annotations

import argparse

SUMMARY = "Store the answer to a question that was asked with --q; the newest answer counts, earlier ones stay."
EXAMPLES = """\
example:
  scrubjay answer runs/diamond q_000012 "Yes: the furnace stands at the north wall."
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("dir", metavar="DIR", help="folder of the memory")
    parser.add_argument("id", metavar="ID", help="the question's id, such as q_000012")
    parser.add_argument("text", metavar="TEXT", help="the answer")


def run(arguments: argparse.Namespace) -> int:
    """Stores the answer."""
    from scrubjay.public import Memory

    with Memory.open(arguments.dir) as memory:
        memory.answer(arguments.id, arguments.text)
    return 0
