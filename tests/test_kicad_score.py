"""Netlists are read, judged by three checks and set beside each other; projects are scored by the command."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.environments.kicad.comparing import Checks, check, differences, normal_value
from scrubjay.environments.kicad.netlist import Component, Net, Netlist
from scrubjay.environments.kicad.scoring import find_candidate, score
from scrubjay.environments.kicad.sexpr import read
from scrubjay.environments.kicad.tasks import Task, find_task, read_tasks
from scrubjay.errors import Damaged, InvalidInput, NotFound
from scrubjay.surfaces.cli import main

NETLIST = """
(export (version "E")
  (components
    (comp (ref "R1") (value "2.80k") (libsource (lib "Device") (part "R_US") (description "a \\"resistor\\"")))
    (comp (ref "C10") (value "100nF") (libsource (lib "Device") (part "C"))))
  (nets
    (net (code "1") (name "+5V") (node (ref "R1") (pin "1")) (node (ref "C10") (pin "2")))
    (net (code "2") (name "GND") (node (ref "R1") (pin "2")))))
"""
EMPTY = '(export (version "E") (components) (nets))'
SHEET = """(kicad_sch (version 20250114) (generator "eeschema") (generator_version "9.0")
  (uuid "e0c2a9d4-6e31-4a5e-9b4f-2f8f2c3b7a11") (paper "A4") (lib_symbols){}
  (sheet_instances (path "/" (page "1"))) (embedded_fonts no))
