"""Given a disk that is full, read-only, refuses durability, or was put back from an older copy."""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import aftermath
from faults import run_with_kill
from recorder import Sayings, frames, state
from scrubjay import Memory, Query
from scrubjay.errors import ReadOnly, StorageFull
from scrubjay.memory.checking import check as check_folder
from scrubjay.memory.lives import Life
from scrubjay.retrieval.locate import Locator


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 2 MiB."""
    place = tmp_path / "disk"
    place.mkdir()
    mount("-t", "tmpfs", "-o", "size=2m", "scrubjay-test", str(place))
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def mount(*arguments: str) -> None:
    """Mounts, or skips the test where that is not allowed."""
    try:
        done = subprocess.run(["mount", *arguments], capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("there is no mount on this system")
    if done.returncode:
        pytest.skip(f"mount is refused here: {done.stderr.strip()}")


def noise(key: int) -> bytes:
    """A PNG whose pixels don't shrink: about 12 KB."""
    import io
    import random

    from PIL import Image

    buffer = io.BytesIO()
    Image.frombytes("RGB", (64, 64), random.Random(key).randbytes(64 * 64 * 3)).save(buffer, "PNG")
    return buffer.getvalue()


def record_noise(life: Life, key: int, again: Callable[[Callable[[], Any]], Any]) -> str:
    """An episode of three large frames; returns its id."""
    episode = again(lambda: life.episode("go", {"n": key}, frame=noise(key), state=state(key)))
    for step in (key + 1, key + 2):
        again(functools.partial(episode.step, "on", frame=noise(step), state=state(step)))
    return str(again(episode.finish).id)


def test_recording_resumes_after_a_full_disk(small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    root = small_disk / "memory"
    acknowledged: list[str] = []
    full = 0

    def again(call: Callable[[], Any]) -> Any:
        nonlocal full
        if (fault := fault_of(call)) is None:
            return done.pop()
        full += 1
        assert str(small_disk) in str(fault)
        ballast.unlink(missing_ok=True)
        return call()

    done: list[Any] = []

    def fault_of(call: Callable[[], Any]) -> StorageFull | None:
        try:
            done.append(call())
        except StorageFull as error:
            return error
        return None

    with Memory.create(root) as memory, memory.live(world="w") as life:
        for nth in range(24):
            free = os.statvfs(small_disk).f_bavail * os.statvfs(small_disk).f_bsize
            if nth % 3 == 1 and free > 40_000:  # a page more, another time a page less
                ballast.write_bytes(bytes(free - 4096 * (nth % 7)))
            acknowledged.append(record_noise(life, nth * 10, again))
    assert full >= 8
    with Memory.open(root) as memory:
        found = {row.id: row for row in memory.iterate()}
        assert set(acknowledged) == set(found)
        for ident in acknowledged:
            kept = memory.episode(ident)
            steps = list(kept.steps())
            assert len(steps) == 3
            assert [kept.frame(step.step).data for step in steps] == [noise(step.state["key"]) for step in steps]
        aftermath.check_grid(memory)
        aftermath.check_logs(memory, in_order=True)
        assert check_folder(memory.layout).counts["broken lines"] == 0, "what did not fit was not cut back"


def test_a_full_disk_can_be_opened_and_read(small_disk: Path) -> None:
    root = small_disk / "memory"
    with Memory.create(root) as memory:
        life = memory.live(world="w")
        life.episode("go", {}, frame=frames(1), state=state(1)).finish("success")
        life.episode("go", {}, frame=frames(2), state=state(2))
        life.abandon()
        fill(small_disk / "ballast")
    with Memory.open(root, read_only=True) as memory:
        assert [row.id for row in memory.find().rows] == ["ep_000000"]
    with pytest.raises(StorageFull, match=str(small_disk)):
        Memory.open(root)
    (small_disk / "ballast").unlink()
    with Memory.open(root) as memory:
        assert [row.outcome for row in memory.find().rows] == ["success", "interrupted"]


def fill(path: Path) -> None:
    """Takes every byte of the disk that `path` is on."""
    with path.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))


@pytest.fixture
def read_only_folder(tmp_path: Path) -> Iterator[Path]:
    """A memory of two episodes, the last one's process dead, on a disk that can't be written."""
    root, seen = tmp_path / "memory", tmp_path / "seen"
    with Memory.create(root) as memory:
        life = memory.live(world="w")
        life.episode("go", {}, frame=frames(1), state=state(1)).finish("success")
        life.episode("go", {}, frame=frames(2), state=state(2))
        life.abandon()
    seen.mkdir()
    mount("--bind", str(root), str(seen))
    try:
        mount("-o", "remount,ro,bind", str(seen))
        yield seen
    finally:
        subprocess.run(["umount", "-l", str(seen)], check=True)


