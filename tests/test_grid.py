"""The grid keeps up with its file, whatever happens to the file, and answers what lies where."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrubjay.errors import InvalidInput
from scrubjay.memory.grid import Grid, age
from scrubjay.memory.jsonio import Json
from scrubjay.memory.layout import Layout, episode_id
from scrubjay.memory.records import CELL_KINDS, GridRow, World


def row(cell: tuple[int, int, int], kind: str = "walked", step: int = 1, episode: int = 1, **more: Any) -> Json:
    return {"cell": list(cell), "kind": kind, "step": step, "episode": episode_id(episode), "world": "plain", **more}


def put(layout: Layout, *rows: Json, mode: str = "a") -> None:
    with open(layout.grid, mode) as file:
        file.writelines(json.dumps(one) + "\n" for one in rows)


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return Layout(tmp_path)


def test_a_memory_without_a_grid_has_no_rows(layout: Layout) -> None:
    grid = Grid(layout)
    assert grid.rows() == []
    assert grid.cells() == {}
    assert grid.newest() is None
    assert grid.nearest(None, (0, 0, 0)) == []


def test_only_what_was_appended_is_read_again(layout: Layout) -> None:
    grid = Grid(layout)
    put(layout, row((0, 0, 0)), row((1, 0, 0), step=2))
    first = grid.rows()
    put(layout, row((2, 0, 0), step=3))
    second = grid.rows()
    assert [one.cell for one in second] == [(0, 0, 0), (1, 0, 0), (2, 0, 0)]
    assert second[0] is first[0]


def test_a_torn_line_is_read_when_it_is_whole(layout: Layout) -> None:
    grid = Grid(layout)
    line = json.dumps(row((5, 0, 5)))
    put(layout, row((0, 0, 0)))
    with open(layout.grid, "a") as file:
        file.write(line[:30])
    assert len(grid.rows()) == 1
    with open(layout.grid, "a") as file:
        file.write(line[30:] + "\n")
    assert [one.cell for one in grid.rows()] == [(0, 0, 0), (5, 0, 5)]
    assert grid.broken == 0


@pytest.mark.parametrize("way", ["shrunk", "replaced", "rewritten", "gone"])
def test_a_file_that_is_another_is_read_from_its_beginning(layout: Layout, way: str) -> None:
    grid = Grid(layout)
    put(layout, *(row((n, 0, 0), step=n) for n in range(10)))
    assert len(grid.rows()) == 10
    if way == "shrunk":
        put(layout, row((7, 7, 7)), mode="w")
    elif way == "rewritten":
        put(layout, *(row((7, 7, 7), step=1_000_000 + n) for n in range(20)), mode="w")
    else:
        os.rename(layout.grid, layout.grid + ".old")
        if way == "replaced":
            put(layout, *(row((7, 7, 7), step=n) for n in range(10)))
    assert {one.cell for one in grid.rows()} == (set() if way == "gone" else {(7, 7, 7)})


def test_unknown_kinds_and_broken_lines_are_counted_not_fatal(layout: Layout) -> None:
    put(layout, row((0, 0, 0)), row((1, 0, 0), "smelled"), {"cell": [1, 2], "kind": "walked"}, row((2, 0, 0)))
    with open(layout.grid, "a") as file:
        file.write('{"cell": [0, 0,\n')
    put(layout, {**row((3, 0, 0)), "episode": "nonsense"}, row((4, 0, 0)))
    grid = Grid(layout)
    assert [one.cell[0] for one in grid.rows()] == [0, 2, 4]
    assert grid.skipped == {"smelled": 1}
    assert grid.broken == 3


def test_worlds_are_kept_apart(layout: Layout) -> None:
    put(layout, row((0, 0, 0)), {**row((0, 0, 0), "hazard", episode=9), "world": "cave"}, row((1, 0, 0), episode=3))
    assert [one.kind for one in Grid(layout, "cave").rows()] == ["hazard"]
    assert len(Grid(layout).rows("plain")) == 2
    assert len(Grid(layout).rows()) == 3
    newest = Grid(layout).newest()
    assert newest is not None
    assert newest.world == "cave"


def test_nearest_measures_to_the_middle_of_cells_of_the_worlds_size(layout: Layout) -> None:
    with open(layout.worlds, "w") as file:
        file.write(json.dumps(World("plain", cell=10.0).to_json()) + "\n")
    put(layout, row((0, 0, 0), "hazard"), row((3, 0, 0), "hazard", step=2), row((3, 0, 0), "placed", item="table"))
    grid = Grid(layout)
    assert [one.cell for one in grid.nearest("plain", (36.0, 5.0, 5.0), "hazard", 5)] == [(3, 0, 0), (0, 0, 0)]
    assert [one.cell for one in grid.nearest("plain", (19.0, 5.0, 5.0), "hazard")] == [(0, 0, 0)]
    assert grid.nearest("plain", (0, 0, 0), "placed")[0].extra == {"item": "table"}
    for position, kind in (((0, 0), None), ((math.nan, 0, 0), None), ((0, 0, 0), "smelled")):
        with pytest.raises(InvalidInput):
            grid.nearest("plain", position, kind)


cells = st.tuples(*[st.integers(-3, 3)] * 3)
events = st.builds(row, cells, st.sampled_from(CELL_KINDS), st.integers(0, 50), st.integers(1, 9))


@settings(max_examples=40)
@given(batches=st.lists(st.lists(events, max_size=6), max_size=5))
def test_cells_are_what_a_reading_of_everything_gives(
    tmp_path_factory: pytest.TempPathFactory, batches: list[list[Json]]
) -> None:
    layout = Layout(tmp_path_factory.mktemp("grid"))
    grid = Grid(layout)
    seen: dict[tuple[tuple[int, ...], str], GridRow] = {}
    for batch in batches:
        put(layout, *batch)
        for event in map(GridRow.from_json, batch):
            key = (event.cell, event.kind)
            if key not in seen or age(event) >= age(seen[key]):
                seen[key] = event
        found = {(cell, kind): one for cell, kinds in grid.cells("plain").items() for kind, one in kinds.items()}
        assert found == seen
        assert grid.rows("plain") == Grid(layout).rows()
