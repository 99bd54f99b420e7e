"""Given a memory that lost a whole file, or never had it: check says which, repair adds what follows from the rest."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from conftest import live_some
from scrubjay import Memory
from scrubjay.memory import journal
from scrubjay.memory.checking import Report, check, repair
from scrubjay.memory.layout import Layout
from scrubjay.public import cue_makers
from scrubjay.surfaces.cli import main

PUBLISHED = Path(__file__).parent / "data" / "mfm_published"


def kinds(report: Report) -> list[str]:
    return [problem.kind for problem in report.problems]


# --- lives


def test_lost_lives_are_named_and_made_again(memory: Memory) -> None:
    live_some(memory, episodes=2)
    live_some(memory, episodes=1)
    os.unlink(memory.layout.lives)
    found = check(memory.layout)
    assert [problem.message for problem in found.problems] == [
        "life 1 has episodes and no start row",
        "life 2 has episodes and no start row",
    ]
    assert repair(memory.layout, cue_makers()).is_sound
    lives = memory.lives()
    assert [(life.life, life.world, life.outcome) for life in lives] == [(1, "seed-7", None), (2, "seed-7", None)]
    assert all(life.started and life.ended for life in lives)


def test_a_lost_start_row_keeps_the_end_that_was_said(memory: Memory) -> None:
    live_some(memory, episodes=1)
    start, end = Path(memory.layout.lives).read_bytes().splitlines(keepends=True)
    Path(memory.layout.lives).write_bytes(b"{broken\n" + end)
    assert start
    assert kinds(check(memory.layout)) == ["life-lacks"]
    assert repair(memory.layout, cue_makers()).is_sound
    assert [life.outcome for life in memory.lives()] == ["ended"]


def test_a_lost_folder_of_lives_is_made_again_and_its_numbers_are_not_given_again(lived: Memory) -> None:
    log = Path(lived.layout.log(1)).read_bytes()
    shutil.rmtree(lived.layout.lives_folder)
    with lived.live(task="later", world="seed-7") as life:
        assert life.number == 2
    os.unlink(lived.layout.lives)
    assert "life-lacks" in kinds(check(lived.layout))
    assert repair(lived.layout, cue_makers()).is_sound
    assert Path(lived.layout.log(1)).read_bytes() == log


def test_a_claimed_life_that_never_began_is_no_problem(memory: Memory) -> None:
    os.mkdir(memory.layout.life(1))
    assert check(memory.layout).is_sound


# --- records


@pytest.mark.parametrize("ended", [True, False])
def test_a_lost_record_is_damage_that_repair_leaves_as_it_is(memory: Memory, ended: bool) -> None:
    life = memory.live(task="walk", world="w")
    for nth in range(2):
        episode = life.episode("go", {"x": nth}, state={"pos": [nth, 0, 0]})
        episode.step(1, state={"pos": [nth + 1, 0, 0]})
        episode.finish()
    if ended:
        life.end()
    else:
        life.abandon()
    os.unlink(Path(memory.layout.episode("ep_000001")) / "episode.json")
    index = Path(memory.layout.index).read_bytes()
    found = [problem for problem in check(memory.layout).problems if problem.kind != "dead-life"]
    assert [(problem.kind, problem.file) for problem in found] == [
        ("record-missing", "episodes/0000/ep_000001/episode.json")
    ]
    assert "still there: steps.jsonl" in found[0].message
    assert kinds(repair(memory.layout, cue_makers())) == ["record-missing"]
    assert Path(memory.layout.index).read_bytes() == index
    assert not (Path(memory.layout.episode("ep_000001")) / "episode.json").exists()


# --- published runs


@pytest.fixture
def published(tmp_path: Path) -> Layout:
    shutil.copy(PUBLISHED / "index.jsonl", tmp_path)
    return Layout(tmp_path)


def test_a_published_run_is_sound_and_what_it_lacks_is_said_once(
    published: Layout, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", published.root]) == 0
    printed = capsys.readouterr().out
    assert printed.count("not part of it") == 1
    assert "sound" in printed
    assert "indexed episodes" in printed


def test_what_a_published_run_shows_is_verified(published: Layout) -> None:
    rows = list(journal.rows(published.index))[:4]
    rows[1]["first_step"] = 900
    rows[2]["id"] = rows[0]["id"]
    rows[3]["image"] = "../outside.png"
    text = "".join(json.dumps(row) + "\n" for row in rows) + '{"id": 7}\n{"torn'
    Path(published.index).write_text(text)
    picture = Path(published.at(str(rows[1]["image"])))
    picture.parent.mkdir(parents=True)
    picture.touch()
    report = check(published)
    assert sorted(kinds(report)) == sorted(["steps", "index-twice", "path", "index-row", "torn-tail", "file-missing"])


# --- checkouts


def test_a_checkout_without_its_empty_folders_opens_and_records(lived: Memory) -> None:
    lived.close()
    for folder in (lived.layout.mine, lived.layout.locks):
        shutil.rmtree(folder)
    with Memory.open(lived.root, read_only=True) as reader:
        assert reader.documents.list() == []
    assert check(lived.layout).is_sound
    with Memory.open(lived.root) as again:
        live_some(again, episodes=1)
        again.documents.create("notes.md", "- Iron [ep_000001].\n")
    assert check(lived.layout).is_sound


# --- whole files and folders


def test_a_lost_folder_of_lives_is_made_again_by_repair_alone(lived: Memory) -> None:
    log = Path(lived.layout.log(1)).read_bytes()
    shutil.rmtree(lived.layout.lives_folder)
    assert "log-lacks" in kinds(check(lived.layout))
    assert repair(lived.layout, cue_makers()).is_sound
    assert Path(lived.layout.log(1)).read_bytes() == log


def test_a_lost_manifest_is_named(lived: Memory, capsys: pytest.CaptureFixture[str]) -> None:
    os.unlink(lived.layout.manifest)
    for command in (["check"], ["episodes"], ["check", "--repair"]):
        assert main([command[0], lived.root, *command[1:]]) == 1
        printed = capsys.readouterr()
        assert "memory.json" in printed.out + printed.err
        assert "put it back from a copy" in printed.out + printed.err
    assert [problem.kind for problem in check(lived.layout).problems] == ["manifest"]


@pytest.mark.parametrize("name", ["grid.jsonl", "worlds.jsonl", "inspections.jsonl", "procedures.jsonl"])
def test_a_folder_in_a_journals_place_costs_that_journal_alone(lived: Memory, name: str) -> None:
    path = Path(lived.layout.at(name))
    path.unlink(missing_ok=True)
    path.mkdir()
    found = check(lived.layout).problems
    assert ("journal", name) in [(problem.kind, problem.file) for problem in found]
    assert len(lived.find().rows) == 4
