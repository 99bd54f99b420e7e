"""Consolidation by rules: what the counts show, that new evidence revises it, and the command that does it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import live_some
from corridor import Always, Corridor
from scrubjay import Memory, World
from scrubjay.agent.consolidation import Consolidation, Outcome
from scrubjay.agent.loop import Run as Living
from scrubjay.errors import ScrubjayError
from scrubjay.memory.citations import unsupported
from scrubjay.memory.evidence import read_record
from scrubjay.memory.layout import Reference
from scrubjay.memory.lives import Life
from scrubjay.memory.procedures import Procedures, Run
from scrubjay.models.scripted.consolidating import ScriptedConsolidator
from scrubjay.surfaces.cli import main


def consolidate(memory: Memory) -> Outcome:
    outcome = Consolidation(memory, ScriptedConsolidator()).run("asked for")
    assert outcome is not None
    assert not outcome.refused
    return outcome


def exists(memory: Memory, reference: Reference) -> bool:
    try:
        read_record(memory.layout, reference.episode)
    except ScrubjayError:
        return False
    return True


def do(life: Life, kind: str, before: dict[str, Any], after: dict[str, Any], outcome: str = "success") -> str:
    with life.episode(kind, {}, state=before) as episode:
        episode.step(kind, state=after)
        return episode.finish(outcome).id


def at(x: float, z: float, **more: Any) -> dict[str, Any]:
    return {"pos": [x, 0.0, z], "health": 9, **more}


def test_a_life_becomes_claims_that_cite_it(memory: Memory) -> None:
    Living(Corridor(), Always(("right", 7)), memory, steps=7).run()
    Living(Corridor(), Always(("left", 4)), memory, steps=8).run()
    consolidate(memory)
    assert memory.documents.read("GUIDE.md").split("\n")[2:4] == [
        "- Milestone three: reached once, soonest at step 3 of a life by right [ep_000001]",
        "- Milestone six: reached once, soonest at step 6 of a life by right [ep_000002]",
    ]
    assert "within 4 of (-4, 4): hurt 5 times, died 2 times, mostly during left" in memory.documents.read("notes.md")
    assert not unsupported(memory.documents, lambda reference: exists(memory, reference))


def test_new_evidence_revises_the_claim(memory: Memory) -> None:
    def hurt(life: Life) -> None:
        do(life, "go_to", at(-1, 3), at(-2, 3, health=7))

    with memory.live("a", World("w")) as life:
        hurt(life)
        hurt(life)
        assert consolidate(memory).done.changes == ()
        hurt(life)
        consolidate(memory)
        hurt(life)
        consolidate(memory)
    text = memory.documents.read("notes.md")
    assert text == (
        "# Notes\n\n- In w, within 4 of (-4, 4): hurt 4 times, mostly during go_to [ep_000000, ep_000002, ep_000003]\n"
    )


def test_the_same_evidence_read_again_says_the_same(memory: Memory) -> None:
    Living(Corridor(), Always(("right", 2), ("left", 9)), memory, steps=40).run()
    consolidate(memory)
    texts = {path: memory.documents.read(path) for path in memory.documents.list()}
    for life in memory.lives():
        Path(memory.layout.turns(life.life)).unlink()
    assert consolidate(memory).done.changes == ()
    assert {path: memory.documents.read(path) for path in memory.documents.list()} == texts


def test_a_second_life_is_counted_with_the_first(memory: Memory) -> None:
    for start, steps in ((0, 5), (4, 2)):
        with memory.live("a", "w") as life:
            for x in range(start, start + steps):
                reached = {"milestones": ["far"]} if x == 4 or start else {}
                do(life, "go_to", at(x, 0, milestones=[]), at(x + 1, 0, inventory={}, **reached))
                if reached:
                    break
        consolidate(memory)
    assert (
        memory.documents.read("GUIDE.md")
        .strip()
        .endswith("- Milestone far: reached 2 times, soonest at step 1 of a life by go_to [ep_000004, ep_000005]")
    )


def test_axes_and_places_are_those_of_the_world(memory: Memory) -> None:
    with memory.live("a", World("flat", up="z", cell=2.0)) as life:
        for _ in range(3):
            do(life, "go", {"pos": [17, 3, 99], "health": 9}, {"pos": [17, 3, 99], "health": 8})
    with memory.live("b", "desk") as life:
        for _ in range(3):
            with life.episode("click", {}, state={"health": 9}, place="[Set]tings") as episode:
                episode.step("click", state={"health": 8})
    consolidate(memory)
    text = memory.documents.read("notes.md")
    assert "In flat, within 8 of (24, 8): hurt 3 times" in text
    assert "In desk, at Set tings: hurt 3 times" in text


def test_what_had_no_effect_and_what_failed(memory: Memory) -> None:
    with memory.live("a", "w") as life:
        for _ in range(3):
            with life.episode("go_to", {}, state=at(1, 1)) as episode:
                episode.step("go", state=at(1, 1))
                episode.step("go", state=at(1, 1))
                episode.finish("success")
            do(life, "use_at", at(1, 1), at(1, 1), "failure")
        do(life, "use_at", at(1, 1), at(1, 1))
    consolidate(memory)
    assert memory.documents.read("notes.md").split("\n")[2:4] == [
        "- Moving without effect in w, within 4 of (4, 4): 3 times, mostly go_to [ep_000000, ep_000004]",
        "- Action use_at in w: failed 3 times of 4 [ep_000001, ep_000005]",
    ]


def test_text_of_an_environment_is_one_plain_line(memory: Memory) -> None:
    with memory.live("a", "w  [ep_000000] # <!-- x") as life:
        for _ in range(3):
            do(life, "go_to\n# -->", at(1, 1), at(1, 1, health=8), "failure")
    consolidate(memory)
    text = memory.documents.read("notes.md")
    assert "In w ep_000000 !-- x, within 4 of (4, 4): hurt 3 times, mostly during go_to --" in text
    assert "Action go_to -- in w ep_000000 !-- x: failed 3 times of 3" in text
    for life_row in memory.lives():
        Path(memory.layout.turns(life_row.life)).unlink()
    assert consolidate(memory).done.changes == ()


def test_a_procedure_that_fails_and_works_again(lived: Memory) -> None:
    procedures = Procedures(lived.layout, lived.documents)

    def called(outcome: str, episode: str, error: str | None = None) -> None:
        procedures.record(Run("dig", outcome, episodes=(episode,), error=error))

    called("failure", "ep_000000", "x\nValueError: [deep]")
    consolidate(lived)
    called("failure", "ep_000001", "Traceback\nValueError: [deep] <!-- #")
    consolidate(lived)
    failed = "Procedure dig: fails, the last 2 of 2 calls with ValueError: deep !--"
    assert lived.documents.read("GUIDE.md") == f"# Guide\n\n- {failed} [ep_000001]\n"
    called("success", "ep_000002")
    consolidate(lived)
    called("success", "ep_000003")
    consolidate(lived)
    assert lived.documents.read("GUIDE.md").split("\n")[2:4] == [
        f"- {failed} [ep_000001] (superseded by [ep_000002]: it succeeded since)",
        "- Procedure dig: works, 1 of 3 calls succeeded [ep_000002]",
    ]
    called("failure", "ep_000003")
    called("failure", "ep_000003")
    consolidate(lived)
    assert "works, 1 of 3 calls succeeded [ep_000002] (superseded by [ep_000003]" in lived.documents.read("GUIDE.md")


def test_the_command(memory: Memory, capsys: pytest.CaptureFixture[str]) -> None:
    def command(*words: str) -> str:
        assert main(["consolidate", memory.root, *words]) == 0
        return capsys.readouterr().out

    with memory.live("a", "w") as life:
        for _ in range(4):
            do(life, "go_to", at(1, 1), at(1, 1, health=8))
    assert "+++ mine/notes.md" in command("--dry-run")
    assert memory.documents.list() == []
    assert json.loads(command("--dry-run", "--json"))["read"] == 4
    assert "changed notes.md" in command()
    assert "hurt 4 times" in memory.documents.read("notes.md")
    assert command() == "nothing came since the last consolidation\n"
    assert json.loads(command("--json")) == {"read": 0, "changes": []}
    assert "took back the consolidation" in command("--undo")
    assert memory.documents.list() == []
    live_some(memory, 1)
    assert json.loads(command("--json"))["until"] == "ep_000004"
    assert main(["consolidate", memory.root, "--model", "nobody:x"]) == 1
    assert "no language model" in capsys.readouterr().err
