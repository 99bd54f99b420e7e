"""A map of the grid: every mark where it belongs, bounded, in text and as a picture."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from scrubjay.errors import InvalidInput
from scrubjay.memory.grid import Grid
from scrubjay.memory.jsonio import Json
from scrubjay.memory.layout import Layout, episode_id
from scrubjay.memory.records import CELL_KINDS, World
from scrubjay.public import Memory
from scrubjay.retrieval.map_picture import draw_picture
from scrubjay.retrieval.map_text import draw_text
from scrubjay.retrieval.maps import Chart, Mark, chart, coarser
from scrubjay.retrieval.views import DEFAULT_BOUNDS
from scrubjay.surfaces.cli import main


def row(x: int, z: int, kind: str = "walked", step: int = 1, episode: int = 1, y: int = 64, **more: Any) -> Json:
    return {"cell": [x, y, z], "kind": kind, **more, "step": step, "episode": episode_id(episode), "world": "plain"}


def grid_of(folder: Path, *rows: Json, world: World | None = None) -> Grid:
    layout = Layout(folder)
    Path(layout.grid).write_text("".join(json.dumps(one) + "\n" for one in rows))
    if world is not None:
        Path(layout.worlds).write_text(json.dumps(world.to_json()) + "\n")
    return Grid(layout)


def drawn(grid: Grid, **options: Any) -> Chart:
    found = chart(grid, **options)
    assert found is not None
    return found


HOUSE = (
    row(0, 0),
    row(1, 0, step=2),
    row(2, 0, step=3),
    row(2, 1, step=4),
    row(3, 0, "blocked", step=4),
    row(0, 1, "placed", step=5, item="furnace"),
    row(1, 1, "opened", step=6, item="chest"),
    row(1, 2, "hazard", step=7, what="lava"),
    row(0, 2, "placed", step=8, item="fence"),
)


def test_a_small_map_as_text(tmp_path: Path) -> None:
    assert draw_text(drawn(grid_of(tmp_path, *HOUSE)), 80).splitlines() == [
        "plain: 4 walked, 2 placed, 1 opened, 1 blocked, 1 hazard cells",
        " 0 S · · #",
        "   u O @",
        "   f !",
        "   0     3",
        "· walked   # blocked   O opened   ! hazard   S start   @ newest position",
        "f fence   u furnace   x grows to the right, z down",
    ]


def test_what_is_newer_counts_between_walked_and_blocked(tmp_path: Path) -> None:
    dug = drawn(grid_of(tmp_path, row(0, 0, "blocked"), row(0, 0, step=2), row(1, 0, step=3), row(5, 5, step=9)))
    assert dug.marks[0, 0].kind == "start"
    assert drawn(grid_of(tmp_path, row(5, 5), row(0, 0, step=2), row(0, 0, "blocked", 3), row(9, 9, step=4))).marks[
        0, 0
    ] == Mark("blocked")


def test_rare_things_are_seen_though_walked_over_later(tmp_path: Path) -> None:
    found = drawn(grid_of(tmp_path, row(9, 9), row(0, 0, "hazard", 2), row(0, 0, step=3), row(1, 0, step=4)))
    assert found.marks[0, 0] == Mark("hazard")


def test_a_layer_a_window_and_what_lies_beyond(tmp_path: Path) -> None:
    rows = [row(n, 0, step=n) for n in range(100)] + [row(50, 1, "hazard", 200, y=10)]
    grid = grid_of(tmp_path, *rows)
    assert drawn(grid, height=10.7).counts["hazard"] == 1
    assert drawn(grid, height=10.7).counts["walked"] == 0
    window = drawn(grid, around=(50.5, 0.0), size=11)
    assert window.origin == (45, -5)
    assert window.size == (11, 11)
    assert window.beyond == 101 - 12
    assert "beyond this window" in draw_text(window, 80)
    assert drawn(grid, size=4).origin == (97, -2)
    assert chart(grid, height=3.0) is None
    assert chart(grid, "nowhere") is None
    for wrong in ({"size": 0}, {"around": (float("nan"), 0.0)}):
        with pytest.raises(InvalidInput):
            chart(grid, **wrong)


def test_where_z_is_up_the_second_axis_grows_upwards(tmp_path: Path) -> None:
    def event(x: int, y: int, step: int) -> Json:
        return {**row(0, 0, step=step), "cell": [x, y, 7]}

    found = drawn(grid_of(tmp_path, event(0, 0, 1), event(0, 1, 2), world=World("plain", up="z", cell=32.0)))
    assert found.axes == ("x", "y")
    text = draw_text(found, 80)
    assert text.index("@") < text.index("S")
    assert "y up" in text
    assert "32 @" in text


def test_a_large_map_says_how_many_cells_share_a_character(tmp_path: Path) -> None:
    rows = [row(n, n // 2, step=n) for n in range(-500, 500)] + [row(3, 2, "hazard", 2000)]
    text = draw_text(drawn(grid_of(tmp_path, *rows)), 80)
    assert max(map(len, text.splitlines())) <= 80
    assert len(text.splitlines()) <= 70
    assert "1 character = " in text
    assert any("!" in line for line in text.splitlines()[1:-3])


@pytest.mark.parametrize("far", [10**9, 10**15, 10**300])
def test_two_far_positions_are_drawn_at_once(tmp_path: Path, far: int) -> None:
    """The search for how many cells share a place once went up by ones: days, where one position was 10^15 away."""
    whole = drawn(grid_of(tmp_path, row(-far, 3), row(3, -far, step=2), row(far - 7, far, "blocked", step=3)))
    assert set("S@#") <= set(draw_text(whole, 80))
    for most in ((75, 60), (9, 8), (512, 300)):
        shown = coarser(whole, most)
        assert all(
            room * 0.9 <= count <= room for count, room in zip(shown.places, most, strict=True) if room == min(most)
        )
    assert max(draw_picture(whole, DEFAULT_BOUNDS).size) <= DEFAULT_BOUNDS.long_edge


def test_paths_break_where_a_life_jumped_and_belong_to_it(tmp_path: Path) -> None:
    first = (row(0, 0), row(1, 0, step=2), row(2, 0, step=3, episode=2), row(90, 0, step=4, episode=3))
    grid = grid_of(tmp_path, *first, row(0, 0, episode=4))
    paths = drawn(grid, lives={episode_id(4): 2}).paths
    assert paths == {1: [[(0, 0), (1, 0), (2, 0)], [(90, 0)]], 2: [[(0, 0)]]}


def test_more_items_than_letters_are_still_marked(tmp_path: Path) -> None:
    rows = [row(n, 0, "placed", item=f"thing {n}") for n in range(40)]
    found = drawn(grid_of(tmp_path, *rows))
    assert all(mark.letter for mark in found.marks.values())
    assert draw_picture(found, DEFAULT_BOUNDS).size[0] <= 1568


@settings(max_examples=8)
@given(
    events=st.lists(
        st.tuples(st.integers(-9999, 9999), st.integers(-9999, 9999), st.sampled_from(CELL_KINDS)),
        min_size=1,
        max_size=30,
    ),
    width=st.integers(20, 200),
)
def test_any_map_is_bounded(
    tmp_path_factory: pytest.TempPathFactory, events: list[tuple[int, int, str]], width: int
) -> None:
    rows = [row(x, z, kind, step) for step, (x, z, kind) in enumerate(events)]
    found = drawn(grid_of(tmp_path_factory.mktemp("map"), *rows))
    lines = draw_text(found, width).splitlines()
    assert len(lines) < 60 + 20
    assert max(map(len, lines[1:])) <= max(width, 40)
    view = draw_picture(found, DEFAULT_BOUNDS)
    assert DEFAULT_BOUNDS.hold(view.size, len(view.data))


def test_the_command_prints_writes_and_lists(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = str(tmp_path / "memory")
    with Memory.create(root) as memory:
        assert main(["map", root]) == 0
        assert "the grid is empty" in capsys.readouterr().err
        with memory.live(world="plain") as life:
            frame = numpy.zeros((4, 4, 3), numpy.uint8)
            with life.episode("go", {}, frame=frame, state={"pos": [0.5, 64.0, 0.5]}) as episode:
                for step in range(1, 8):
                    episode.step({"forward": 1}, frame=frame, state={"pos": [0.5 + step, 64.0, 0.5]})
                episode.finish()
    assert main(["map", root]) == 0
    assert "S · · · · · · @" in capsys.readouterr().out
    assert main(["map", root, "--json", "--around", "2", "0", "--size", "3"]) == 0
    assert [json.loads(line)["cell"] for line in capsys.readouterr().out.splitlines()] == [
        [1, 64, 0],
        [2, 64, 0],
        [3, 64, 0],
    ]
    monkeypatch.chdir(tmp_path)
    assert main(["map", root, "--out", "map.png"]) == 0
    assert capsys.readouterr().out == "map.png\n"
    with Image.open("map.png") as image:
        assert image.format == "PNG"
    assert main(["map", root, "--world", "moon"]) == 0
    assert "the grid has plain" in capsys.readouterr().err
    assert main(["map", root, "--height", "1"]) == 0
    assert "no cell at height 1" in capsys.readouterr().err
    assert main(["map", root, "--size", "0"]) == 1
