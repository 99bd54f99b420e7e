"""A coding agent consolidates: evidence as a file, updates as a file, and what was refused in a second start."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents import agent
from corridor import Corridor
from scrubjay import Memory
from scrubjay.agent.consolidating_driver import DriverConsolidator
from scrubjay.agent.consolidation import Consolidation
from scrubjay.agent.driver import Driver, Patience
from scrubjay.agent.driver_brief import consolidation_brief
from scrubjay.agent.loop import Run
from scrubjay.agent.triggers import When
from scrubjay.errors import ModelUnavailable
from scrubjay.memory import journal
from scrubjay.memory.checking import check
from scrubjay.memory.jsonio import Json
from scrubjay.methods.named import make_consolidation, make_method
from scrubjay.models.scripted.consolidating import ScriptedConsolidator
from scrubjay.surfaces.cli import main

HEAD = """
def hand_in(*items):
    pathlib.Path("mine/updates.json").write_text(json.dumps({"items": items}))
def add(claim, *cites):
    return {"update": {"document": "notes.md", "operation": "add", "claim": claim, "cites": list(cites)}}
print(json.dumps({"num_turns": 2, "usage": {"input_tokens": 30, "output_tokens": 5}}))
if "Consolidate now" not in prompt:
    act(right)
    sys.exit()
"""


def lived(folder: Path, body: str, steps: int = 3) -> tuple[Memory, list[Json], list[str]]:
    """A life that consolidates at its end; the memory, the rows of consolidations, what was told."""
    memory, told = Memory.create(folder / "m"), list[str]()
    with Driver(agent(folder, HEAD + body), memory, patience=Patience(seconds=20), tell=told.append) as driver:
        turns = make_consolidation(driver, make_method("mfm"), memory)
        assert turns is not None
        turns.when = When(every=None)
        Run(Corridor(), driver, memory, task="walk", steps=steps, consolidation=turns).run()
    rows = [row for row in journal.rows(memory.layout.turns(1)) if row.get("kind") == "consolidation"]
    memory.close()
    return memory, rows, told


def test_what_it_hands_in_is_written_with_its_citations(tmp_path: Path) -> None:
    memory, rows, told = lived(
        tmp_path,
        "evidence = pathlib.Path('lives/0001/turn/evidence.md').read_text()\n"
        "assert 'ep_000003' in evidence and '--- notes.md' in evidence\n"
        "hand_in(add('Three is reached by walking right', 'ep_000003'), {'working': {'text': '- go on [ep_000003]'}})",
    )
    assert told == []
    assert memory.documents.read("notes.md") == "# Notes\n\n- Three is reached by walking right [ep_000003]\n"
    assert memory.documents.read("working/0001.md").startswith("- go on [ep_000003]")
    (row,) = rows
    assert (row["requests"], row["input_tokens"], row["refused"], len(row["changes"])) == (2, 30, 0, 2)
    assert row["when"] == "end of life 1: budget spent"
    assert "updates.json" not in memory.documents.list()
    assert check(memory.layout).is_sound


def test_what_is_refused_is_told_once_and_then_a_hypothesis(tmp_path: Path) -> None:
    memory, rows, _ = lived(
        tmp_path,
        "again = 'this was refused' in prompt\n"
        "if again: assert 'item 2: ' in prompt and 'ep_000999' in prompt\n"
        "bad = add('The wall is far', 'ep_000999')\n"
        "hand_in(bad) if again else hand_in(add('Right works', 'ep_000001'), bad)",
    )
    assert memory.documents.read("notes.md") == (
        "# Notes\n\n- Right works [ep_000001]\n- The wall is far (hypothesis)\n"
    )
    assert rows[0]["requests"] == 4


@pytest.mark.parametrize(
    "body",
    [
        "pathlib.Path('mine/updates.json').write_text('{\"items\": 3}')",
        "pathlib.Path('mine/updates.json').write_text('[]')",
        "pathlib.Path('mine/updates.json').mkdir()",
        "os.symlink('/etc/passwd', 'mine/updates.json')",
        "pass",
    ],
)
def test_where_nothing_readable_is_handed_in_the_evidence_is_read_the_next_time(tmp_path: Path, body: str) -> None:
    memory, rows, _ = lived(tmp_path, body)
    assert rows == []
    assert memory.documents.list() == []
    assert memory.lives()[0].outcome == "budget spent"
    with Memory.open(tmp_path / "m") as memory:
        outcome = Consolidation(memory, ScriptedConsolidator()).run("asked for")
        assert outcome is not None
        assert outcome.read == 4


def test_items_that_are_refused_twice_are_told_and_change_nothing(tmp_path: Path) -> None:
    body = "hand_in(3, {}, {'fly': {}}, {'update': 4}, {'update': {}, 'working': {}}, {'working': {'text': 5}})"
    memory, rows, _ = lived(tmp_path, body)
    assert [(row["changes"], row["refused"]) for row in rows] == [([], 6)]
    assert memory.documents.list() == []


def test_a_command_that_fails_costs_the_consolidation_and_its_evidence_is_read_the_next_time(tmp_path: Path) -> None:
    memory, rows, _ = lived(tmp_path, "sys.exit(3)")
    assert rows == []
    assert memory.lives()[0].outcome == "budget spent"
    with Memory.open(tmp_path / "m") as memory:
        command = agent(tmp_path, HEAD + "sys.exit(3)")
        with Driver(command, memory, patience=Patience(seconds=20)) as driver:
            consolidation = Consolidation(memory, DriverConsolidator(driver))
            with pytest.raises(ModelUnavailable, match="ended with status 3"):
                consolidation.run("asked for", life=1)
            agent(tmp_path, HEAD + "hand_in(add('It went right', 'ep_000002'))")
            outcome = consolidation.run("asked for", life=1)
        assert outcome is not None
        assert outcome.read == 4


def test_what_it_does_to_the_evidence_meanwhile_is_undone(tmp_path: Path) -> None:
    memory, rows, told = lived(
        tmp_path, "shutil.rmtree('episodes', ignore_errors=True)\nhand_in(add('All gone', 'ep_000001'))"
    )
    assert any(line.startswith("restored ") for line in told)
    assert len(rows[0]["changes"]) == 1
    assert check(memory.layout).is_sound


def test_the_brief_names_every_kind_of_item() -> None:
    told = consolidation_brief(1, "25 turns", "lives/0001/turn")
    for kind in ("- update: document, operation, claim, cites, entry, why", "- working: text", "- procedure: name"):
        assert kind in told
    assert len(told.encode()) < 12 * 1024


def test_the_command_with_a_coding_agent(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lived(tmp_path, "sys.exit(3)")  # what its consolidation would have read is unread
    where = str(tmp_path / "m")
    command = agent(tmp_path, HEAD + "hand_in(add('Right works', 'ep_000001'))")
    assert main(["consolidate", where, "--model", f"driver:{command}", "--dry-run"]) == 1
    assert "leave it out" in capsys.readouterr().err
    assert main(["consolidate", where, "--model", f"driver:{command}"]) == 0
    told = capsys.readouterr()
    assert "changed notes.md" in told.out
    assert told.err == ""  # nothing of a life that has ended was to be put back
    with Memory.open(where) as memory:
        assert memory.documents.read("notes.md") == "# Notes\n\n- Right works [ep_000001]\n"
    assert main(["consolidate", where, "--undo"]) == 0
    with Memory.open(where) as memory:
        assert memory.documents.list() == []
