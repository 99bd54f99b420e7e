"""Consolidation: evidence stays, claims come with citations, nothing is said twice, and it can be taken back."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import live_some
from scrubjay import Memory
from scrubjay.agent.consolidation import Consolidation, Outcome
from scrubjay.agent.new_evidence import MOST_ROWS
from scrubjay.errors import Conflict, InvalidInput, NotFound, ReadOnly, ScrubjayError
from scrubjay.memory import journal
from scrubjay.memory.citations import unsupported
from scrubjay.memory.layout import Reference
from scrubjay.memory.procedures import Procedures
from scrubjay.models.chat import Usage
from scrubjay.models.consolidating import Evidence, Item, Judge, Procedure, Proposal, Update, Working

IRON = Update("notes.md", "add", "Iron lies east", ("ep_000001",))


class Proposes:
    """A consolidator that proposes what it was given, and keeps what it was shown; `meanwhile` others write."""

    name = "prepared"

    def __init__(self, *items: Item, meanwhile: Callable[[], object] = lambda: None) -> None:
        self.items, self._meanwhile = items, meanwhile
        self.seen: list[Evidence] = []

    def propose(self, evidence: Evidence, judge: Judge) -> Proposal:
        self.seen.append(evidence)
        self._meanwhile()
        return Proposal(self.items, Usage(2, 300, 20, 0, 0.01))


def run(memory: Memory, *items: Item, meanwhile: Callable[[], object] = lambda: None) -> Outcome:
    outcome = Consolidation(memory, Proposes(*items, meanwhile=meanwhile)).run("asked for")
    assert outcome is not None
    return outcome


def files(memory: Memory) -> dict[str, str]:
    root = Path(memory.root)
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in root.rglob("*")
        if path.is_file()
    }


def evidence_of(memory: Memory) -> dict[str, str]:
    """Everything but documents, their history, the turns, and what is derived."""
    return {
        path: digest
        for path, digest in files(memory).items()
        if not path.startswith(("mine/", ".locks/", ".cache/"))
        and not path.endswith(("documents.jsonl", "turns.jsonl"))
    }


def exists(reference: Reference) -> bool:
    return reference.episode <= "ep_000003" and reference.step is None


def test_a_claim_is_written_and_the_row_says_so(lived: Memory) -> None:
    before = evidence_of(lived)
    outcome = run(lived, IRON)
    assert lived.documents.read("notes.md") == "# Notes\n\n- Iron lies east [ep_000001]\n"
    (row,) = journal.rows(lived.layout.turns(1))
    assert {key: row[key] for key in ("kind", "when", "since", "until", "changes", "refused", "requests", "cost")} == {
        "kind": "consolidation", "when": "asked for", "since": None, "until": "ep_000003", "changes": [1],
        "refused": 0, "requests": 2, "cost": 0.01,
    }  # fmt: skip
    assert outcome.read == 4
    assert evidence_of(lived) == before


def test_only_what_is_new_is_read(lived: Memory) -> None:
    run(lived, IRON)
    assert Consolidation(lived, Proposes(IRON)).run("asked for") is None
    live_some(lived, 2)
    other = Proposes()
    outcome = Consolidation(lived, other).run("asked for")
    assert outcome is not None
    assert [row.id for row in other.seen[0].rows] == ["ep_000004", "ep_000005"]
    assert (outcome.done.since, outcome.done.until, outcome.done.life) == ("ep_000003", "ep_000005", 2)


def test_episodes_that_finish_late_are_not_passed_over(lived: Memory) -> None:
    slow, fast = lived.live("a", "seed-7"), lived.live("b", "seed-7")
    late = slow.episode("look", state={"pos": [0, 0, 0]})
    with fast.episode("look", state={"pos": [0, 0, 0]}) as episode:
        episode.step("x", state={"pos": [0, 0, 0]})
    run(lived)
    late.step("x", state={"pos": [0, 0, 0]})
    late.finish("success")
    other = Proposes()
    Consolidation(lived, other).run("asked for")
    assert [row.id for row in other.seen[0].rows] == ["ep_000004"]


def test_questions_and_calls_are_evidence_too(lived: Memory) -> None:
    run(lived)
    question = lived.look("ep_000001", question="Is it free?").inspection
    assert question is not None
    other = Proposes()
    Consolidation(lived, other).run("asked for")
    assert [asked.question for asked in other.seen[0].inspections] == ["Is it free?"]
    lived.answer(question, "yes")
    Consolidation(lived, other).run("asked for")
    assert [asked.answer for asked in other.seen[1].inspections] == ["yes"]
    assert not other.seen[1].rows


def test_the_same_proposal_twice_changes_nothing(lived: Memory) -> None:
    code = "def dig(n: int):\n    return n\n"
    items = (
        IRON,
        Update("GUIDE.md", "add", "Walk first", ("ep_000002",)),
        Working("# Now\n\n- go east [ep_000003]\n"),
        Procedure("dig", "Digs.", code, cites=("ep_000001",)),
    )
    first = run(lived, *items)
    assert len(first.done.changes) == 5
    live_some(lived, 1)
    before = files(lived)
    lived.documents.write("working/0002.md", "# Now\n\n- go east [ep_000003]\n")
    second = run(lived, *items)
    assert second.done.changes == ()
    assert not second.refused
    after = files(lived)
    assert {path for path in before if path.startswith("mine/") and before[path] != after[path]} == set()
    assert len(lived.documents.history()) == 6


def test_what_was_written_meanwhile_stays(lived: Memory) -> None:
    lived.documents.create("working/0001.md", "- before [ep_000000]\n")

    def meanwhile() -> None:
        lived.documents.append("notes.md", "- Coal in the west [ep_000002]\n")
        lived.documents.append("working/0001.md", "- new [ep_000001]\n")

    outcome = run(lived, IRON, Working("- mine [ep_000000]\n"), meanwhile=meanwhile)
    assert lived.documents.read("notes.md") == "- Coal in the west [ep_000002]\n- Iron lies east [ep_000001]\n"
    assert lived.documents.read("working/0001.md") == "- before [ep_000000]\n- new [ep_000001]\n"
    assert "written meanwhile" in outcome.refused[0]
    assert outcome.done.refused == 1


def test_two_at_once_say_it_once(lived: Memory) -> None:
    coal = Update("notes.md", "add", "Coal lies west", ("ep_000002",))
    more = replace(IRON, cites=("ep_000003",))
    with Memory.open(lived.root) as other:
        run(lived, IRON, coal, meanwhile=lambda: run(other, more))
    assert lived.documents.read("notes.md") == (
        "# Notes\n\n- Iron lies east [ep_000003, ep_000001]\n- Coal lies west [ep_000002]\n"
    )


def test_what_cites_nothing_that_is_there_is_a_hypothesis(lived: Memory) -> None:
    outcome = run(
        lived,
        Update("notes.md", "add", "Gold lies west", ("ep_000099",)),
        Update("notes.md", "add", "Late", ("ep_000001#99",)),
        Working("Go on [ep_000099].\n"),
    )
    assert lived.documents.read("notes.md") == "# Notes\n\n- Gold lies west (hypothesis)\n- Late (hypothesis)\n"
    assert lived.documents.read("working/0001.md") == "Go on. (hypothesis)\n"
    assert not outcome.refused
    assert not unsupported(lived.documents, exists)


def test_what_does_not_fit_costs_itself_alone(lived: Memory) -> None:
    outcome = run(
        lived,
        Update("../index.jsonl", "add", "A", ("ep_000001",)),
        Update("working/0001.md", "add", "A", ("ep_000001",)),
        Update("procedures/x/SKILL.md", "add", "A", ("ep_000001",)),
        Update("notes.md", "revise", "A", ("ep_000001",), "not there"),
        Update("notes.md", "supersede", "A", ("ep_000099",), "not there", "why"),
        Procedure("dig", "Digs.", "def other(:", cites=("ep_000001",)),
        Procedure("gone", disabled="it fails [ep_000001]"),
        IRON,
    )
    assert len(outcome.refused) == 7
    assert lived.documents.list() == ["notes.md"]


def test_a_working_memory_stays_under_forty_lines(lived: Memory) -> None:
    lived.documents.create("working/0001.md", "- a [ep_000001]\n" * 50)
    run(lived)
    lines = lived.documents.read("working/0001.md").splitlines()
    assert len(lines) == 39
    assert lines[-1] == "<!-- 12 lines were cut: keep this under 40 lines -->"
    live_some(lived, 1)
    run(lived, Working("- a [ep_000001]\n" * 39))
    assert len(lived.documents.read("working/0002.md").splitlines()) == 39


def test_a_correction_is_seen_with_what_it_corrects(lived: Memory) -> None:
    run(lived, IRON)
    live_some(lived, 1)
    run(lived, Update("notes.md", "supersede", "The iron is gone", ("ep_000004",), "Iron lies east", "it was mined"))
    assert lived.documents.read("notes.md").split("\n")[2:4] == [
        "- Iron lies east [ep_000001] (superseded by [ep_000004]: it was mined)",
        "- The iron is gone [ep_000004]",
    ]


def test_procedures_are_made_changed_and_disabled(lived: Memory) -> None:
    code = "def dig(n: int):\n    return n\n"
    run(lived, Procedure("dig", "Digs.", code, cites=("ep_000001",)))
    live_some(lived, 1)
    outcome = run(lived, Procedure("Dig", "Digs deep.", cites=("ep_000004",)))
    procedures = Procedures(lived.layout, lived.documents)
    assert (procedures.get("dig").description, procedures.get("dig").source) == ("Digs deep.", code)
    assert len(outcome.done.changes) == 1
    live_some(lived, 1)
    run(lived, Procedure("dig", disabled="falls into lava [ep_000004]"))
    assert procedures.get("dig").status == "disabled"
    Consolidation(lived, Proposes()).undo()
    assert procedures.get("dig").status == "candidate"


def test_undo_takes_back_all_of_the_last_one(lived: Memory) -> None:
    lived.documents.create("notes.md", "- Coal [ep_000000]\n")
    run(lived, IRON, Update("GUIDE.md", "add", "Walk", ("ep_000002",)), Working("- on [ep_000003]\n"))
    consolidation = Consolidation(lived, Proposes(IRON))
    _, changes = consolidation.undo()
    assert len(changes) == 3
    assert lived.documents.list() == ["notes.md"]
    assert lived.documents.read("notes.md") == "- Coal [ep_000000]\n"
    assert consolidation.run("asked for") is not None
    assert "Iron" in lived.documents.read("notes.md")
    consolidation.undo()
    with pytest.raises(NotFound):
        consolidation.undo()


def test_undo_leaves_what_was_written_since(lived: Memory) -> None:
    lived.documents.create("notes.md", "- Coal [ep_000000]\n")
    run(lived, IRON, Update("GUIDE.md", "add", "Walk", ("ep_000002",)))
    lived.documents.append("notes.md", "- Gold [ep_000003]\n")
    lived.documents.insert("notes.md", 0, "# Mine")
    lived.documents.append("GUIDE.md", "- Swim [ep_000003]\n")
    Consolidation(lived, Proposes()).undo()
    assert lived.documents.read("notes.md") == "# Mine\n- Coal [ep_000000]\n- Gold [ep_000003]\n"
    assert lived.documents.read("GUIDE.md") == "- Swim [ep_000003]\n"


@pytest.mark.parametrize("count", [1, 2])
def test_an_undo_goes_on_where_changes_are_taken_back_already(lived: Memory, count: int) -> None:
    """Killed between the documents and its own row, or a person took back some of it."""
    run(lived, IRON, Update("GUIDE.md", "add", "Walk", ("ep_000002",)))
    consolidation = Consolidation(lived, Proposes(IRON))
    last = consolidation.record.last()
    assert last is not None
    lived.documents.take_back(last.changes[:count])
    _, changes = consolidation.undo()
    assert len(changes) == 2 - count
    assert lived.documents.list() == []
    assert consolidation.run("asked for") is not None


def test_undo_stops_before_a_later_change_and_takes_back_nothing(lived: Memory) -> None:
    run(lived, IRON, Update("GUIDE.md", "add", "Walk", ("ep_000002",)))
    lived.documents.str_replace("notes.md", "Iron", "Ironstone")
    before = files(lived)
    with pytest.raises(Conflict, match=r"notes\.md can't be undone"):
        Consolidation(lived, Proposes()).undo()
    assert files(lived) == before


def test_a_dry_run_shows_the_difference_and_changes_nothing(lived: Memory) -> None:
    lived.documents.create("notes.md", "- Coal [ep_000000]\n")
    lived.documents.create("working/0001.md", "- old [ep_000000]\n")
    before = files(lived)
    code = "def dig(n: int):\n    return n\n"
    items = (IRON, Working("- new [ep_000001]\n"), Procedure("dig", "Digs.", code, cites=("ep_000001",)))
    with Memory.open(lived.root, read_only=True) as reader:
        consolidation = Consolidation(reader, Proposes(*items))
        preview = consolidation.preview("asked for")
        with pytest.raises(ReadOnly):
            consolidation.run("asked for")
    assert files(lived) == before
    assert preview is not None
    assert "--- mine/notes.md\n+++ mine/notes.md\n@@ -1 +1,2 @@\n" in preview.difference
    assert "+- Iron lies east [ep_000001]\n" in preview.difference
    assert "--- /dev/null\n+++ mine/procedures/dig/SKILL.md\n" in preview.difference
    run(lived, *items)
    assert "+++ mine/procedures/dig/scripts/dig.py" in preview.difference
    assert lived.documents.read("working/0001.md") == "- new [ep_000001]\n"


def test_a_memory_without_evidence_has_nothing_to_say(memory: Memory) -> None:
    assert Consolidation(memory, Proposes(IRON)).run("asked for") is None
    with pytest.raises(NotFound):
        Consolidation(memory, Proposes()).undo()


def test_a_consolidator_that_fails_changes_nothing(lived: Memory) -> None:
    def fail() -> None:
        raise InvalidInput("no")

    before = files(lived)
    with pytest.raises(InvalidInput):
        run(lived, IRON, meanwhile=fail)
    assert files(lived) == before


def test_edits_whose_row_was_lost_are_not_made_twice(lived: Memory) -> None:
    turns = Path(lived.layout.turns(1))
    blocked = Proposes(IRON, meanwhile=turns.mkdir)  # nothing can be appended where a folder stands
    with pytest.raises(ScrubjayError):
        Consolidation(lived, blocked).run("asked for", turn=1)
    assert lived.documents.list() == ["notes.md"]
    turns.rmdir()
    assert run(lived, IRON).done.changes == ()
    assert lived.documents.read("notes.md") == "# Notes\n\n- Iron lies east [ep_000001]\n"


def test_a_record_that_was_cut_is_read_again_from_its_beginning(lived: Memory) -> None:
    run(lived)
    index = Path(lived.layout.index)
    index.write_bytes(b"".join(index.read_bytes().splitlines(keepends=True)[1:]))
    other = Proposes()
    Consolidation(lived, other).run("asked for")
    assert len(other.seen[0].rows) == 3


def test_very_much_is_read_in_parts(memory: Memory) -> None:
    index = Path(memory.layout.index)
    live_some(memory, 1)
    row = index.read_bytes()
    index.write_bytes(row * (MOST_ROWS + 1))
    consolidation = Consolidation(memory, Proposes())
    reads = []
    while (outcome := consolidation.run("asked for")) is not None:
        reads.append((outcome.read, outcome.is_all))
    assert reads == [(MOST_ROWS, False), (1, True)]
