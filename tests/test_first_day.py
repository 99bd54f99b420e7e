"""Slips that a newcomer makes: each is told in words, none ends in a traceback, and nothing is lost by it."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from gymnasium.error import ResetNeeded

from scrubjay import Memory, Query
from scrubjay.environments.recording import RecordMemory
from scrubjay.errors import Conflict, InvalidInput, ReadOnly
from scrubjay.surfaces.cli import main
from scrubjay.testing import CountingEnvironment

PATH_AS_MEMORY = """
from scrubjay.environments.recording import RecordMemory
from scrubjay.testing import CountingEnvironment
RecordMemory(CountingEnvironment(), "runs/mine")
"""


def test_a_path_where_a_memory_was_expected() -> None:
    with pytest.raises(InvalidInput, match=r"found str; Memory\.create\(path\) makes one"):
        RecordMemory(CountingEnvironment(), "runs/mine")  # type: ignore[arg-type]
    done = subprocess.run([sys.executable, "-c", PATH_AS_MEMORY], capture_output=True, text=True)
    assert "InvalidInput" in done.stderr
    assert "AssertionError" not in done.stderr


def test_an_environment_over_a_memory_that_is_read_only(tmp_path: Path) -> None:
    Memory.create(tmp_path / "m").close()
    with Memory.open(tmp_path / "m", read_only=True) as memory:
        env = RecordMemory(CountingEnvironment(), memory)
        for _ in range(2):
            with pytest.raises(ReadOnly):
                env.reset(seed=1)
            with pytest.raises(ResetNeeded):
                env.step(1)
        env.close()


def test_a_file_where_a_memory_was_expected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(Conflict, match="is a file, and a memory is a folder"):
        Memory.create(tmp_path / "file")
    assert main(["run", "crafter", "--memory", str(tmp_path / "file"), "--steps", "1"]) == 1
    assert "is a file, and a memory is a folder" in capsys.readouterr().err
    assert (tmp_path / "file").read_text() == "mine"


def test_a_task_that_is_no_text(tmp_path: Path) -> None:
    with Memory.create(tmp_path / "m") as memory:
        with pytest.raises(InvalidInput, match="task: text was expected, found int"):
            memory.live(task=7)  # type: ignore[arg-type]
        assert not memory.lives()


def test_an_experiment_from_a_file_that_is_no_toml(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\xff")
    assert main(["experiment", "run", str(tmp_path / "picture.png")]) == 1
    assert "picture.png is no TOML file" in capsys.readouterr().err


def test_an_experiment_of_which_nothing_was_finished_names_no_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "e.toml").write_text(
        'name = "e"\nenvironment = "chess"\nmethods = ["mfm"]\nmodels = ["scripted"]\nseeds = [1]\nsteps = 5\n'
        '[[tasks]]\nname = "a"\ntext = "b"\n'
    )
    assert main(["experiment", "run", str(tmp_path / "e.toml"), "--folder", str(tmp_path / "e")]) == 1
    told = capsys.readouterr()
    assert "'chess' is no environment" in told.err
    assert told.out == "0 of 1 trials are finished. Nothing to report yet.\n"


OPEN_OR_MAKE = """
import sys
from scrubjay.surfaces.cli import run
print("ready", flush=True)
for line in sys.stdin:
    run._memory(line.strip()).close()
    print("opened", flush=True)
