"""The disk refuses one call, or every one from then on, wherever a recorder makes it; later it works again."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

import aftermath
from faults import run_with_fault
from recorder import Sayings
from scrubjay import Memory
from scrubjay.memory.checking import repair as repair_folder
from scrubjay.public import cue_makers
from test_crash_points import empty_memory

# A call that fails is made again once the disk works; an episode that was refused durability is given up.
RECORD = """
from recorder import record, say
from scrubjay.errors import ReadOnly, StorageFailed, StorageFull
fault_is_over = False
def again(call):
    global fault_is_over
    for attempt in range(3):
        try:
            return call()
        except (StorageFailed, StorageFull, ReadOnly) as error:
            say("error", type(error).__name__, str(error))
            assert arguments[0] in str(error) or "was not acknowledged" in str(error), error
            fault_is_over = repair() or fault_is_over
            if "was not acknowledged" in str(error):
                return None
    raise AssertionError("the disk works again, and the call still fails")
record(arguments[0], again=again)
"""
FAULTS = {
    "EIO": {"error": "EIO"},
    "EIO after the call": {"error": "EIO", "after": True},
    "EIO from then on": {"error": "EIO", "lasting": True},
    "ENOSPC halfway": {"error": "ENOSPC", "half": True},
    "ENOSPC from then on": {"error": "ENOSPC", "lasting": True},
}


@pytest.mark.parametrize("nth", [pytest.param(7, id="every seventh call"), pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_recording_goes_on_after_a_fault_of_the_disk(scratch: Path, fault: dict[str, Any], nth: int) -> None:
    prepare = empty_memory(scratch)
    calls_without_fault = 0
    for n in itertools.count(1 + list(FAULTS.values()).index(fault) % nth, nth):
        (root,) = prepare()
        said = Sayings.of(run_with_fault(RECORD, n, root, **fault).output)
        check_after_fault(root, said)
        calls_without_fault = 0 if said.errors else calls_without_fault + 1
        if calls_without_fault > 20 and n > 150:
            return


def check_after_fault(root: str, said: Sayings) -> None:
    """Every acknowledged episode is whole; what was refused is kept by a repair, with the steps it had."""
    with Memory.open(root) as memory:
        assert memory.lives()
        report = repair_folder(memory.layout, cue_makers())
        assert report.is_sound, report.problems
        assert report.counts["broken lines"] == 0, "what failed was not cut back"
        aftermath.check_open(memory, said, logs_in_order=False)
