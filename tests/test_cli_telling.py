"""What the command tells: a mistake with what was expected, recorded text without what would steer a terminal."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from scrubjay import Memory
from scrubjay.memory.procedure_runs import Run, Runs
from scrubjay.surfaces.cli import main

ESCAPE = "\x1b[2J\u202e"
PUBLISHED = Path(__file__).parent / "data" / "mfm_published" / "index.jsonl"


@pytest.fixture
def nasty(memory: Memory) -> Memory:
    """A memory in which whatever can hold text holds what would steer a terminal."""
    frame = np.zeros((20, 30, 3), np.uint8)
    with memory.live(task=ESCAPE, world="desk") as life:
        state = {"pos": [0, 0, 0], "text": ESCAPE, "milestones": [ESCAPE]}
        cameras = {"front": frame, "map": frame}
        with life.episode(ESCAPE, {"a": ESCAPE}, frame=cameras, state=state, place=ESCAPE, plan=ESCAPE) as episode:
            episode.step(ESCAPE, frame=cameras, state=state)
            cell = {"cell": [0, 0, 0], "kind": "placed", "item": ESCAPE, "step": 1}
            episode.finish(ESCAPE, note=ESCAPE, events=[ESCAPE], tags=[ESCAPE], cells=[cell])
    memory.documents.create("notes.md", f"- {ESCAPE} a claim\n- {ESCAPE} [ep_000000].\n")
    skill = f"---\nname: dig\ndescription: digs {ESCAPE}\n---\n{ESCAPE}\n"
    memory.documents.create("procedures/dig/SKILL.md", skill)
    memory.documents.create("procedures/odd/SKILL.md", ESCAPE)
    Runs(memory.layout).record(Run("dig", "failure", arguments={"a": ESCAPE}, error=ESCAPE, episodes=("ep_000000",)))
    with open(memory.layout.grid, "ab") as file:
        file.write(b'{"cell": "\\u001b", "kind": "\\u001b"}\n{broken \x1b\n')
    return memory


@pytest.mark.parametrize(
    "command",
    [
        "episodes", "episodes --match claim", "episodes --then-now ep_000000 --now now.png --out pair.png",
        "episodes --sheet sheet.png", "look ep_000000", "look ep_000000 --camera \x1b", "compare ep_000000 ep_000000#1",
        "map", "map --out map.png", "stats", "memory view notes.md", "memory history", "memory cites",
        "memory show notes.md 1", "procedures list", "procedures show dig", "procedures runs", "check",
        "consolidate --dry-run", "consolidate", "check --repair", "forget ep_000000 --reason \x1b",
    ],
)  # fmt: skip
def test_recorded_text_sends_no_escape(
    nasty: Memory, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    nasty.look("ep_000000").image().save("now.png")
    name, *rest = command.split(" ")
    main([name, nasty.root, *rest])
    printed = capsys.readouterr()
    assert printed.out or printed.err
    for character in ESCAPE[0], ESCAPE[-1]:
        assert character not in printed.out
        assert character not in printed.err


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("episodes --life abc", "a number above 0 or `all` was expected, found 'abc'"),
        ("episodes --near nan 3", "two finite coordinates were expected"),
        ("map --height nan", "height: a finite number was expected, found nan"),
        ("map --height inf", "height: a finite number was expected, found inf"),
        ("memory undo 999", "undo of 999 operations: 3 can be undone"),
        ("answer nonsense yes", "no question 'nonsense' was asked in this memory; one looks like q_000001"),
    ],
)
def test_a_mistake_is_told_with_what_was_expected(
    nasty: Memory, command: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    name, *rest = command.split(" ")
    documents = nasty.documents.list()
    assert main([name, nasty.root, *rest]) in (1, 2)
    assert told in capsys.readouterr().err
    assert nasty.documents.list() == documents


@pytest.mark.parametrize("command", ["map", "consolidate", "consolidate --dry-run"])
def test_what_a_published_run_cannot_give_is_said(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(PUBLISHED, tmp_path)
    name, *rest = command.split(" ")
    assert main([name, str(tmp_path), *rest]) == 1
    assert "an index alone (format 0)" in capsys.readouterr().err
