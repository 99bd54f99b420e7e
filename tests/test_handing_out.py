"""A picture or a page that somebody asked for: no name that is given writes over evidence, no full disk over a file."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from scrubjay import Memory
from scrubjay.errors import InvalidInput, StorageFull
from scrubjay.memory.handing_out import hand_out
from scrubjay.surfaces.cli import main


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A memory of one episode with frames and one note."""
    where = tmp_path / "memory"
    with Memory.create(where) as memory:
        with memory.live(task="look", world="house") as life:
            frame = np.full((40, 60, 3), 90, np.uint8)
            with life.episode("look", frame=frame, state={"pos": [0, 0, 0]}) as episode:
                episode.step("wait", frame=frame + 1, state={"pos": [1, 0, 0]})
        memory.documents.create("notes.md", "- Light is on [ep_000000]\n")
    return where


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and ".cache" not in path.parts}


@pytest.mark.parametrize(
    "name",
    [
        "index.jsonl", "memory.json", "AGENTS.md", "lives/0001/logs.txt", "mine/notes.md", "documents.jsonl",
        "episodes/0000/ep_000000/start.webp", "episodes/0000/ep_000000/new.png", "adapters/new.png", ".locks/x.png",
        "mine/../index.jsonl",
    ],
)  # fmt: skip
def test_no_command_writes_its_picture_over_a_file_of_a_memory(
    folder: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = contents(folder)
    out = str(folder / name)
    for command in (
        ["look", str(folder), "ep_000000", "--out", out],
        ["compare", str(folder), "ep_000000", "ep_000000#1", "--out", out],
        ["episodes", str(folder), "--sheet", out],
        ["map", str(folder), "--out", out],
        ["report", str(folder), "--out", out],
    ):
        assert main(command) == 1, command
        assert "belongs to the memory" in capsys.readouterr().err
    assert contents(folder) == before


def test_nor_by_a_link_nor_from_another_folder(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = contents(folder)
    (tmp_path / "link.png").symlink_to(folder / "index.jsonl")
    (tmp_path / "linked").symlink_to(folder / "lives")
    with Memory.open(folder, read_only=True) as memory:
        view = memory.look("ep_000000")
    for path in (tmp_path / "link.png", tmp_path / "linked" / "x.png"):
        with pytest.raises(InvalidInput, match="belongs to the memory"):
            view.save(path)
    monkeypatch.chdir(folder / "mine")
    with pytest.raises(InvalidInput, match="belongs to the memory"):
        view.save("../grid.jsonl")
    assert contents(folder) == before


def test_nor_over_the_index_of_a_published_run(folder: Path, tmp_path: Path) -> None:
    published = tmp_path / "published"
    published.mkdir()
    shutil.copy(folder / "index.jsonl", published)
    with pytest.raises(InvalidInput, match="belongs to the memory"):
        hand_out(str(published / "index.jsonl"), b"x")


def test_an_agent_in_its_memory_keeps_pictures_beside_its_notes(folder: Path) -> None:
    for name in ("look.png", "mine/look.png", "mine/pictures.webp"):
        for _ in range(2):  # the second look replaces the first
            assert main(["look", str(folder), "ep_000000", "--out", str(folder / name)]) == 0
        assert (folder / name).stat().st_size > 40
    assert main(["check", str(folder)]) == 0


def test_a_full_disk_leaves_the_earlier_picture_and_no_half_of_one(tmp_path: Path, small_files: None) -> None:
    hand_out(str(tmp_path / "page.html"), b"the page of yesterday")
    for name in ("page.html", "new.html"):
        with pytest.raises(StorageFull, match=name):
            hand_out(str(tmp_path / name), b"x" * 10_000)
    assert (tmp_path / "page.html").read_bytes() == b"the page of yesterday"
    assert os.listdir(tmp_path) == ["page.html"]


def test_a_link_to_a_picture_stays_a_link_and_a_pipe_is_written_to(tmp_path: Path) -> None:
    (tmp_path / "newest.png").symlink_to("picture.png")
    hand_out(str(tmp_path / "newest.png"), b"a picture")
    assert (tmp_path / "newest.png").is_symlink()
    assert (tmp_path / "picture.png").read_bytes() == b"a picture"
    reading, writing = os.pipe()
    hand_out(f"/dev/fd/{writing}", b"a picture")
    assert os.read(reading, 100) == b"a picture"
    os.close(reading)
    os.close(writing)
