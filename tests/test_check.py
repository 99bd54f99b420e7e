"""Given a memory and one thing broken in it: check names the file and byte, repair mends what it may."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from conftest import live_some
from scrubjay import Memory
from scrubjay.memory.checking import Report, check, repair
from scrubjay.memory.evidence import read_record
from scrubjay.public import cue_makers
from scrubjay.surfaces.cli import main


def tree(root: str) -> dict[str, bytes]:
    """Every file of a memory but what can be made again."""
    found = {}
    for folder, _, names in os.walk(root):
        if ".cache" not in folder and ".locks" not in folder:
            for name in names:
                path = os.path.join(folder, name)
                found[os.path.relpath(path, root)] = Path(path).read_bytes()
    return found


def kinds(report: Report) -> set[str]:
    return {problem.kind for problem in report.problems}


def test_a_sound_memory_is_sound_and_counts_come_from_disk(lived: Memory) -> None:
    report = check(lived.layout)
    assert report.is_sound, report.problems
    assert report.counts["finished episodes"] == 4
    assert report.counts["steps"] == 4 * 4
    assert report.counts["frames"] == 4 * 4


def test_check_changes_nothing(lived: Memory) -> None:
    before = tree(lived.root)
    check(lived.layout)
    assert tree(lived.root) == before


def test_a_truncated_tar_says_what_was_expected_and_how_much_is_saved(lived: Memory) -> None:
    path = Path(lived.layout.episode("ep_000001")) / "frames.tar"
    size = path.stat().st_size
    os.truncate(path, 1024)
    problem = next(p for p in check(lived.layout).problems if p.kind == "file-size")
    assert problem.file == "episodes/0000/ep_000001/frames.tar"
    assert problem.offset == 1024
    assert f"{size} bytes were expected, 1024 found; 1 of 2 frames are whole" in problem.message


@pytest.mark.parametrize("name", ["steps.jsonl", "start.webp", "end.webp", "frames.tar"])
def test_a_changed_byte_of_evidence_is_found_and_not_repaired(lived: Memory, name: str) -> None:
    path = Path(lived.layout.episode("ep_000002")) / name
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.unlink()  # start frames are hard links: only this one is to change
    path.write_bytes(bytes(data))
    assert "file-digest" in kinds(check(lived.layout))
    assert "file-digest" in kinds(repair(lived.layout, cue_makers()))


def test_a_changed_record_is_found_by_the_digest_of_its_row(lived: Memory) -> None:
    path = Path(lived.layout.episode("ep_000002")) / "episode.json"
    path.write_bytes(path.read_bytes().replace(b'"success"', b'"failure"'))
    assert "digest" in kinds(check(lived.layout))


@pytest.mark.parametrize("cut", [2, 30, 200])
def test_torn_tails_are_fenced_and_rows_made_again(lived: Memory, cut: int) -> None:
    for path in (lived.layout.index, lived.layout.grid):
        os.truncate(path, os.path.getsize(path) - min(cut, 60))
    found = check(lived.layout)
    assert {"torn-tail", "row-lacks", "grid-lacks"} <= kinds(found)
    assert all(p.offset is not None for p in found.problems if p.kind == "torn-tail")
    said: list[str] = []
    assert repair(lived.layout, cue_makers(), said.append).is_sound
    assert any("ep_000003" in line for line in said)
    assert [row.id for row in lived.find().rows] == [f"ep_{n:06d}" for n in range(4)]


def test_a_lost_index_is_rebuilt_from_the_folders(lived: Memory) -> None:
    before = [row.to_json() for row in lived.find().rows]
    os.truncate(lived.layout.index, 0)
    assert repair(lived.layout, cue_makers()).is_sound
    assert [row.to_json() for row in lived.find().rows] == before


def test_lost_grid_and_log_are_made_again_byte_for_byte(lived: Memory) -> None:
    before = tree(lived.root)
    os.truncate(lived.layout.grid, 0)
    os.truncate(lived.layout.log(1), 100)
    assert repair(lived.layout, cue_makers()).is_sound
    assert tree(lived.root)["grid.jsonl"] == before["grid.jsonl"]


def test_a_broken_line_in_the_middle_costs_that_line_alone(lived: Memory) -> None:
    lines = Path(lived.layout.index).read_bytes().splitlines(keepends=True)
    lines[1] = b'{"id": "ep_0000' + b"\n"
    Path(lived.layout.index).write_bytes(b"".join(lines))
    assert [row.id for row in lived.find().rows] == ["ep_000000", "ep_000002", "ep_000003"]
    report = repair(lived.layout, cue_makers())
    assert report.is_sound
    assert any(f"index.jsonl, byte {len(lines[0])}" in note for note in report.notes)
    assert [row.id for row in lived.find().rows] == [f"ep_{n:06d}" for n in range(4)]


def test_a_dead_life_is_named_and_adopted(tmp_path: Path) -> None:
    memory = Memory.create(tmp_path / "memory")
    life = memory.live(task="die", world="w")
    life.episode("go", {}, state={"pos": [0, 0, 0]}).step(1, state={"pos": [1, 0, 0]})
    life.abandon()
    assert {"dead-life", "orphan"} <= kinds(check(memory.layout))
    assert repair(memory.layout, cue_makers()).is_sound
    record, _ = read_record(memory.layout, "ep_000000")
    assert (record["outcome"], record["last_step"]) == ("interrupted", 1)


def test_a_running_life_is_left_alone(memory: Memory) -> None:
    life = memory.live(task="run", world="w")
    open_episode = life.episode("go", {}, state={"pos": [0, 0, 0]})
    report = repair(memory.layout, cue_makers())
    assert report.is_sound
    assert report.counts["open episodes"] == 1
    open_episode.step(1, state={"pos": [1, 0, 0]})
    assert open_episode.finish("success").outcome == "success"


def test_claims_without_evidence_are_listed(lived: Memory) -> None:
    lived.documents.create(
        "notes.md", "- Iron at the wall [ep_000001].\n- Gold below [ep_000099].\n- Water somewhere.\n"
    )
    messages = [problem.message for problem in check(lived.layout).problems]
    assert len(messages) == 2
    assert "ep_000099" in messages[0]
    assert "Water somewhere" in messages[1]


def test_the_command_exits_1_where_something_is_wrong(lived: Memory, capsys: pytest.CaptureFixture[str]) -> None:
    lived.close()
    assert main(["check", lived.root]) == 0
    os.truncate(lived.layout.grid, 0)
    assert main(["check", lived.root, "--json"]) == 1
    report = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert report["sound"] is False
    assert report["problems"][0]["file"] == "grid.jsonl"
    assert main(["check", lived.root, "--repair"]) == 0


def test_several_lives_and_worlds_are_sound(memory: Memory) -> None:
    for _ in range(3):
        live_some(memory, episodes=2)
    report = check(memory.layout)
    assert report.is_sound, report.problems
    assert report.counts["lives"] == 3


@pytest.mark.parametrize(
    "damage",
    [
        {"evidence": {}},
        {"start": None},
        {"last_step": None},
        {"tags": "x"},
        {"evidence": {"cells": [{"cell": [1], "kind": "walked"}]}},
    ],
)
def test_a_record_of_another_shape_costs_itself_alone(lived: Memory, damage: dict[str, object]) -> None:
    path = Path(lived.layout.episode("ep_000002")) / "episode.json"
    record = json.loads(path.read_text())
    if damage.get("evidence"):
        damage = {"evidence": {**record["evidence"], **damage["evidence"]}}  # type: ignore[dict-item]
    path.write_text(json.dumps({**record, **damage}))
    assert "record" in kinds(check(lived.layout))
    assert "record" in kinds(repair(lived.layout, cue_makers()))
    with Memory.open(lived.root) as again:
        assert len(again.find().rows) == 4
        with again.live(world="seed-7") as life:
            life.episode("go", {}, state={}).finish()


def test_a_folder_in_a_files_place_and_an_odd_name_are_named(lived: Memory) -> None:
    os.mkdir(os.path.join(lived.layout.bucket(0), "ep_0000²"))
    path = Path(lived.layout.episode("ep_000001")) / "end.webp"
    path.unlink()
    path.mkdir()
    assert "file-missing" in kinds(check(lived.layout))


def test_a_cut_record_is_named_once_with_its_place(lived: Memory, capsys: pytest.CaptureFixture[str]) -> None:
    os.truncate(os.path.join(lived.layout.episode("ep_000001"), "episode.json"), 100)
    assert main(["check", lived.root]) == 1
    assert capsys.readouterr().out.count("ep_000001/episode.json, byte") == 1
