"""A regular expression that would take for ever ends in an error that says what to do; nothing else notices."""

from __future__ import annotations

import re
import signal
import threading
from pathlib import Path

import pytest

from scrubjay.errors import InvalidInput
from scrubjay.retrieval.patience import Patient
from scrubjay.surfaces.cli import main
from small_memories import commit, episode, make_memory

FOREVER = r"(a+)+!"
TEXT = "a" * 1000


def test_one_text_that_would_take_forever_is_broken_off() -> None:
    patient = Patient(re.compile(FOREVER), 0.05)
    with pytest.raises(InvalidInput, match=r"more than 0\.05 s"):
        patient.found_in(TEXT)
    assert signal.getitimer(signal.ITIMER_VIRTUAL)[0] == 0


def test_many_texts_share_the_time() -> None:
    patient = Patient(re.compile(r"(a?){14}a{14}!"), 0.05)
    with pytest.raises(InvalidInput, match="given up"):
        any(patient.found_in("a" * 20) for _ in range(10_000))


def test_ordinary_patterns_find_what_they_find() -> None:
    patient = Patient(re.compile("iro?n"))
    assert [patient.found_in(text) for text in ("an iron", "no", "irn")] == [True, False, True]


def test_another_thread_goes_without_the_timer() -> None:
    found: list[bool] = []
    thread = threading.Thread(target=lambda: found.append(Patient(re.compile("a")).found_in(TEXT)))
    thread.start()
    thread.join()
    assert found == [True]


def test_a_timer_of_somebody_else_stays_theirs() -> None:
    before = signal.getsignal(signal.SIGVTALRM)
    theirs = signal.signal(signal.SIGVTALRM, lambda number, frame: None)
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, 1000)
        assert Patient(re.compile("a")).found_in(TEXT)
        assert signal.getitimer(signal.ITIMER_VIRTUAL)[0] > 900
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, theirs if before is None else before)


def test_the_command_tells_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    layout = make_memory(tmp_path / "memory")
    commit(layout, episode(0, state={"text": TEXT}))
    assert main(["episodes", layout.root, "--regex", FOREVER]) == 1
    told = capsys.readouterr().err
    assert told.startswith("scrubjay episodes: regex: given up")
    assert "a repeat inside a repeat" in told.lower()
