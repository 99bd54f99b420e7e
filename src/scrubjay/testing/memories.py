"""The conformance suite for a memory: everything that its index names is there, whole and in agreement."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

from scrubjay.memory.layout import episode_number

if TYPE_CHECKING:
    from scrubjay.memory.evidence import Episode
    from scrubjay.memory.records import Row
    from scrubjay.public import Memory

__all__ = ["check_memory"]


def check_memory(path: str | os.PathLike[str]) -> None:
    """Asserts that a memory of format 1 opens, read-only, and that index, episodes, steps, frames and grid agree.

    Every frame is decoded, so the time it takes grows with the memory. `scrubjay check` says more about damage.
    """
    from scrubjay.memory import journal
    from scrubjay.memory.record import grid_rows
    from scrubjay.memory.records import Row
    from scrubjay.public import Memory

    with Memory.open(path, read_only=True) as memory:
        rows = {row["id"]: Row.from_json(row) for row in journal.rows(memory.layout.index)}
        numbers = [episode_number(ident) for ident in rows]
        assert len(set(numbers)) == len(numbers), "two ids of the index have one number: ids are never reused"
        lives = {life.life for life in memory.lives()}
        expected: Counter[str] = Counter()
        for row in rows.values():
            assert row.life in lives, f"{row.id}: lives.jsonl has no life {row.life}; every life writes its start there"
            if row.kind == "removed":
                continue
            episode = memory.episode(row.id)
            _check_episode(memory, row, episode)
            if "removed" not in episode.record:
                expected[row.id] = len(grid_rows(episode.record))
        found = Counter(row["episode"] for row in journal.rows(memory.layout.grid) if row.get("episode") in rows)
        for ident, count in expected.items():
            assert found[ident] == count, (
                f"{ident}: its record has {count} cell events, grid.jsonl {found[ident]}; a writable open completes it"
            )


def _check_episode(memory: Memory, row: Row, episode: Episode) -> None:
    from scrubjay.memory.evidence import read_record

    record, digest = read_record(memory.layout, row.id)
    assert digest == row.digest, f"{row.id}: episode.json is not the one that the index row was made from"
    if "removed" in record:
        return
    steps = list(episode.steps())
    wanted = list(range(record["first_step"], record["last_step"] + 1))
    assert [step.step for step in steps] == wanted, (
        f"{row.id}: steps {record['first_step']} to {record['last_step']} were expected, steps.jsonl has {len(steps)}"
    )
    for name, file in record["evidence"]["files"].items():
        size = os.path.getsize(os.path.join(memory.layout.episode(row.id), name))
        assert size == file["size"], f"{row.id}: {name} has {size} bytes, {file['size']} were recorded"
    for step in steps:
        for camera, name in step.frames.items():
            if name is None:
                assert step.missing, f"{row.id}#{step.step}: no frame and no reason; write frame_missing"
            elif name not in record["evidence"]["missing"]:
                shown = episode.frame(step.step, camera or None).array()
                assert shown.ndim == 3, f"{row.id}#{step.step}: (H, W, 3) was expected, found {shown.shape}"
