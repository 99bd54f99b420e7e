"""`scrubjay map`: the grid as text on the terminal, and as a picture."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrubjay.memory.grid import Grid
    from scrubjay.public import Memory
    from scrubjay.retrieval.maps import Chart

SUMMARY = "Draw the grid: where it walked, what is in which cell."
EXAMPLES = """\
examples:
  scrubjay map runs/diamond
  scrubjay map runs/diamond --out map.png
  scrubjay map runs/diamond --around 3153 1401 --size 30 --height 64
  scrubjay map runs/diamond --json
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("dir", metavar="DIR", help="folder of the memory")
    parser.add_argument("--out", metavar="PNG", help="write a picture instead of text")
    parser.add_argument("--world", metavar="W", help="which world (default: that of the newest cell)")
    parser.add_argument("--height", type=float, metavar="Y", help="one layer of cells, by its vertical coordinate")
    parser.add_argument("--around", type=float, nargs=2, metavar=("X", "Z"), help="the middle of the map")
    parser.add_argument("--size", type=int, metavar="N", help="cells along an edge (with --around: default 40)")
    parser.add_argument("--json", action="store_true", help="the newest row of each cell and kind, as JSON lines")


def run(arguments: argparse.Namespace) -> int:
    """Prints the map, or writes it and prints its path."""
    from scrubjay.errors import NotFound
    from scrubjay.public import Memory
    from scrubjay.retrieval.maps import chart
    from scrubjay.surfaces.cli.plain import plain

    with Memory.open(arguments.dir, read_only=True) as memory:
        if memory.format == 0:
            raise NotFound(f"{memory.root} is a published run, an index alone (format 0): it has no grid to draw")
        grid = memory.grid()
        around = None if arguments.around is None else (arguments.around[0], arguments.around[1])
        found = chart(
            grid,
            arguments.world,
            height=arguments.height,
            around=around,
            size=arguments.size,
            lives=_lives(memory) if arguments.out else None,
        )
        if found is None:
            print(plain(_nothing(grid, arguments)), file=sys.stderr)
            return 0
        if arguments.json:
            _print_rows(grid, found)
            return 0
    return _show(found, arguments.out)


def _show(found: Chart, out: str | None) -> int:
    from scrubjay.surfaces.cli.plain import plain

    if out is None:
        from scrubjay.retrieval.map_text import draw_text

        print(plain(draw_text(found, shutil.get_terminal_size((100, 40)).columns)))
        return 0
    from scrubjay.retrieval.map_picture import draw_picture
    from scrubjay.retrieval.map_text import summary
    from scrubjay.retrieval.views import DEFAULT_BOUNDS

    print(draw_picture(found, DEFAULT_BOUNDS).save(out))
    print(plain(f"  {summary(found)}"), file=sys.stderr)
    return 0


def _lives(memory: Memory) -> dict[str, int]:
    from scrubjay.retrieval.query import ALL_LIVES, Query

    return {row.id: row.life for row in memory.iterate(Query(life=ALL_LIVES))}


def _nothing(grid: Grid, arguments: argparse.Namespace) -> str:
    worlds = sorted({row.world or "(no world)" for row in grid.rows()})
    if not worlds:
        return "(the grid is empty: no episode with a position is recorded yet)"
    if arguments.world is not None and arguments.world not in worlds:
        return f"(nothing is known of world {arguments.world!r}; the grid has {', '.join(worlds)})"
    return f"(no cell at height {arguments.height:g}; leave out --height to see all layers)"


def _print_rows(grid: Grid, found: Chart) -> None:
    for _, kinds in sorted(grid.cells(found.world.world or None).items()):
        for row in kinds.values():
            if (row.world or "") == found.world.world and found.shows(row):
                print(json.dumps(row.to_json(), ensure_ascii=False))
