"""Folders of tasks, projects and netlists that are broken, or made to do harm: each is refused in words."""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from scrubjay.environments.kicad.comparing import differences, normal_value
from scrubjay.environments.kicad.evaluator import Evaluator
from scrubjay.environments.kicad.netlist import Component, Netlist
from scrubjay.environments.kicad.project import files_of
from scrubjay.environments.kicad.scoring import score
from scrubjay.environments.kicad.tasks import Task, find_task, read_tasks
from scrubjay.errors import Damaged, NotFound
from scrubjay.surfaces.cli import main
from test_kicad import needs_kicad
from test_kicad_score import EMPTY, NETLIST, SHEET, make_tasks


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def task(tmp_path: Path) -> Task:
    return find_task("one", make_tasks(tmp_path / "tasks", one=NETLIST))


# --- values and names


def test_a_value_of_spaces_or_of_digits_without_end_is_compared_as_any_other() -> None:
    """Each of these once took minutes, or ended the run."""
    spaces = "1" + " " * 20_000 + "x"
    assert normal_value(spaces) == spaces
    digits = "1" * 1_000_010 + "k"
    assert normal_value(digits) == digits


@pytest.mark.parametrize("reference", ["R²", "R1²", "²", "R" + "1" * 5000, "", '"', "٣"])
def test_a_reference_of_any_characters_has_a_place_in_the_order(reference: str) -> None:
    after = Netlist((Component("R10", "1k", "R"), Component(reference, "1k", "R"), Component("R9", "1k", "R")), ())
    lines = differences(Netlist((), ()), after)
    assert len(lines) == 3
    assert f"{reference} (R, 1k) added" in lines
    assert lines.index("R9 (R, 1k) added") < lines.index("R10 (R, 1k) added")


# --- lists of tasks


@pytest.mark.parametrize(
    "ident", ["a\0b", "a\ud800", "a" * 61, "a,b", " a", "a\n", "all", "\x1b[2J", "a/b", "..", "x/../../y"], ids=repr
)
def test_an_id_that_no_folder_or_command_takes_is_refused(tmp_path: Path, ident: str) -> None:
    (tmp_path / "tasks.json").write_text(json.dumps([{"id": ident, "description": "Draw."}]))
    with pytest.raises(Damaged, match=r"can't be the (id|name)"):
        read_tasks(tmp_path)


@pytest.mark.parametrize("text", ["[" * 200_000, '{"a":' * 200_000], ids=["lists", "objects"])
def test_a_list_of_tasks_that_is_too_deep_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "tasks.json").write_text(text)
    with pytest.raises(Damaged, match="no list of tasks"):
        read_tasks(tmp_path)


def test_an_id_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tasks.json").write_text(json.dumps([{"id": "a", "description": text} for text in ("x", "y")]))
    with pytest.raises(Damaged, match="two tasks with the id a"):
        read_tasks(tmp_path)


@pytest.mark.parametrize("word", ["description", "difficulty"])
def test_half_a_character_in_a_task_is_refused_before_it_is_shown_or_stored(tmp_path: Path, word: str) -> None:
    row = {"id": "a", "description": "Draw.", "difficulty": "easy", word: "\ud800"}
    (tmp_path / "tasks.json").write_text(json.dumps([row]))
    with pytest.raises(Damaged, match="lone surrogate"):
        read_tasks(tmp_path)
    (tmp_path / "tasks.json").unlink()
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "main.py").write_text('Task(description="\\ud800")')
    with pytest.raises(Damaged, match="lone surrogate"):
        read_tasks(tmp_path)


def test_a_text_steers_no_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "tasks.json").write_text(json.dumps([{"id": "a", "description": "Draw.\x1b[2J"}]))
    assert main(["kicad", "tasks", "--tasks", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert r"Draw.\x1b[2J" in shown
    assert "\x1b" not in shown


# --- starting projects


def starting(root: Path, make: Callable[[Path], object]) -> Path:
    """A folder of tasks, the starting project of which `make` changes."""
    folder = make_tasks(root, one=NETLIST) / "one" / "initial"
    folder.mkdir()
    (folder / "p.kicad_sch").write_text(SHEET.format(""))
    make(folder)
    return root


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda folder: (folder / "secret").symlink_to("/etc/hostname"), "leads out of the folder of tasks"),
        (lambda folder: (folder / "etc").symlink_to("/etc"), "leads out of the folder of tasks"),
        (lambda folder: (folder / "all").symlink_to("../../.."), "leads out of the folder of tasks"),
        (lambda folder: (folder / "loop").symlink_to("."), "a link to a folder"),
        (lambda folder: (folder.rename(folder.with_name("was")), folder.symlink_to("/")), "leads out of the folder"),
    ],
    ids=["file", "folder", "above", "loop", "whole"],
)
def test_a_starting_project_holds_what_is_its_own(tmp_path: Path, make: Callable[[Path], object], said: str) -> None:
    """It is copied and shown to a model: a link could show it any file of the user's."""
    with pytest.raises(Damaged, match=said):
        read_tasks(starting(tmp_path / "tasks", make))


