"""Many processes in one memory: recorders, readers and writers of notes at once; two that recover the same life."""

from __future__ import annotations

import os
import sys
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import aftermath
import recorder
from recorder import Sayings, frames, state
from scrubjay import Memory, Query, World
from scrubjay.memory import journal
from scrubjay.memory.recovery import recover
from scrubjay.public import cue_makers

RECORDERS, READERS, WRITERS = 4, 2, 3
EPISODES, NOTES = 12, 15


class Children:
    """Processes forked from this one, that set off together; each tells a failure by its exit."""

    def __init__(self) -> None:
        self._running: list[int] = []
        self._gate, self._closes_gate = os.pipe()

    def start(self, work: Callable[[], None]) -> None:
        """Runs `work` in a process of its own."""
        child = os.fork()
        if child:
            self._running.append(child)
            return
        status = 1
        try:
            os.close(self._closes_gate)
            os.read(self._gate, 1)  # returns when the parent closes its end
            work()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(status)

    def wait(self) -> None:
        """Lets all set off and waits for them; none may have failed."""
        os.close(self._closes_gate)
        os.close(self._gate)
        ends = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in self._running]
        assert not any(ends), f"exit statuses {ends}: see the tracebacks on stderr"


def record_episodes(root: Path, nth: int) -> None:
    """One life of short episodes, some of them with frames."""
    with Memory.open(root) as memory, memory.live(world=f"w{nth % 2}") as life:
        for key in range(nth * 1000, nth * 1000 + EPISODES):
            shown = frames(key) if key % 3 == 0 else None
            with life.episode("go", {"key": key}, frame=shown, state=state(key)) as episode:
                episode.step("on", frame=frames(key + 1) if key % 3 == 0 else None, state=state(key + 1))
                episode.finish("success", extra={"key": key})


def read_all(root: Path, enough: int) -> None:
    """Reads until everything is there; what was once found stays, in order, each row with its episode."""
    before: list[str] = []
    with Memory.open(root, read_only=True) as memory:
        while len(before) < enough:
            rows = [row for life in memory.lives() for row in memory.iterate(Query(life=life.life))]
            found = sorted(row.id for row in rows)
            assert len(set(found)) == len(found)
            assert set(before) <= set(found), "a row was found, and then not"
            for row in rows[-3:]:
                assert memory.episode(row).record["id"] == row.id
                assert len(list(memory.episode(row.id).steps())) == 2
            before = found


def write_notes(root: Path, nth: int) -> None:
    """Adds notes to a document that others add to as well."""
    with Memory.open(root) as memory:
        for note in range(NOTES):
            memory.documents.append("notes.md", f"note {nth}.{note} [ep_000000]")


def test_recorders_readers_and_writers_at_once(scratch: Path) -> None:
    recorder.warm()
    root = scratch / "memory"
    Memory.create(root).close()
    children = Children()
    for nth in range(RECORDERS):
        children.start(lambda nth=nth: record_episodes(root, nth))  # type: ignore[misc]
    for _ in range(READERS):
        children.start(lambda: read_all(root, RECORDERS * EPISODES))
    for nth in range(WRITERS):
        children.start(lambda nth=nth: write_notes(root, nth))  # type: ignore[misc]
    children.wait()
    with Memory.open(root) as memory:
        rows = list(journal.rows(memory.layout.index))
        assert Counter(row["key"] for row in rows) == Counter(
            nth * 1000 + key for nth in range(RECORDERS) for key in range(EPISODES)
        )
        assert {row["id"] for row in rows} == {f"ep_{number:06d}" for number in range(len(rows))}
        for life in memory.lives():
            mine = list(memory.iterate(Query(life=life.life)))
            assert [row.extra["key"] for row in mine] == sorted(row.extra["key"] for row in mine)
            assert [row.id for row in mine] == sorted(row.id for row in mine)
        aftermath.check_open(memory, Sayings())
        notes = [line for line in memory.documents.read("notes.md").splitlines() if line.startswith("note ")]
        assert len(notes) == len(set(notes)) == WRITERS * NOTES


def test_two_that_recover_one_life_adopt_its_episode_once(scratch: Path) -> None:
    recorder.warm()
    for nth in range(6):
        root = scratch / f"memory{nth}"
        with Memory.create(root) as memory:
            life = memory.live(world="w")
            life.episode("go", {"key": 1}, frame=frames(1), state=state(1)).finish("success")
            life.episode("go", {"key": 2}, frame=frames(2), state=state(2)).step("on", state=state(3))
            life.abandon()
        children = Children()
        for _ in range(6):
            children.start(lambda root=root: Memory.open(root).close())  # type: ignore[misc]
        children.wait()
        with Memory.open(root) as memory:
            assert [row.outcome for row in memory.iterate()] == ["success", "interrupted"]
            ends = [row for row in journal.rows(memory.layout.lives) if row["event"] == "end"]
            assert len(ends) == 1
            aftermath.check_open(memory, Sayings())


def test_a_life_recovered_by_another_meanwhile_is_left_alone(scratch: Path) -> None:
    root = scratch / "memory"
    with Memory.create(root) as memory:
        for key in (1, 2):
            life = memory.live(world="w")
            life.episode("go", {"key": key}, frame=frames(key), state=state(key))
            life.abandon()

    def world_while_another_opens(name: str | None) -> World:
        Memory.open(root).close()  # it finds the first life locked, and recovers the second
        return World(name or "w")

    assert recover(memory.layout, world_while_another_opens, cue_makers()) == ["ep_000000"]
    with Memory.open(root) as memory:
        aftermath.check_open(memory, Sayings())
        events = [(row["life"], row["event"]) for row in journal.rows(memory.layout.lives)]
        assert sorted(events) == [(1, "end"), (1, "start"), (2, "end"), (2, "start")]
