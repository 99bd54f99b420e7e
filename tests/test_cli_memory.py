"""`scrubjay memory`: what an agent or a person does to the documents from a shell."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from scrubjay.public import Memory
from scrubjay.surfaces.cli import main


@pytest.fixture
def root(tmp_path: Path) -> str:
    path = str(tmp_path / "memory")
    Memory.create(path).close()
    return path


class Shell:
    """Runs `scrubjay memory DIR …` and keeps what it printed."""

    def __init__(self, root: str, capture: pytest.CaptureFixture[str]) -> None:
        self._root, self._capture = root, capture
        self.errors = ""

    def __call__(self, *words: str, status: int = 0) -> str:
        assert main(["memory", self._root, *words]) == status
        printed = self._capture.readouterr()
        self.errors = printed.err
        return printed.out


@pytest.fixture
def shell(root: str, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(root, capsys)


def test_documents_are_written_read_and_taken_back(shell: Shell) -> None:
    assert shell("append", "notes.md", "- Iron [ep_000043].") == "The file notes.md has been edited.\n"
    assert shell("insert", "mine/notes.md", "0", "# Notes") == "The file mine/notes.md has been edited.\n"
    assert "snippet" in shell("str_replace", "notes.md", "Iron", "Coal")
    assert shell("view", "notes.md").endswith("     1\t# Notes\n     2\t- Coal [ep_000043].\n     3\t\n")
    assert shell("view", "notes.md", "--lines", "1", "1").endswith("numbers:\n     1\t# Notes\n")
    assert "\tmine/notes.md\n" in shell("view")
    assert shell("undo") == "Took back change 3 of notes.md.\n"
    assert shell("show", "notes.md", "3") == "# Notes\n- Coal [ep_000043].\n"
    assert "-- Coal" in shell("diff", "notes.md", "3")
    shell("restore", "notes.md", "1")
    assert shell("show", "notes.md", "5") == "- Iron [ep_000043].\n"
    shell("create", "a/b.md", "x")
    shell("rename", "a", "c")
    assert shell("delete", "c/b.md") == "Successfully deleted c/b.md\n"


def test_a_text_may_come_from_standard_input(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("línea\n- zwei\n".encode())))
    shell("create", "a.md", "-")
    assert shell("show", "a.md", "1") == "línea\n- zwei\n"


def test_history_names_life_and_author(shell: Shell, root: str) -> None:
    shell("append", "notes.md", "one", "--life", "7")
    shell("append", "notes.md", "two", "--author", "person")
    Path(root, "mine/other.md").write_text("by hand")
    lines = shell("history").splitlines()
    assert [line.split("  ")[-5:-2] for line in lines[:2]] == [
        ["life 7 step -", "agent", "append"],
        ["life - step -", "person", "append"],
    ]
    assert lines[2].endswith("external  external  other.md  +7 -0")
    rows = [json.loads(line) for line in shell("history", "notes.md", "--json").splitlines()]
    assert [(row["number"], row["life"], row["author"]) for row in rows] == [(1, 7, "agent"), (2, None, "person")]
    assert len(shell("history", "--limit", "1").splitlines()) == 1
    assert shell.errors == "(2 earlier changes: --before 3)\n"
    assert len(shell("history", "--before", "3").splitlines()) == 2


def test_a_change_beside_a_running_life_is_of_that_life(shell: Shell, root: str) -> None:
    with Memory.open(root) as memory, memory.live(task="dig") as life:
        with life.episode("dig", {}, state={"pos": [0, 0, 0]}) as episode:
            episode.step("dig", state={"pos": [0, 0, 0]})
            episode.finish()
        with life.episode("dig", {}, state={"pos": [0, 0, 0]}) as episode:
            shell("append", "notes.md", "seen")
            episode.step("dig", state={"pos": [0, 0, 0]})
        assert [(c.life, c.step) for c in memory.documents.history()] == [(1, 1)]


def test_citations_are_listed(shell: Shell) -> None:
    shell("append", "notes.md", "Iron [ep_000043, ep_1000000].\nCoal [ep_000043#7].")
    assert shell("cites") == "ep_000043  notes.md:1\nep_000043  notes.md:2\nep_1000000  notes.md:1\n"
    assert shell("cites", "ep_000043#9", "--json").splitlines() == [
        '{"episode": "ep_000043", "path": "notes.md", "line": 1}',
        '{"episode": "ep_000043", "path": "notes.md", "line": 2}',
    ]
    assert shell("cites", "ep_000001") == ""
    assert shell.errors == "(no citations)\n"


def test_what_cannot_be_done_is_told(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    shell("create", "a.md", "x")
    for words, told in (
        (("create", "a.md", "y"), "already exists"),
        (("create", "../b.md", "y"), "would escape"),
        (("append", "/etc/passwd", "y"), "absolute path"),
        (("show", "a.md", "99"), "no change 99"),
        (("restore", "none.md", "1"), "was not there"),
        (("str_replace", "a.md", "z", "y"), "did not appear verbatim"),
    ):
        assert shell(*words, status=1) == ""
        assert shell.errors.startswith("scrubjay memory: ")
        assert told in shell.errors
    assert main(["memory", "/nowhere", "view"]) == 1
    assert "is not a memory" in capsys.readouterr().err
    assert main(["memory", "x", "wash"]) == 2
