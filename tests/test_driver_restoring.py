"""Whatever is done to files of the evidence, in any order, the guard puts back every byte."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrubjay import Memory
from scrubjay.agent.forged import strike_out
from scrubjay.agent.guarding import Guard
from scrubjay.memory.layout import Layout


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("lived") / "m"
    with Memory.create(root) as memory, memory.live("walk", "here") as life:
        for place in range(3):
            with life.episode("right", state={"pos": [place, 0, 0]}) as episode:
                episode.step({}, state={"pos": [place + 1, 0, 0]})
        memory.documents.append("notes.md", "- right is safe [ep_000000]")
    return root


def files_of(root: Path) -> list[str]:
    """Every recorded file, as a path inside the memory."""
    found = [path.relative_to(root) for path in sorted(root.rglob("*")) if path.is_file()]
    return [str(path) for path in found if path.parts[0] not in ("mine", ".locks", ".cache")]


def remove(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink()


def remove_parent(path: Path) -> None:
    if path.parent.name not in ("m", "copy"):
        shutil.rmtree(path.parent)


def replace_by(make: Callable[[Path], None]) -> Callable[[Path], None]:
    def replace(path: Path) -> None:
        remove(path)
        make(path)

    return replace


def add(path: Path) -> None:
    with open(path, "ab") as file:
        file.write(b"{torn")


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    with open(path, "r+b") as file:
        file.write(data)
    os.utime(path, (1, 1))


MUTATIONS: dict[str, Callable[[Path], None]] = {
    "remove": remove,
    "remove the folder": remove_parent,
    "flip a bit in place": flip,
    "cut": lambda path: os.truncate(path, path.stat().st_size // 2),
    "empty": lambda path: os.truncate(path, 0),
    "add": add,
    "replace by a link": replace_by(lambda path: path.symlink_to("/dev/zero")),
    "replace by a folder": replace_by(lambda path: path.mkdir()),
    "replace by a pipe": replace_by(lambda path: os.mkfifo(path)),
    "hide": lambda path: path.chmod(0),
}
UNSTRUCK = ("documents.jsonl", "inspections.jsonl", "worlds.jsonl")  # what the agent's own commands may add to


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 99), st.sampled_from(sorted(MUTATIONS))), min_size=1, max_size=6))
def test_every_byte_is_put_back(lived: Path, deeds: list[tuple[int, str]]) -> None:
    root = lived.parent / "copy"
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(lived, root)
    layout = Layout(root)
    guard = Guard(layout, 1)
    guard.keep()
    names = files_of(root)
    before = {name: (root / name).read_bytes() for name in names}
    for number, deed in deeds:
        path = root / names[number % len(names)]
        if path.is_file() and not path.is_symlink():  # else an earlier deed left nothing to do this to
            with contextlib.suppress(IndexError):  # there is no bit in an empty file
                MUTATIONS[deed](path)
    report = guard.restore()
    strike_out(layout, 1, guard.episodes, guard.kept_size)
    for name, data in before.items():
        found = (root / name).read_bytes()
        assert found == data or (name in UNSTRUCK and found[: len(data)] == data), name
    if deeds[0][1] in ("remove", "replace by a link"):
        assert any(names[deeds[0][0] % len(names)] in line for line in report)
    assert guard.restore() in ([], ["held lives/0001/lock again: the lock of the running life was removed or replaced"])
    guard.close()
    assert all(os.access(root / name, os.W_OK) for name in names)
