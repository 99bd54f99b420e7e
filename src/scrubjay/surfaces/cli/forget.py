"""`scrubjay forget`: a person removes an episode's evidence."""

from __future__ import annotations

import argparse
import sys

SUMMARY = "Remove what an episode shows and says, as a person: its row and every reference stay, resolvable as removed."
EXAMPLES = """\
example:
  scrubjay forget runs/desktop ep_000043 --reason "a password is visible"

It can't be undone. The last observation of the episode before it and the first of the one after it go too where they
are the same. What may still show or quote some of it, such as documents that cite it, is named and not changed."""


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
    from scrubjay.surfaces.cli.plain import plain

    layout, _ = folder.open_folder(arguments.dir, read_only=False)

    def delete_caches() -> None:
        users = folder_to_build_in(layout, bare=True)  # the user's, where a memory that can't be written has its own
        for path in (layout.cache, users):
            if path is not None:
                shutil.rmtree(path, ignore_errors=True)

    left = forget(layout, arguments.reference, arguments.reason, delete_caches)
    print(f"removed the evidence of {arguments.reference}")
    if left:
        print("Not changed, and may show or quote some of it:", file=sys.stderr)
    for found in left:
        print(plain(f"  {found}"), file=sys.stderr)
    print("Copies, backups and exports of this memory are not known here.", file=sys.stderr)
    return 0
