"""The sample memory of format 1: every later version must open it, find in it and show what it holds."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from scrubjay import Memory, Query
from scrubjay.memory.checking import check

SAMPLE = Path(__file__).parent / "data" / "format1"


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SAMPLE, tmp_path / "sample"))


def test_a_reader_sees_it_as_it_lies(sample: Path) -> None:
    before = {path: path.read_bytes() for path in sample.rglob("*") if path.is_file()}
    with Memory.open(sample, read_only=True) as memory:
        assert [row.id for row in memory.iterate(Query(life="all"))] == [f"ep_{n:06d}" for n in range(4)]
        assert [(life.life, life.outcome) for life in memory.lives()] == [(1, "ended"), (2, None)]
        assert memory.worlds()["desk"].up == "z"
    assert {path: path.read_bytes() for path in sample.rglob("*") if path.is_file()} == before


def test_a_writable_open_adopts_the_life_that_died(sample: Path) -> None:
    with Memory.open(sample) as memory:
        row = memory.episode("ep_000004").row
        assert (row.outcome, row.first_step, row.last_step, row.world) == ("interrupted", 1, 2, "desk")
        assert memory.lives()[1].outcome == "interrupted"
        report = check(memory.layout)
        assert report.is_sound, report.problems


def test_what_it_holds(sample: Path) -> None:
    with Memory.open(sample, read_only=True) as memory:
        go, attack, click = (memory.episode(f"ep_00000{n}") for n in (1, 2, 3))
        assert go.row.summary == "[ACTION] go_to(x=3.0, z=3.0, within=1.5) -> 4 steps: moved 4.0"
        assert go.row.tags == ("damage", "note")
        assert attack.row.summary == "[ACTION] {\"attack\":1} x3: moved 0.0, inv {'log': 2}, milestone ['log_1']"
        assert [step.action for step in attack.steps()] == [{"attack": 1}] * 3 + [None]
        for step in range(1, 5):
            assert tuple(go.frame(step).array()[4, (step * 3) % 20]) == (200, 40 + step, 90)
        assert [step.state["pos"] for step in click.steps()] == [[120, 340, 0], [120, 340, None]]
        assert click.frame(1, "right").array().shape == (16, 24, 3)
        assert memory.documents.read("notes.md").count("\n") == 4
        assert {row.kind for row in memory.grid("seed-7").rows()} == {"walked", "hazard"}


@pytest.mark.parametrize("text", ["设备", "\u00e9 \u00e9", "e\u0301 e\u0301", "IRON?", "heard water", '"health": 20'])
def test_text_is_found(sample: Path, text: str) -> None:
    with Memory.open(sample, read_only=True) as memory:
        assert "ep_000001" in [row.id for row in memory.find(Query(grep=text, life="all")).rows]
