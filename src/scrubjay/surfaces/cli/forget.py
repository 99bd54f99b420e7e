"""`scrubjay forget`: a person removes an episode's evidence."""

from __future__ import annotations

import argparse
import sys

SUMMARY = "Remove what an episode shows and says, as a person: its row and every reference stay, resolvable as removed."
EXAMPLES = """\
example:
  scrubjay forget runs/desktop ep_000043 --reason "a password is visible"

It can't be undone. Documents that quote the episode are not changed:
`scrubjay memory DIR cites ep_000043` names them."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("dir", metavar="DIR", help="folder of the memory")
    parser.add_argument("reference", metavar="REF", help="the episode, such as ep_000043")
    parser.add_argument("--reason", required=True, metavar="TEXT", help="why; kept in its place")


def run(arguments: argparse.Namespace) -> int:
    """Removes; 0 where done."""
    import shutil

    from scrubjay.memory import folder
    from scrubjay.memory.forgetting import forget
    from scrubjay.retrieval.cache_files import folder_to_build_in

    layout, _ = folder.open_folder(arguments.dir, read_only=False)

    def delete_caches() -> None:
        users = folder_to_build_in(layout, bare=True)  # the user's, where a memory that can't be written has its own
        for path in (layout.cache, users):
            if path is not None:
                shutil.rmtree(path, ignore_errors=True)

    left = forget(layout, arguments.reference, arguments.reason, delete_caches)
    print(f"removed the evidence of {arguments.reference}")
    for found in left:
        print(f"still there: {found}; forget that episode too if it must go", file=sys.stderr)
    return 0