def test_a_read_only_folder_is_read_and_not_written(read_only_folder: Path) -> None:
    with pytest.raises(ReadOnly, match="read_only=True"):
        Memory.open(read_only_folder)
    with Memory.open(read_only_folder, read_only=True) as memory:
        assert [row.id for row in memory.find(Query(action="go")).rows] == ["ep_000000"]
        assert memory.lives()[0].ended is None
        aftermath.assert_same_pixels(memory.episode("ep_000000"), 0, "", 1)
        with pytest.raises(ReadOnly):
            memory.live(world="w")
        with pytest.raises(ReadOnly):
            memory.documents.append("notes.md", "no")
        view = memory.look("ep_000000", question="what is it?")
        assert view.data
        assert view.warning, "a question that can't be kept must be said"


def test_the_command_reads_a_read_only_folder(read_only_folder: Path) -> None:
    command = [sys.executable, "-m", "scrubjay", "episodes", str(read_only_folder), "--last", "5"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("ep_000000 ")


def test_an_older_copy_put_back_under_a_living_cache(scratch: Path) -> None:
    root, copy = scratch / "memory", scratch / "copy"
    with Memory.create(root) as memory, Locator(memory.layout, small=0, background=False) as cached:
        record_some(memory, range(20))
        assert keys(memory, cached) == [*range(20)]
        shutil.copytree(root, copy)
        record_some(memory, range(100, 125))
        assert keys(memory, cached) == [*range(100, 125)]
        for name in os.listdir(copy):  # as a person would, over what is there; the cache stays
            if name not in (".cache", ".locks"):
                put_back(copy / name, root / name)
        record_some(memory, range(200, 230))
        assert keys(memory, cached) == [*range(200, 230)]
        with Locator(memory.layout, small=0, background=False) as opened_later:
            assert keys(memory, opened_later) == [*range(200, 230)]
            assert [row.extra["key"] for row in opened_later.iterate(Query(previous=True))] == [*range(20)]


def record_some(memory: Memory, keys: range) -> None:
    """A life of episodes of one observation."""
    with memory.live(world="w") as life:
        for key in keys:
            life.episode("go", {"key": key}, state=state(key)).finish("success", extra={"key": key})


def keys(memory: Memory, cached: Locator) -> list[int]:
    """What the newest life recorded, as queries find it with and without a derived index."""
    queries = (Query(action="go"), Query(grep="go(key="), Query(tag="moved"), Query(near=(100.0, -50.0), radius=40.0))
    for query in queries:
        assert [row.id for row in cached.iterate(query)] == [row.id for row in memory.iterate(query)], query
    return [row.extra["key"] for row in memory.iterate(queries[0])]


def put_back(source: Path, target: Path) -> None:
    """Replaces a file or folder."""
    if source.is_dir():
        shutil.rmtree(target)
        shutil.copytree(source, target)
    else:
        shutil.copyfile(source, target)


REFUSED = """
import errno, os, time
from recorder import frames, say, state
from scrubjay import Memory
from scrubjay.errors import StorageFailed
memory = Memory.open(arguments[0])
life = memory.live(world="w")
episode = life.episode("go", {}, frame=frames(1), state=state(1))
say("step", episode.id, 0)
time.sleep(0.2)
fdatasync = os.fdatasync
def refuse(descriptor):
    os.fdatasync = fdatasync
    raise OSError(errno.EIO, "refused once")
os.fdatasync = refuse  # the next one is that of the thread, seconds after the beginning
time.sleep(4.5)
for call in (lambda: episode.step("on", frame=frames(2), state=state(2)), episode.finish, episode.finish):
    try:
        call()
    except StorageFailed as error:
        say("error", error)
episode = life.episode("go", {}, frame=frames(3), state=state(3))
say("step", episode.id, 0)
row = episode.finish("success")
say("done", row.id, row.digest)
life.abandon()
"""


def test_a_refused_fsync_in_between_is_not_forgotten(scratch: Path) -> None:
    root = str(scratch / "memory")
    Memory.create(root).close()
    said = Sayings.of(run_with_kill(REFUSED, 0, root).output)
    assert len(said.errors) == 3, said
    assert list(said.done) == ["ep_000001"]