"""


def netlist(*components: tuple[str, str, str], **nets: str) -> Netlist:
    pins = {
        name: frozenset((one.split(".")[0], one.split(".")[1]) for one in text.split()) for name, text in nets.items()
    }
    return Netlist(tuple(Component(*one) for one in components), tuple(Net(*one) for one in pins.items()))


# --- reading


def test_a_netlist_is_read() -> None:
    found = Netlist.parse(NETLIST)
    assert found.components == (Component("R1", "2.80k", "R_US"), Component("C10", "100nF", "C"))
    assert found.nets[0] == Net("+5V", frozenset({("R1", "1"), ("C10", "2")}))
    assert Netlist.parse(EMPTY).is_empty


@pytest.mark.parametrize(
    ("text", "said", "offset"),
    [
        ("", "it is empty", 0),
        ("(export (components", "broken off", 19),
        ('(export (value "Ω', "a text is not closed", 14),
        ("export", "a list in parentheses", 0),
        ("(export) (again)", "something follows", 8),
        ("(kicad_sch)", "begins with (export", 0),
        ("(export (components (comp (value 5))))", "without its (ref", 0),
        ("(" * 600, "more than 500 lists", 499),
    ],
)
def test_a_broken_netlist_is_an_error_that_says_where(tmp_path: Path, text: str, said: str, offset: int) -> None:
    path = tmp_path / "a.net"
    path.write_text(text)
    with pytest.raises(Damaged) as raised:
        Netlist.load(path)
    assert said in str(raised.value)
    assert raised.value.file == str(path)
    assert raised.value.offset == offset


def test_a_netlist_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.net").write_bytes(b"(export \xff)")
    with pytest.raises(Damaged, match="UTF-8") as raised:
        Netlist.load(tmp_path / "a.net")
    assert raised.value.offset == 8
    with pytest.raises(NotFound):
        Netlist.load(tmp_path / "none.net")


words = st.text(st.characters(codec="ascii", categories=("L", "N"), include_characters="_-+."), min_size=1)
trees = st.recursive(words | st.text().map(lambda text: ("quoted", text)), lambda inner: st.lists(inner), max_leaves=20)


@given(st.lists(trees))
def test_what_is_written_is_read_again(tree: list[Any]) -> None:
    def written(one: Any) -> str:
        if isinstance(one, list):
            return f"({' '.join(map(written, one))})"
        if isinstance(one, tuple):
            quoted = one[1].replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
            return f'"{quoted}"'
        return str(one)

    def bare(one: Any) -> Any:
        return [bare(part) for part in one] if isinstance(one, list) else one[1] if isinstance(one, tuple) else one

    assert read(written(tree), "tree") == bare(tree)


@given(st.text(alphabet='()"\\ ab\n', max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found = read(text, "text")
    except Damaged as error:
        offset = error.offset
    else:
        assert isinstance(found, list)
        offset = 0
    assert 0 <= offset <= len(text.encode())


# --- judging


@pytest.mark.parametrize(
    ("value", "same"),
    [
        ("2.80kOhm", "2800"), ("2.8K", "2800"), ("2k8", "2k8"), ("100 nF", "0.0000001"), ("0.1u", "0.0000001"),
        ("10µ", "0.00001"), ("10μF", "0.00001"), ("1Meg", "1000000"), ("1M", "1000000"), ("1MEG", "1000000"),
        ("1m", "0.001"), ("5V", "5"), ("+5V", "5"), ("-15", "-15"), ("0", "0"), ("0.0k", "0"), ("R_US", "R_US"),
        (" LM358 ", "LM358"), ("10R", "10"), ("4.7e3", "4700"), ("", ""),
    ],
)  # fmt: skip
def test_values_are_compared_as_numbers(value: str, same: str) -> None:
    assert normal_value(value) == same


def test_the_three_checks() -> None:
    reference = netlist(("R1", "1k", "R"), ("R2", "1000", "R"), VCC="R1.1", GND="R1.2 R2.2")
    assert check(reference, reference) == Checks(True, True, True)
    other_numbers = netlist(("R8", "1k", "R"), ("R9", "1.0kΩ", "R"), VCC="R8.1", GND="R8.2 R9.2")
    assert check(other_numbers, reference) == Checks(True, False, True)
    assert check(netlist(("R1", "1k", "R"), VCC="R1.1", GND="R1.2 R2.2"), reference) == Checks(False, True, True)
    renamed = netlist(("R1", "1k", "R"), ("R2", "1k", "R"), V5="R1.1", GND="R1.2 R2.2")
    assert check(renamed, reference) == Checks(True, True, False)
    assert check(renamed, reference).score == pytest.approx(2 / 3)


def test_an_empty_reference_passes_only_an_empty_candidate() -> None:
    empty = Netlist.parse(EMPTY)
    assert check(empty, empty).score == 1.0
    assert check(netlist(("R1", "1k", "R")), empty).score == 0.0
    assert check(empty, netlist(("R1", "1k", "R"), GND="R1.1")).score == 0.0


def test_names_pass_where_the_reference_has_none() -> None:
    bare = Netlist((), (Net("", frozenset({("R1", "1")})),))
    assert check(netlist(GND="R1.1"), bare) == Checks(True, True, True)


def test_what_changed_is_said_a_line_each() -> None:
    before = netlist(("R1", "5k", "R"), ("R9", "1k", "R"), ("R10", "1k", "R"), p9V="R1.1", GND="R9.1 R10.2", A="R1.2")
    after = netlist(("R1", "10k", "R"), ("R9", "1k", "R"), ("C1", "1u", "C"), p5V="R1.1", GND="R9.1 C1.2", B="C1.1")
    assert differences(before, after) == (
        "C1 (C, 1u) added",
        "R1: value 5k -> 10k",
        "R10 (R, 1k) removed",
        "net p9V is now called p5V",
        "net A removed: R1.2",
        "net B added: C1.1",
        "net GND: R10.2 -> C1.2",
    )
    assert differences(before, before) == ()


def test_many_changes_are_counted() -> None:
    many = netlist(*((f"R{n}", "1k", "R") for n in range(100)))
    assert differences(netlist(), many)[-1] == "and 60 changes more"


# --- tasks


def make_tasks(root: Path, **references: str | None) -> Path:
    rows = [{"id": name, "description": f"Draw {name}.", "difficulty": "easy"} for name in references]
    root.mkdir(parents=True, exist_ok=True)
    (root / "tasks.json").write_text(json.dumps(rows))
    for name, text in references.items():
        (root / name).mkdir()
        if text is not None:
            (root / name / "reference.net").write_text(text)
    return root


def test_tasks_are_read_in_the_order_of_their_list(tmp_path: Path) -> None:
    root = make_tasks(tmp_path / "tasks", b=NETLIST, a=EMPTY)
    assert [task.id for task in read_tasks(root)] == ["b", "a"]
    assert find_task("a", root).text == "Draw a."
    with pytest.raises(NotFound, match="there are b, a"):
        find_task("c", root)


@pytest.mark.parametrize(
    "text",
    ["{", "{}", "[5]", '[{"id": "a"}]', '[{"id": "../a", "description": "x"}]', '[{"id": "", "description": "x"}]'],
)
def test_a_broken_list_of_tasks_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "tasks.json").write_text(text)
    with pytest.raises(Damaged, match=r"tasks\.json"):
        read_tasks(tmp_path)


def test_folders_without_tasks(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="holds no tasks"):
        read_tasks(tmp_path)
    with pytest.raises(NotFound, match="there is no folder"):
        read_tasks(tmp_path / "none")


def test_a_checkout_is_read_and_not_executed(tmp_path: Path) -> None:
    folder = tmp_path / "55f2eefb"
    (folder / "initial" / "p").mkdir(parents=True)
    (folder / "initial" / "p" / "p.kicad_sch").write_text(SHEET)
    (folder / "reference.net").write_text(EMPTY)
    (folder / "main.py").write_text(
        "import cua_bench as cb\nopen('executed', 'w')\n_D = 'easy'\n"
        '@cb.tasks_config\ndef tasks():\n    return [cb.Task(description="""Change it\n to 5V.""", '
        "metadata={'difficulty': _D, 'n': 1})]\n"
    )
    (task,) = read_tasks(tmp_path)
    assert (task.id, task.text, task.difficulty) == ("55f2eefb", "Change it\n to 5V.", "easy")
    assert task.schematic == folder / "initial" / "p" / "p.kicad_sch"
    assert not Path("executed").exists()


@pytest.mark.parametrize("source", ["def (", "x = 1", "Task(description=None)", "Task(description=f())", "\0"])
def test_a_checkout_without_a_text_is_named(tmp_path: Path, source: str) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "main.py").write_text(source)
    with pytest.raises(Damaged, match=r"main\.py"):
        read_tasks(tmp_path)


def test_our_own_tasks_ship_with_the_package() -> None:
    tasks = read_tasks()
    assert len(tasks) >= 5
    for task in tasks:
        reference = task.reference()
        assert check(reference, reference).score == 1.0
        assert score(task, task.folder / "initial").value < 1.0 if task.schematic else True


# --- scoring


@pytest.fixture
def task(tmp_path: Path) -> Task:
    return find_task("one", make_tasks(tmp_path / "tasks", one=NETLIST, empty=EMPTY, bare=None))


def test_an_exported_netlist_is_judged(task: Task, tmp_path: Path) -> None:
    project = tmp_path / "project" / "deep"
    project.mkdir(parents=True)
    (project / "out.net").write_text(NETLIST)
    result = score(task, tmp_path / "project")
    assert (result.value, result.source, result.warnings) == (1.0, str(project / "out.net"), ())


def test_the_newest_of_several_netlists_is_judged_and_that_is_said(task: Task, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    for name, text, age in (("a.net", NETLIST, 50), ("b.net", EMPTY, 900)):
        (project / name).write_text(text)
        os.utime(project / name, (age, age))
    result = score(task, project)
    assert result.value == 0.0
    assert "2 netlists are there" in result.warnings[0]


def test_nothing_done_is_no_score(task: Task, tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    result = score(task, tmp_path / "project")
    assert (result.value, result.source) == (0.0, None)
    assert score(find_task("empty", tmp_path / "tasks"), tmp_path / "project").value == 0.0


def test_a_task_without_a_reference_and_a_project_that_is_not_there(task: Task, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="bare can't be scored"):
        score(find_task("bare", tmp_path / "tasks"), tmp_path)
    with pytest.raises(NotFound, match="no project folder"):
        score(task, tmp_path / "none")


def test_a_broken_netlist_is_no_score_of_0(task: Task, tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "out.net").write_text("(export (comp")
    with pytest.raises(Damaged):
        score(task, tmp_path / "project")


def test_the_netlist_comes_from_the_schematic_where_none_was_exported(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    schematic = project / "p.kicad_sch"
    schematic.write_text(SHEET.format(""))
    candidate = find_candidate(project)
    assert candidate is not None
    assert candidate.netlist.is_empty
    assert candidate.source == str(schematic)
    assert os.listdir(project) == ["p.kicad_sch"]
    (project / "out.net").write_text(NETLIST)
    os.utime(project / "out.net", (50, 50))
    candidate = find_candidate(project)
    assert candidate is not None
    assert candidate.warnings == (
        "p.kicad_sch was saved after out.net was exported",
        "p.kicad_sch now says something else than out.net, which is judged",
    )
    schematic.write_text("(kicad_sch (version")
    (project / "out.net").unlink()
    with pytest.raises(Damaged, match="kicad-cli made no netlist"):
        find_candidate(project)


def test_without_kicad_cli_the_words_are_clear(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "p.kicad_sch").write_text(SHEET)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InvalidInput, match="install KiCad 9"):
        find_candidate(tmp_path)


def test_the_command_prints_the_checks(task: Task, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "out.net").write_text(NETLIST.replace("+5V", "+9V"))
    arguments = ["kicad", "score", "--tasks", str(tmp_path / "tasks"), "--task", "one", str(project)]
    assert main(arguments) == 0
    shown = capsys.readouterr().out.split("\n")
    assert [line.split()[-1] for line in shown[:4]] == ["pass", "pass", "fail", "0.667"]
    assert main([*arguments, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["score"] == pytest.approx(2 / 3)
    assert (said["components"], said["nets"], said["net_names"]) == (True, True, False)
    assert main([*arguments[:5], "no", str(project)]) == 1
    assert "there is no task 'no'" in capsys.readouterr().err


def test_the_command_lists_tasks(task: Task, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kicad", "tasks", "--tasks", str(tmp_path / "tasks")]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["one", "empty", "bare"]
    assert main(["kicad", "tasks", "--json", "--tasks", str(tmp_path / "tasks")]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[0])["text"] == "Draw one."


PUBLIC = Path(os.environ.get("SCRUBJAY_KICAD_TASKS", "../shared/data/kicad_tasks"))
DO_NOTHING = {
    **dict.fromkeys(("154d0750", "55f2eefb", "589da233", "84ec333e", "9ca3ef44", "d1c655da"), 2),
    **dict.fromkeys(("2c11fe94", "733d278a"), 1),
}


@pytest.mark.skipif(not PUBLIC.is_dir(), reason="the public tasks are not on this machine")
def test_the_known_answers_of_the_public_tasks(tmp_path: Path) -> None:
    tasks = read_tasks(PUBLIC)
    assert len(tasks) == 25
    reached = {}
    for task in tasks:
        reference = task.reference()
        assert check(reference, reference).score == 1.0
        project = tmp_path / task.id
        project.mkdir()
        if task.initial.is_dir():
            shutil.copytree(task.initial, project, dirs_exist_ok=True)
        reached[task.id] = round(3 * score(task, project).value)
    assert {name: thirds for name, thirds in reached.items() if thirds} == DO_NOTHING
    assert sum(reached.values()) / 75 == pytest.approx(14 / 75)


def test_scoring_imports_no_gymnasium() -> None:
    code = "import sys, scrubjay.environments.kicad.scoring; print({'gymnasium', 'numpy', 'xcffib'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
