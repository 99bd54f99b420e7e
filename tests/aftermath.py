"""What must be true of a memory whatever happened to the process that recorded it."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from typing import Any

from recorder import Sayings, frames, pixels, state
from scrubjay import Memory, Query
from scrubjay.errors import NotFound
from scrubjay.memory import journal
from scrubjay.memory.checking import check as check_folder
from scrubjay.memory.evidence import Episode
from scrubjay.memory.framewriter import QUEUE
from scrubjay.memory.jsonio import dumps
from scrubjay.memory.layout import Layout
from scrubjay.memory.record import grid_rows, log_section
from scrubjay.memory.recovery import open_lives

_decoded: dict[bytes, Any] = {}


def check(root: str, said: Sayings, *, goes_on: bool = True) -> None:
    """Opens the memory of a recorder that died and demands everything: twice, and that recording goes on."""
    with Memory.open(root) as memory:
        check_open(memory, said)
    before = tree(root)
    with Memory.open(root) as memory:
        assert tree(root) == before, difference(tree(root), before)
    if goes_on:
        check_goes_on(root)


def check_said(memory: Memory, said: Sayings) -> None:
    """What this recorder acknowledged is there, once, whole; the rest of the memory is not looked at."""
    numbers = Counter(row["id"] for row in journal.rows(memory.layout.index) if isinstance(row.get("id"), str))
    assert set(numbers.values()) <= {1}, f"twice in the index: {numbers}"
    for ident, steps in said.steps.items():
        assert ident in numbers, f"steps of {ident} were acknowledged, but it is not kept"
        check_episode(memory, ident, steps, is_done=ident in said.done)
    for ident, digest in said.done.items():
        assert memory.episode(ident).row.digest == digest


def check_open(memory: Memory, said: Sayings, *, logs_in_order: bool = True) -> None:
    """Everything that was acknowledged is there, once, whole."""
    rows = list(journal.rows(memory.layout.index))
    numbers = Counter(row["id"] for row in rows)
    assert set(numbers.values()) <= {1}, f"twice in the index: {numbers}"
    indexed = {row["id"]: row for row in rows}
    for ident, digest in said.done.items():
        assert ident in indexed, f"{ident} was acknowledged, but is not in the index"
        assert indexed[ident]["digest"] == digest
    for ident in indexed:
        check_episode(memory, ident, said.steps.get(ident, []), is_done=ident in said.done)
        assert indexed[ident] == Episode(memory.layout, ident).row.to_json()
    check_grid(memory)
    check_logs(memory, in_order=logs_in_order)
    problems = [problem for problem in check_folder(memory.layout).problems if problem.kind != "torn-tail"]
    assert not problems, problems
    assert not open_lives(memory.layout), "a dead life was not ended"
    lost = {ident: steps for ident, steps in said.steps.items() if ident not in indexed}
    assert not lost, f"steps were acknowledged, but their episode is not kept: {lost}"


def check_episode(memory: Memory, ident: str, steps: list[int], *, is_done: bool) -> None:
    """Files as the record says, steps without a gap, frames exact or with a reason why not."""
    episode = memory.episode(ident)
    record, folder = episode.record, memory.layout.episode(ident)
    with open(os.path.join(folder, Layout.EPISODE_RECORD), "rb") as file:
        assert hashlib.sha256(file.read()).hexdigest() == episode.row.digest
    for name, file_said in record["evidence"]["files"].items():
        with open(os.path.join(folder, name), "rb") as file:
            data = file.read()
        assert {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()} == file_said, f"{ident}/{name}"
    there = list(episode.steps())
    assert [step.step for step in there] == list(range(record["first_step"], record["last_step"] + 1))
    assert set(steps) <= {step.step for step in there}, "an acknowledged step is gone"
    missing = 0
    for step in there:
        for camera, name in step.frames.items():
            if name is None:
                continue
            if name in record["evidence"]["missing"]:
                assert record["evidence"]["missing"][name]
                missing += 1
                continue
            assert_same_pixels(episode, step.step, camera, step.state["key"])
    assert missing <= (0 if is_done else QUEUE), f"{ident}: {missing} frames are missing"


def assert_same_pixels(episode: Episode, step: int, camera: str, key: int) -> None:
    """The stored frame shows what was given for `key`."""
    frame = episode.frame(step, camera or None)
    if frame.data not in _decoded:
        _decoded[frame.data] = frame.array()
    assert (_decoded[frame.data] == pixels(key, camera)).all(), f"{episode.id}#{step} {camera}: other pixels"


def check_grid(memory: Memory) -> None:
    """The grid holds what follows from the indexed episodes, once, and nothing else."""
    there = Counter(dumps(row) for row in journal.rows(memory.layout.grid))
    wanted = Counter(dumps(row.to_json()) for record in records(memory) for row in grid_rows(record))
    assert there == wanted, f"grid: too many {there - wanted}, too few {wanted - there}"


def check_logs(memory: Memory, *, in_order: bool) -> None:
    """The log of each life is the sections of its indexed episodes, in order, and nothing else.

    What a repair adds to a life that went on comes last.
    """
    for life in memory.lives():
        wanted = b"".join(log_section(record) for record in records(memory) if record["life"] == life.life)
        path = memory.layout.log(life.life)
        there = b""
        if os.path.exists(path):
            with open(path, "rb") as file:
                there = file.read()
        assert there == wanted or (not in_order and _sections(there) == _sections(wanted))


def _sections(log: bytes) -> Counter[bytes]:
    return Counter(section.strip() for section in log.split(b"=" * 80))


def records(memory: Memory) -> list[Any]:
    """The records of all indexed episodes, in order."""
    idents = sorted({row["id"] for row in journal.rows(memory.layout.index)})
    return [memory.episode(ident).record for ident in idents]


def check_goes_on(root: str) -> None:
    """A new life can record, and what it records is found."""
    with Memory.open(root) as memory:
        before = _found(memory)
        with memory.live(world="w") as life:
            episode = life.episode("again", {}, frame=frames(7), state=state(7))
            episode.step("on", frame=frames(8), state=state(8))
            row = episode.finish("success")
        assert row.id not in before
        assert _found(memory) == before | {row.id}
        check_episode(memory, row.id, [life.step], is_done=True)
        try:
            memory.episode("ep_999999")
        except NotFound:
            return
        raise AssertionError("an episode that never was")


def _found(memory: Memory) -> set[str]:
    return {row.id for previous in (False, True) for row in memory.iterate(Query(previous=previous))}


def tree(root: str) -> dict[str, bytes | None]:
    """Every file with its bytes, every folder, apart from what is derived and the locks."""
    found: dict[str, bytes | None] = {}
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in (".cache", ".locks")]
        found[os.path.relpath(folder, root)] = None
        for name in files:
            with open(os.path.join(folder, name), "rb") as file:
                found[os.path.relpath(os.path.join(folder, name), root)] = file.read()
    return found


def difference(one: dict[str, bytes | None], other: dict[str, bytes | None]) -> str:
    """The names of what differs."""
    return json.dumps(sorted(name for name in {*one, *other} if one.get(name, b"-") != other.get(name, b"-")))


__all__ = ["check", "check_episode", "check_goes_on", "check_open", "check_said", "difference", "tree"]
