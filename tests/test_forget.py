"""A person removes an episode: what it showed and said is gone, its row and references stay."""

from __future__ import annotations

import contextlib
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conftest import numbered
from scrubjay import Memory, Query
from scrubjay.errors import Conflict, Damaged, InvalidInput, NotFound
from scrubjay.memory.checking import check
from scrubjay.memory.deriving import DefaultDeriver, Derived, Happened
from scrubjay.memory.forgetting import forget
from scrubjay.memory.procedure_runs import Run, Runs
from scrubjay.retrieval.cache_files import folder_to_build_in
from scrubjay.retrieval.questions import Questions
from scrubjay.surfaces.cli import main


def everything(root: str) -> bytes:
    return b"".join(p.read_bytes() for p in Path(root).rglob("*") if p.is_file())


@pytest.fixture
def secret(memory: Memory) -> Memory:
    with memory.live(task="log in", world="desk") as life:
        life.episode("click", {"x": 1}, state={"pos": [0, 0, 0]}).finish()
        typing = life.episode("type", {"text": "hunter2"}, plan="type hunter2", place="hunter2 window")
        typing.step("type hunter2", state={"pos": [1, 0, 0], "field": "hunter2"})
        typing.finish(note="the password is hunter2", events=["typed hunter2"])
        life.episode("click", {"x": 2}, state={"pos": [2, 0, 0]}).finish()
    return memory


def test_nothing_of_it_is_left_and_the_memory_is_sound(secret: Memory) -> None:
    secret.find(Query(grep="hunter2"))
    size = os.path.getsize(secret.layout.index)
    forget(secret.layout, "ep_000001", "a password")
    assert b"hunter2" not in everything(secret.root)
    assert os.path.getsize(secret.layout.index) == size
    report = check(secret.layout)
    assert report.is_sound, report.problems


def test_references_resolve_as_removed(secret: Memory) -> None:
    forget(secret.layout, "ep_000001", "a password")
    episode = secret.episode("ep_000001")
    assert episode.record["removed"]["reason"] == "a password"
    with pytest.raises(NotFound, match=r"removed by a person .*: a password"):
        episode.frame(1)
    assert [row.id for row in secret.find().rows] == ["ep_000000", "ep_000002"]
    assert secret.find(Query(grep="hunter2")).rows == ()


def test_twice_is_once(secret: Memory) -> None:
    forget(secret.layout, "ep_000001", "a password")
    before = everything(secret.root)
    forget(secret.layout, "ep_000001", "again")
    assert everything(secret.root) == before


def test_what_neighbours_share_with_it_goes_too(lived: Memory) -> None:
    before, after = (lived.episode(ident).record for ident in ("ep_000000", "ep_000002"))
    assert lived.layout.episode("ep_000001")
    assert forget(lived.layout, "ep_000001", "a face") == []
    for reference in ("ep_000000#3", "ep_000002#6"):
        with pytest.raises(NotFound, match="removed by a person: a face"):
            lived.look(reference)
        name, _, number = reference.partition("#")
        step = next(step for step in lived.episode(name).steps() if step.step == int(number))
        assert step.state == {}
    assert lived.look("ep_000000#2").data
    assert lived.look("ep_000002#7").data
    for old, new in ((before, "ep_000000"), (after, "ep_000002")):
        record = lived.episode(new).record
        assert record["summary"] == old["summary"]
        assert (record["start"]["pos"], record["end"]["pos"]) == (old["start"]["pos"], old["end"]["pos"])
    report = check(lived.layout)
    assert report.is_sound, report.problems
    assert report.counts["frames missing"] == 2


def test_a_neighbour_that_saw_something_else_stays_as_it_is(memory: Memory) -> None:
    with memory.live(task="look", world="desk") as life:
        for nth in range(3):
            life.episode("look", {}, frame=numbered(nth), state={"pos": [nth, 0, 0]}).finish()
    before = [Path(memory.layout.episode(ident), "episode.json").read_bytes() for ident in ("ep_000000", "ep_000002")]
    assert forget(memory.layout, "ep_000001", "a face") == []
    after = [Path(memory.layout.episode(ident), "episode.json").read_bytes() for ident in ("ep_000000", "ep_000002")]
    assert before == after


def test_every_place_that_is_not_changed_is_named(lived: Memory, capsys: pytest.CaptureFixture[str]) -> None:
    lived.documents.create("notes.md", "- It says hunter2 [ep_000001#4].\n")
    turn = Path(lived.layout.turn(1))
    turn.mkdir()
    (turn / "prompt.md").touch()
    Path(lived.layout.turns(1)).write_text(
        '{"turn": 1, "episodes": ["ep_000000"]}\n{"turn": 2, "episodes": ["ep_000001"]}\n'
    )
    with lived.live(task="again", world="seed-7") as life:
        life.episode("go_to", {}, frame=numbered(3), state={"pos": [9, 0, 0]}).finish()
    adapters = Path(lived.layout.adapters)
    adapters.mkdir()
    (adapters / "mine").mkdir()
    assert main(["forget", lived.root, "ep_000001", "--reason", "x"]) == 0
    told = capsys.readouterr().err
    for place in (
        "ep_000004 begins with the same picture",
        "lives/0001/turns.jsonl, byte 39: the plan of the turn that made it",
        "lives/0001/turn/",
        "mine/notes.md:1 cites it",
        "documents.jsonl, byte 0",
        "adapters/",
        "backups",
    ):
        assert place in told


