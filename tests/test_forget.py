"""A person removes an episode: what it showed and said is gone, its row and references stay."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from conftest import numbered
from scrubjay import Memory, Query
from scrubjay.errors import Conflict, InvalidInput, NotFound
from scrubjay.memory.checking import check
from scrubjay.memory.forgetting import forget
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


def test_a_shared_picture_is_named(lived: Memory) -> None:
    assert forget(lived.layout, "ep_000001", "a face") == [
        "episodes/0000/ep_000000/end.webp",
        "episodes/0000/ep_000002/start.webp",
    ]


def test_a_picture_handed_in_beside_it_goes_too(lived: Memory) -> None:
    view = lived.then_now("ep_000001", now=numbered(77, 40, 60), question="the same?")
    assert view.inspection is not None
    size = os.path.getsize(lived.layout.inspections)
    before = Path(lived.layout.inspections).read_text()
    forget(lived.layout, "ep_000001", "a face")
    after = Path(lived.layout.inspections).read_text()
    assert os.path.getsize(lived.layout.inspections) == size
    assert '"data": ""' in after
    assert len(after.split()) == len(before.split())
    assert "the same?" in after


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
