"""`scrubjay install`: what a coding agent is told is true, and what a person wrote around it stays to the byte."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
from pathlib import Path

import pytest
import skills_ref
from hypothesis import given
from hypothesis import strategies as st

from scrubjay import Memory
from scrubjay.surfaces.cli import main
from scrubjay.surfaces.guide.project import BEGIN, END, with_block, without_block
from scrubjay.surfaces.guide.text import GUIDE_COMMANDS, block, examples, skill

SKILL = ".agents/skills/scrubjay"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_it_writes_a_block_a_skill_and_a_memory(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "AGENTS.md").write_text("# Ours\n\nTabs, not spaces.\n")
    assert main(["install", "memory"]) == 0
    assert capsys.readouterr().out.splitlines() == [str(project / "AGENTS.md"), str(project / SKILL / "SKILL.md")]
    text = (project / "AGENTS.md").read_text()
    assert text.startswith("# Ours\n\nTabs, not spaces.\n")
    assert "scrubjay episodes memory --last 10" in text
    with Memory.open("memory") as memory:
        assert memory.find().total == 0
    again = {path: path.read_bytes() for path in project.rglob("*.md")}
    assert main(["install", "memory"]) == 0
    assert {path: path.read_bytes() for path in project.rglob("*.md")} == again
    assert main(["install", "--remove"]) == 0
    assert (project / "AGENTS.md").read_text() == "# Ours\n\nTabs, not spaces.\n"
    assert sorted(os.listdir(project)) == ["AGENTS.md", "memory"]


def test_show_changes_nothing(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for word in ("--show", "--dry-run"):
        assert main(["install", "memory", word]) == 0
        shown = capsys.readouterr().out
        assert BEGIN in shown
        assert "name: scrubjay" in shown
        assert os.listdir(project) == []


def test_the_skill_passes_the_public_validator(project: Path) -> None:
    assert main(["install", "memory"]) == 0
    assert skills_ref.validate(project / SKILL) == []
    properties = skills_ref.read_properties(project / SKILL)
    assert properties.name == "scrubjay"
    assert len(properties.description) <= 1024


@pytest.mark.parametrize("name", GUIDE_COMMANDS)
def test_every_command_that_is_named_is_one(name: str, lived: Memory) -> None:
    """Each line is taken by the command's own parser: wrong options end with status 2."""
    lines = examples(name, lived.root)
    assert lines
    for line in lines:
        words = shlex.split(line)
        assert words[:2] == ["scrubjay", name]
        with contextlib.redirect_stderr(io.StringIO()) as errors, contextlib.chdir(lived.root):
            status = main(words[1:])
        assert status in (0, 1), f"{line}: {errors.getvalue()}"


def test_the_guide_has_all_examples_and_the_block_some(lived: Memory) -> None:
    for name in GUIDE_COMMANDS:
        lines = examples(name, "memory")
        assert all(line in skill("memory") for line in lines)
        assert lines[0] in block("memory")
    assert len(block("memory")) < 3000


def test_a_folder_with_spaces_is_quoted(project: Path) -> None:
    assert main(["install", "my memory"]) == 0
    assert "scrubjay episodes 'my memory' --last 10" in (project / "AGENTS.md").read_text()


def test_a_memory_outside_the_project_is_named_whole(project: Path) -> None:
    (project / "a").mkdir()
    assert main(["install", "memory", "--into", "a"]) == 0
    assert str(project / "memory") in (project / "a" / "AGENTS.md").read_text()


TEXTS = st.text().filter(lambda text: END not in text)


@given(before=TEXTS, after=TEXTS, one=TEXTS, two=TEXTS)
def test_what_stands_around_stays_to_the_byte(before: str, after: str, one: str, two: str) -> None:
    written = with_block(before, one)
    assert written.startswith(before)
    assert with_block(written, one) == written
    again = with_block(written + after, two)
    assert two in again
    assert without_block(again) == before + after
    assert without_block(before) == before


@pytest.mark.parametrize("text", [BEGIN, END, f"{END}\n{BEGIN}", f"{BEGIN}\n{BEGIN}\n{END}", f"{BEGIN}\n{END}\n{END}"])
def test_torn_markers_are_told_and_left(project: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "AGENTS.md").write_text(text)
    for words in (["install", "memory"], ["install", "--remove"], ["install", "memory", "--show"]):
        assert main(words) == 1
        assert "torn" in capsys.readouterr().err
    assert (project / "AGENTS.md").read_text() == text
    assert not (project / SKILL).exists()


def test_what_is_not_ours_is_not_touched(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "real.md").write_text("mine\n")
    (project / "AGENTS.md").symlink_to("real.md")
    assert main(["install", "memory"]) == 1
    assert "symbolic link" in capsys.readouterr().err
    (project / "AGENTS.md").unlink()
    (project / "AGENTS.md").write_bytes(b"\xff\xfe")
    assert main(["install", "memory"]) == 1
    assert "not UTF-8" in capsys.readouterr().err
    (project / "AGENTS.md").unlink()
    (project / "code").mkdir()
    (project / "code" / "main.py").write_text("")
    assert main(["install", "code"]) == 1
    assert "not empty" in capsys.readouterr().err
    assert not (project / "AGENTS.md").exists()
    other = project / ".agents" / "skills" / "other"
    other.mkdir(parents=True)
    assert main(["install", "memory"]) == 0
    assert main(["install", "--remove"]) == 0
    assert other.is_dir()
    assert main(["install"]) == 2
    assert main(["install", "memory", "--into", "none"]) == 1


def test_a_skill_of_that_name_that_somebody_else_wrote_stays(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / SKILL).mkdir(parents=True)
    (project / SKILL / "SKILL.md").write_text("theirs\n")
    assert main(["install", "memory"]) == 1
    assert "was not written by" in capsys.readouterr().err
    assert os.listdir(project) == [".agents"]  # neither half of it is there
    assert main(["install", "--remove"]) == 0
    assert (project / SKILL / "SKILL.md").read_text() == "theirs\n"


def test_what_a_link_leads_to_is_neither_written_nor_removed(project: Path) -> None:
    assert main(["install", "memory", "--into", "."]) == 0
    (project / ".agents").rename(project / "shared")
    (project / ".agents").symlink_to("shared")
    before = (project / "AGENTS.md").read_bytes()
    (project / "AGENTS.md").write_text("ours\n")
    assert main(["install", "memory"]) == 1
    assert (project / "AGENTS.md").read_text() == "ours\n"
    (project / "AGENTS.md").write_bytes(before)
    assert main(["install", "--remove"]) == 0
    assert not (project / "AGENTS.md").exists()
    assert (project / "shared" / "skills" / "scrubjay" / "SKILL.md").exists()


def test_who_may_read_the_guide_stays(project: Path) -> None:
    (project / "AGENTS.md").write_text("ours\n")
    (project / "AGENTS.md").chmod(0o600)
    assert main(["install", "memory"]) == 0
    assert (project / "AGENTS.md").stat().st_mode & 0o777 == 0o600
    assert main(["install", "--remove"]) == 0
    assert (project / "AGENTS.md").stat().st_mode & 0o777 == 0o600
