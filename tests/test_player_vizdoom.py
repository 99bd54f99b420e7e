"""The scripted player of VizDoom, and a memory of three dimensions: places, heights, cells, then and now."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from scrubjay import Memory, Query
from scrubjay.agent.loop import Run
from scrubjay.environments.vizdoom import VizDoom
from scrubjay.methods.mrsteve import Sights
from scrubjay.methods.named import make_method
from scrubjay.models.named import make_model
from scrubjay.retrieval.places import describe, views
from scrubjay.surfaces.cli import main


def lived(path: Path, method: str, steps: int) -> Memory:
    memory = Memory.create(path)
    how, environment = make_method(method), VizDoom("MAP01", size=(160, 120))
    Run(
        environment,
        make_model("scripted", "vizdoom"),
        memory,
        seed=1,
        steps=steps,
        lives=1,
        method=method,
        recall=how.recall,
    ).run()
    environment.close()
    return memory


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with lived(tmp_path_factory.mktemp("doom") / "m", "mfm", 160) as memory:
        yield memory


def test_it_fights_takes_and_walks_on(memory: Memory) -> None:
    rows = list(memory.iterate(Query()))
    assert {"go_to", "attack", "collect"} <= {row.action_kind for row in rows}
    reached = {event for row in rows for event in row.events}
    assert {"milestone kill", "milestone pick_up", "milestone explore_25"} <= reached


def test_heights_are_found_apart(memory: Memory) -> None:
    heights = [row.z for row in memory.iterate(Query()) if row.z is not None]
    assert max(heights) - min(heights) >= 64
    low = memory.find(Query(below=-100)).rows
    assert low
    assert all(row.z is not None and row.z < -100 for row in low)
    assert len(low) + len(memory.find(Query(above=-100)).rows) == len(heights)


def test_the_grid_has_cells_at_several_heights(memory: Memory) -> None:
    walked = [row.cell for row in memory.grid().rows() if row.kind == "walked"]
    assert len({cell[2] for cell in walked}) >= 2
    assert len({cell[:2] for cell in walked}) > 15


def test_a_place_is_recalled_by_its_picture_and_shown_beside_now(memory: Memory) -> None:
    row = memory.find(Query(action="go_to")).rows[2]
    frame = memory.episode(row).frame(row.last_step or 0).array()
    best = memory.find(Query(like=b"".join(views(frame)), limit=2)).rows
    assert {row.id} <= {one.id for one in best}
    view = memory.then_now(row.id, frame, question="the same corridor?")
    assert view.size[0] > frame.shape[1]
    sights = Sights(memory, 1)
    assert sights.alike(describe(frame))
    near = sights.find(Query(near=(row.end[0], row.end[1]), radius=200)).rows if row.end else ()
    assert row.id in [one.id for one in near]


def test_without_a_memory_it_goes_on_as_well(tmp_path: Path) -> None:
    with lived(tmp_path / "m", "prolong", 120) as memory:
        assert len(memory.find(Query(action="go_to")).rows) >= 3


def test_the_command_lives_in_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["run", "vizdoom", "--memory", str(tmp_path / "m"), "--steps", "30", "--seed", "1"]
    assert main([*arguments, "--set", "size=[160,120]"]) == 0
    assert "scripted player in vizdoom, seed 1, 30 steps" in capsys.readouterr().out
