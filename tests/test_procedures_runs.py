"""The record of calls: written by the harness, added up, and read on as it grows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scrubjay.errors import InvalidInput
from scrubjay.memory.layout import Layout
from scrubjay.memory.procedure_runs import Run, Runs
from scrubjay.memory.procedures import Procedures
from skills import CODE


def test_calls_add_up_and_two_failures_in_a_row_are_shown(layout: Layout, procedures: Procedures) -> None:
    made = procedures.create("cut-step", "Cut.", code=CODE)

    def call(outcome: str, error: str | None = None, digest: str = made.digest) -> None:
        procedures.record(
            Run("cut_step", outcome, arguments={"n": 2}, error=error, digest=digest, steps=10, life=1, step=5)
        )

    for outcome in ("failure", "success", "success", "failure", "stopped"):
        call(outcome)
    assert str(procedures.statistics("cut-step")) == "called 5, succeeded 2"
    call("budget", "the time budget is spent")
    assert procedures.offer()[0].endswith("Cut. (called 6, succeeded 2, the last 2 failed)")
    assert procedures.statistics("cut-step").error == "the time budget is spent"
    assert procedures.statistics("cut-step").steps == 60
    procedures.update("cut-step", code=CODE.replace("2", "3"))
    assert str(procedures.statistics("cut-step")) == "called 6, succeeded 2", "the new code has not failed yet"
    call("failure", digest=procedures.get("cut-step").digest)
    assert str(procedures.statistics("cut-step")) == "called 7, succeeded 2"
    assert procedures.statistics("cut-step").failures_in_a_row == 1


def test_a_call_is_a_row_outside_of_what_the_agent_writes(layout: Layout, procedures: Procedures) -> None:
    run = Run(
        "Cut Step", "failure", "procedure", {"x": float("nan")}, ("ep_000043",), "ValueError: no", 3, 0.5, 1, 9, 2, "d",
        "dig", "2026-11-30T12:00:00.000+00:00",
    )  # fmt: skip
    procedures.record(run)
    (row,) = [json.loads(line) for line in Path(layout.procedures_journal).read_text().splitlines()]
    assert row == {
        "procedure": "cut-step", "kind": "procedure", "arguments": {"x": None}, "episodes": ["ep_000043"],
        "outcome": "failure", "error": "ValueError: no", "steps": 3, "seconds": 0.5, "life": 1, "step": 9, "turn": 2,
        "digest": "d", "category": "dig", "time": "2026-11-30T12:00:00.000+00:00",
    }  # fmt: skip
    assert procedures.runs("cut_step")[0].episodes == ("ep_000043",)
    with pytest.raises(InvalidInput):
        Run("a", "great")


def test_runs_are_read_on_and_broken_rows_cost_themselves(layout: Layout, procedures: Procedures) -> None:
    reader = Runs(layout)
    assert reader.statistics("a").called == 0
    for number in range(5):
        procedures.record(Run("a" if number % 2 else "b", "success", steps=number))
    assert reader.statistics("a").called == 2
    with open(layout.procedures_journal, "ab") as file:
        file.write(b'not json\n{"procedure": "a", "outcome": "great"}\n{"procedure": "a", "outco')
    procedures.record(Run("a", "failure", extra={"more": 1}))
    assert reader.statistics("a").called == 3
    assert reader.broken == 3
    assert [run.steps for run in procedures.runs("a", last=2)] == [3, 0]
    assert procedures.runs(last=1)[0].extra == {"more": 1}
    assert len(procedures.runs()) == 6
    Path(layout.procedures_journal).write_text('{"procedure": "a", "outcome": "success"}\n')
    assert reader.statistics("a").called == 1
    Path(layout.procedures_journal).unlink()
    assert reader.statistics("a").called == 0