def test_a_starting_project_may_be_shared_between_tasks(tmp_path: Path) -> None:
    root = starting(tmp_path / "tasks", lambda folder: (folder / "self").symlink_to("self"))
    (root / "two").mkdir()
    (root / "two" / "initial").symlink_to("../one/initial")
    (root / "tasks.json").write_text(json.dumps([{"id": "two", "description": "Draw."}]))
    assert find_task("two", root).schematic == root / "two" / "initial" / "p.kicad_sch"


def test_a_folder_called_like_a_schematic_is_none(tmp_path: Path) -> None:
    root = starting(tmp_path / "tasks", lambda folder: (folder / "q.kicad_sch").mkdir())
    assert find_task("one", root).schematic == root / "one" / "initial" / "p.kicad_sch"


# --- projects and their netlists


def test_a_netlist_that_is_too_large_is_no_score_of_0(task: Task, project: Path) -> None:
    with open(project / "a.net", "wb") as file:
        file.write(NETLIST.encode())
        file.truncate(17 << 20)
    with pytest.raises(Damaged, match="more than 16 MiB"):
        score(task, project)


def test_a_netlist_that_can_t_be_read_is_no_score_of_0(tmp_path: Path) -> None:
    (tmp_path / "a.net").symlink_to("a.net")
    with pytest.raises(Damaged, match="can't be read"):
        Netlist.load(tmp_path / "a.net")


def test_of_netlists_of_one_moment_the_same_is_always_judged(task: Task, project: Path) -> None:
    for name, text in (("b.net", EMPTY), ("c.net", NETLIST), ("a.net", EMPTY)):
        (project / name).write_text(text)
        os.utime(project / name, (50, 50))
    result = score(task, project)
    assert (result.value, result.source) == (1.0, str(project / "c.net"))


@pytest.mark.parametrize(
    "make",
    [lambda path: os.mkfifo(path), lambda path: path.symlink_to(path.name), lambda path: path.mkdir()],
    ids=["pipe", "loop", "folder"],
)
def test_what_is_called_like_a_netlist_and_is_no_file_is_passed_over(
    task: Task, project: Path, make: Callable[[Path], object]
) -> None:
    make(project / "first.net")
    evaluator = Evaluator(task, project)
    make(project / "a.net")
    evaluator.after(1)
    evaluator.end(2, "done")
    (row,) = evaluator.rows
    assert (row["event"], row["score"], row["source"]) == ("score", 0.0, None)


@needs_kicad
def test_a_sheet_that_is_saved_says_what_it_changed_in_the_whole(project: Path) -> None:
    divider = find_task("divider")
    shutil.copytree(divider.initial, project, dirs_exist_ok=True)
    evaluator = Evaluator(divider, project)
    (project / "divider" / "a_sheet.kicad_sch").write_text(SHEET.format(""))
    evaluator.after(1)
    (row,) = evaluator.rows
    assert (row["event"], row["changes"]) == ("saved", [])


def test_a_project_whose_files_come_and_go_is_looked_at(task: Task, project: Path) -> None:
    (project / "a.net").write_text(NETLIST)
    with coming_and_going(project):
        for _ in range(3000):
            assert project / "a.net" in files_of(project, ".net")
    evaluator = Evaluator(task, project)
    evaluator.end(1, None)
    assert evaluator.rows[-1]["score"] == 1.0


@contextmanager
def coming_and_going(project: Path) -> Iterator[None]:
    ended = threading.Event()

    def toggle() -> None:
        while not ended.is_set():
            (project / "z.net").write_text(NETLIST)
            (project / "d").mkdir()
            (project / "d" / "y.net").write_text(NETLIST)
            (project / "z.net").unlink()
            (project / "d" / "y.net").unlink()
            (project / "d").rmdir()

    thread = threading.Thread(target=toggle)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def test_a_reference_that_is_no_file(tmp_path: Path) -> None:
    root = make_tasks(tmp_path / "tasks", one=None)
    os.mkfifo(root / "one" / "reference.net")
    with pytest.raises(NotFound, match="can't be scored"):
        find_task("one", root).reference()
