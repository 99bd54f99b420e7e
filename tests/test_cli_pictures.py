"""`scrubjay episodes` with pictures and with words: asked as a user would, through the real command."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from scrubjay import Memory
from scrubjay.retrieval.document_words import search_documents
from scrubjay.surfaces.cli import main


def room(nth: int) -> np.typing.NDArray[np.uint8]:
    """A picture of a room: blocks of its own colours, the same every time."""
    colours = np.random.default_rng(nth).integers(0, 255, (3, 4, 3), np.uint8)
    return np.kron(colours, np.ones((30, 40, 1), np.uint8)).astype(np.uint8)


@pytest.fixture
def rooms(tmp_path: Path) -> str:
    """Five rooms, an episode each; the third was noted."""
    folder = str(tmp_path / "rooms")
    with Memory.create(folder) as memory:
        with memory.live(task="look around", world="house") as life:
            for nth in range(5):
                state = {"pos": [float(nth), 0.0, 0.0]}
                with life.episode("enter", {"room": nth}, frame=room(nth), state=state) as episode:
                    episode.step("look", frame=room(nth), state=state)
        memory.documents.create(
            "notes.md", "# Notes\n\n- The key hangs in the third room [ep_000002].\n- Water: none.\n"
        )
    return folder


def asked(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[list[str], list[str]]:
    capsys.readouterr()
    assert main(["episodes", *arguments]) == 0
    captured = capsys.readouterr()
    return captured.out.splitlines(), captured.err.splitlines()


def test_a_sheet_with_a_question(rooms: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "sheet.png")
    rows, told = asked(capsys, rooms, "--last", "3", "--sheet", out, "--q", "Which has a key?")
    assert len(rows) == 3
    assert told[0] == f"sheet: {out}  Q: Which has a key?"
    assert told[1] == f"  answer it: scrubjay answer {rooms} q_000001 TEXT"
    with Image.open(out) as picture:
        assert picture.size[0] > 300
    assert main(["answer", rooms, "q_000001", "The third."]) == 0


def test_then_beside_now(rooms: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    now, out = str(tmp_path / "now.png"), str(tmp_path / "pair.png")
    Image.fromarray(room(2)).save(now)
    rows, _ = asked(capsys, rooms, "--then-now", "ep_000002", "--now", now, "--out", out, "--q", "Same room?")
    assert rows == [f"wrote {out}: THEN ep_000002 step 2 at (2,0) | NOW. Q: Same room?. View it with view_image."]
    assert main(["episodes", rooms, "--then-now", "ep_000099", "--now", now, "--out", out]) == 1
    assert "no frame for 'ep_000099': not an episode id in the index and not a file" in capsys.readouterr().err


@pytest.mark.parametrize("source", ["picture", "reference"])
def test_the_same_screen_and_what_looks_like_it(
    rooms: str, tmp_path: Path, source: str, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = str(tmp_path / "seen.png")
    Image.fromarray(room(3)).save(picture)
    shown = picture if source == "picture" else "ep_000003"
    same, _ = asked(capsys, rooms, "--same-screen", shown)
    assert [line[:9] for line in same] == ["ep_000003"]
    alike, _ = asked(capsys, rooms, "--like", shown, "--limit", "2")
    assert alike[0].startswith("ep_000003")
    assert len(alike) == 2


def test_a_picture_that_is_none_is_a_clear_error(rooms: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["episodes", rooms, "--like", "nowhere.png"]) == 1
    assert "neither a file nor a reference" in capsys.readouterr().err


def test_words_are_found_in_the_documents_too(rooms: str, capsys: pytest.CaptureFixture[str]) -> None:
    rows, _ = asked(capsys, rooms, "--match", "hanging keys")
    assert rows[-1] == "mine/notes.md:3  - The key hangs in the third room [ep_000002]."
    rows, told = asked(capsys, rooms, "--match", "waters", "--json")
    assert json.loads(rows[-1]) == {"document": "notes.md", "line": 4, "text": "- Water: none."}
    assert told == ["(no matching episodes)"]
    with Memory.open(rooms, read_only=True) as memory:
        assert search_documents(memory.layout, "???") == ()
        assert search_documents(memory.layout, "rooms")[0].path == "notes.md"
