"""What is left of a first life when parts of its memory are gone: nothing of it, and a second run is as if alone."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from scrubjay import Memory, Query
from scrubjay.agent.loop import Run
from scrubjay.environments.crafter import Crafter
from scrubjay.models.named import make_model


def lived(path: Path, steps: int) -> list[tuple[object, ...]]:
    """A run of the scripted player in the memory at `path`; what it did in the newest life, step for step."""
    with Memory.open(path) as memory:
        Run(Crafter(size=(64, 64)), make_model("scripted", "crafter"), memory, seed=4, steps=steps, lives=1).run()
        return [(row.action_kind, row.first_step, row.position, row.end) for row in memory.iterate(Query())]


def test_without_documents_and_index_a_second_run_is_that_of_one_who_never_lived(tmp_path: Path) -> None:
    first, alone, emptied = tmp_path / "first", tmp_path / "alone", tmp_path / "emptied"
    Memory.create(first).close()
    lived(first, 30)
    shutil.copytree(first, emptied)
    with Memory.open(emptied) as memory:
        for document in memory.documents.list():
            memory.documents.delete(document)
    shutil.rmtree(emptied / "episodes")
    shutil.rmtree(emptied / ".cache", ignore_errors=True)
    os.truncate(emptied / "index.jsonl", 0)
    os.truncate(emptied / "grid.jsonl", 0)
    with Memory.create(alone) as memory:  # the second life of this world as well: its chances are those of a second
        environment = Crafter(size=(64, 64))
        environment.reset(seed=4)
        memory.live(world=environment.world).end()
    as_alone = [one[:4] for one in lived(alone, 30)]
    assert [one[:4] for one in lived(emptied, 30)] == as_alone
    assert lived(first, 30) != as_alone  # with all of it, it goes otherwise