@pytest.mark.parametrize("calls", range(1, 7))
def test_killed_anywhere_it_is_finished_by_the_next_call(
    lived: Memory, calls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = calls
    replace_file = os.replace

    def dies(source: str, target: str) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            raise KeyboardInterrupt
        replace_file(source, target)

    with monkeypatch.context() as patched, contextlib.suppress(KeyboardInterrupt):
        patched.setattr(os, "replace", dies)
        forget(lived.layout, "ep_000001", "a face")
    forget(lived.layout, "ep_000001", "a face")
    report = check(lived.layout)
    assert report.is_sound, report.problems
    with pytest.raises(NotFound, match="removed by a person"):
        lived.look("ep_000000#3")


def test_a_picture_handed_in_beside_it_goes_too(lived: Memory) -> None:
    view = lived.then_now("ep_000001", now=numbered(77, 40, 60), question="the same?")
    assert view.inspection is not None
    size = os.path.getsize(lived.layout.inspections)
    forget(lived.layout, "ep_000001", "a face")
    after = Path(lived.layout.inspections).read_text()
    assert os.path.getsize(lived.layout.inspections) == size
    assert '"data": ""' in after
    assert "the same?" not in after


@pytest.mark.parametrize("arguments", [{}, {"x": 1}, None])
@pytest.mark.parametrize("summary", ["", "x", None])
def test_short_rows_and_sections_are_emptied_too(memory: Memory, arguments: Any, summary: str | None) -> None:
    class Short(DefaultDeriver):
        def derive(self, happened: Happened) -> Derived:
            return replace(super().derive(happened), log_lines=("q",))

    with memory.live(task="wait", world="desk", deriver=Short) as life:
        life.episode("wait", arguments, state={}, plan="p", place="q").finish("z", summary=summary, note="y")
    sizes = [os.path.getsize(p) for p in (memory.layout.index, memory.layout.begun(1), memory.layout.log(1))]
    forget(memory.layout, "ep_000000", "a reason")
    assert sizes == [os.path.getsize(p) for p in (memory.layout.index, memory.layout.begun(1), memory.layout.log(1))]
    report = check(memory.layout)
    assert report.is_sound, report.problems
    before = everything(memory.root)
    forget(memory.layout, "ep_000000", "again")
    assert everything(memory.root) == before


def test_what_does_not_fit_stops_it_before_anything_goes(secret: Memory) -> None:
    path = Path(secret.layout.index)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + b'{"id": "ep_000001", "path": "x"}\n' + b"".join(lines[1:]))
    before = everything(secret.root)
    with pytest.raises(Damaged, match="does not fit"):
        forget(secret.layout, "ep_000001", "a password")
    assert everything(secret.root) == before


def test_outcome_cells_calls_and_answers_go_too(memory: Memory) -> None:
    with memory.live(task="log in", world="desk") as life:
        episode = life.episode("type", {}, state={"pos": [0, 0, 0]})
        cell = {"cell": [0, 0, 0], "kind": "placed", "item": "hunter2", "step": 1}
        episode.finish("typed hunter2", cells=[cell])
    run = Run("log-in", "failure", arguments={"text": "hunter2"}, error="hunter2", episodes=("ep_000000",))
    Runs(memory.layout).record(run)
    Runs(memory.layout).record(replace(run, arguments={"text": "other"}, error="e", episodes=("ep_0000001",)))
    questions = Questions(memory.layout)
    asked = questions.ask("look", "is it hunter2?", [{"reference": "ep_000000#0"}], 9, 1, {})
    questions.answer(asked, "yes, hunter2", 9, 1)
    other = questions.ask("look", "a longer id", [{"reference": "ep_0000001"}], 9, 1, {})
    forget(memory.layout, "ep_000000", "a password")
    assert b"hunter2" not in everything(memory.root)
    assert questions.row(other)["question"] == "a longer id"
    assert [(call.arguments, call.error) for call in Runs(memory.layout).oldest()] == [
        ({}, None),
        ({"text": "other"}, "e"),
    ]
    report = check(memory.layout)
    assert report.is_sound, report.problems


def test_a_shared_picture_is_found_anywhere_in_the_life(lived: Memory) -> None:
    first, last = (Path(lived.layout.episode(ident)) for ident in ("ep_000000", "ep_000003"))
    os.link(first / "start.webp", last / "again.webp")
    left = forget(lived.layout, "ep_000000", "a face")
    assert left == ["episodes/0000/ep_000003/again.webp: the same picture"]


def test_caches_go_before_everything_and_at_the_end(secret: Memory) -> None:
    seen = []
    forget(secret.layout, "ep_000001", "x", lambda: seen.append(b"hunter2" in Path(secret.layout.index).read_bytes()))
    assert seen == [True, False]


def test_the_users_cache_goes_too(secret: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    users = folder_to_build_in(secret.layout, bare=True)
    assert users is not None
    (Path(users) / "index-old.sqlite.building").write_bytes(b"hunter2")
    assert main(["forget", secret.root, "ep_000001", "--reason", "x"]) == 0
    assert not Path(users).exists()


def test_refusals(secret: Memory, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InvalidInput, match="needs a reason"):
        forget(secret.layout, "ep_000001", "  ")
    with pytest.raises(NotFound):
        forget(secret.layout, "ep_000077", "x")
    with secret.live(task="now", world="desk") as life:
        row = life.episode("wait", {}, state={}).finish()
        with pytest.raises(Conflict, match="is running"):
            forget(secret.layout, row.id, "x")
    assert main(["forget", secret.root, "ep_000077", "--reason", "x"]) == 1
    assert "ep_000077" in capsys.readouterr().err