"""


def test_runs_that_begin_at_once_in_a_new_memory_share_it(tmp_path: Path) -> None:
    command = [sys.executable, "-c", OPEN_OR_MAKE]
    running = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    for nth in range(-1, 30):
        for process in running if nth >= 0 else ():
            assert process.stdin is not None
            process.stdin.write(f"{tmp_path / str(nth)}\n")
            process.stdin.flush()
        for process in running:
            assert process.stdout is not None
            assert process.stdout.readline() == ("opened\n" if nth >= 0 else "ready\n")
    for process in running:
        process.communicate()
        assert process.returncode == 0


def test_a_folder_with_a_space_is_quoted_in_what_to_type_next(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(tmp_path / "my memory")
    frame = np.zeros((40, 60, 3), np.uint8)
    with Memory.create(folder) as memory, memory.live(task="look") as life, life.episode("look", frame=frame):
        pass
    out = str(tmp_path / "x.png")
    for command in (
        ["look", folder, "ep_000000", "--out", out, "--q", "Dark?"],
        ["episodes", folder, "--sheet", out, "--q", "Dark?"],
    ):
        assert main(command) == 0
        assert f"scrubjay answer '{folder}' q_" in capsys.readouterr().err


def test_a_query_that_is_none_and_a_picture_that_is_none(tmp_path: Path) -> None:
    with Memory.create(tmp_path / "m") as memory:
        for query in ("iron", {"tag": "damage"}):
            with pytest.raises(InvalidInput, match=r"a Query was expected, such as Query\(grep='iron'\)"):
                memory.find(query)  # type: ignore[arg-type]
            with pytest.raises(InvalidInput, match="a Query was expected"):
                list(memory.iterate(query))  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="like: descriptors"):
        Query(like=5)  # type: ignore[arg-type]


def test_a_state_that_no_json_holds_begins_no_episode(tmp_path: Path) -> None:
    endless: dict[str, object] = {}
    endless["again"] = endless
    with Memory.create(tmp_path / "m") as memory, memory.live(task="count") as life:
        for state, told in (({"n": 10**5000}, "n: a number of 16610 bits"), (endless, "nested more than 200")):
            with pytest.raises(InvalidInput, match=told) as raised:
                life.episode("count", state=state)
            assert len(str(raised.value)) < 200
        with life.episode("count", state={"n": 10**300}):
            pass
        assert os.listdir(tmp_path / "m" / "episodes" / "0000") == ["ep_000000"]


def test_a_check_says_what_to_do_where_no_repair_helps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "m"
    with Memory.create(folder) as memory, memory.live(task="look") as life:
        with life.episode("look"):
            pass
        memory.documents.append("notes.md", "- it is dark")
    assert main(["check", str(folder)]) == 1
    told = capsys.readouterr().out
    assert told.endswith("\n1 problem\n")
    (folder / "episodes" / "0000" / "ep_000000" / "steps.jsonl").unlink()
    assert main(["check", str(folder)]) == 1
    assert "comes back only from a copy of its file" in capsys.readouterr().out


def test_a_procedure_that_calls_what_is_no_atom_is_told_what_there_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "m"
    with Memory.create(folder) as memory:
        memory.procedures.create("go-right", "Walks right.", code="def go_right():\n    move_right()\n")
    assert main(["procedures", str(folder), "run", "go-right", "--env", "crafter"]) == 1
    assert "a procedure calls atoms, which are act, " in capsys.readouterr().err


def test_why_nothing_was_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "m"
    Memory.create(folder).close()

    def asked(*conditions: str) -> list[str]:
        assert main(["episodes", str(folder), *conditions]) == 0
        return capsys.readouterr().err.splitlines()

    assert asked() == ["(no matching episodes)"]
    with Memory.open(folder) as memory:
        for action in ("dig", "walk"):
            with memory.live(task=action) as life, life.episode(action):
                pass
    assert asked("--action", "dig") == ["(no matching episodes)", "(one life was asked; --life all asks every one)"]
    assert asked("--action", "dig", "--life", "all") == []
    assert asked("--action", "fly", "--life", "all") == ["(no matching episodes)"]
    (folder / "index.jsonl").unlink()
    assert (
        asked()[1]
        == f"(the index is gone, the episodes are here: scrubjay check {folder} --repair makes its rows again)"
    )
    assert main(["check", str(folder), "--repair"]) == 0
    capsys.readouterr()
    assert asked("--action", "walk") == []


def test_an_option_that_would_do_nothing_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Memory.create(tmp_path / "m").close()
    for option in ("--out", "--now"):
        assert main(["episodes", str(tmp_path / "m"), option, "x.png"]) == 2
        assert "--sheet OUT writes what was found" in capsys.readouterr().err
    assert main(["episodes", str(tmp_path / "m"), "--radius", "3"]) == 2
    assert "--radius R is of --near X Z" in capsys.readouterr().err


def test_a_remembered_frame_that_is_not_there_is_told_with_the_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, out = tmp_path / "m", str(tmp_path / "x.png")
    with Memory.create(folder) as memory, memory.live(task="look") as life:
        with life.episode("look", frame=None, frame_missing="the camera was off"):
            pass
        frame = np.zeros((40, 60, 3), np.uint8)
        with life.episode("look", frame=frame):
            pass
    asked = ["episodes", str(folder), "--now", "ep_000001", "--out", out]
    assert main([*asked, "--then-now", "ep_000000"]) == 1
    assert "no frame for 'ep_000000': ep_000000#0 has no frame: the camera was off" in capsys.readouterr().err
    assert main([*asked, "--then-now", "ep_000009"]) == 1
    assert "not an episode id in the index" in capsys.readouterr().err


def test_a_slip_in_the_name_of_a_task_is_no_text_for_the_agent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["run", "crafter", "--memory", str(tmp_path / "m"), "--steps", "1", "--task"]
    assert main([*command, "far-resourc"]) == 1
    assert "far-resource is one" in capsys.readouterr().err
    assert not (tmp_path / "m").exists()
    assert main([*command, "survive"]) == 0
    with Memory.open(tmp_path / "m", read_only=True) as memory:
        assert memory.lives()[0].task == "survive"


def test_threads_that_make_the_same_memory_at_once(tmp_path: Path) -> None:
    def make(_: int) -> str:
        try:
            Memory.create(tmp_path / "m").close()
        except Conflict:
            return "taken"
        return "made"

    with ThreadPoolExecutor(8) as threads:
        assert sorted(threads.map(make, range(8))) == ["made"] + ["taken"] * 7
    Memory.open(tmp_path / "m").close()
    assert main(["check", str(tmp_path / "m")]) == 0


def test_adapters_of_a_memory_without_procedures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Memory.create(tmp_path / "m").close()
    assert main(["adapters", "score", str(tmp_path / "m")]) == 0
    assert capsys.readouterr().err == "(no procedure)\n"
