"""finish() next to the bare pattern: the same files with the same bytes, made durable in the same order, and no more.

It knows what finish() promises; of how scrubjay does it, only which files it leaves.
"""

from __future__ import annotations

import os
import time
from typing import Any

from record_sources import Walk
from scrubjay import Memory

__all__ = ["BareEpisode", "pairs_of_finish"]

_PAUSE = 0.25  # seconds for the queue to drain and the disk to rest; the same before both


class BareEpisode:
    """The bare pattern: `prepare` writes what lies on disk before an episode ends, `finish` does the rest."""

    def __init__(self, folder: str) -> None:
        self._bucket = os.path.join(folder, "episodes", "0000")
        os.makedirs(self._bucket)
        self._journals = {name: os.path.join(folder, name) for name in ("index.jsonl", "grid.jsonl", "logs.txt")}
        for path in self._journals.values():
            open(path, "wb").close()
        self._number = 0

    def prepare(self, files: dict[str, bytes]) -> None:
        """The first frame, the steps, and all frames between, as they come while an episode runs: not durable yet."""
        self._folder = os.path.join(self._bucket, f"ep_{self._number:06d}")
        self._number += 1
        os.mkdir(self._folder)
        for name in ("start.webp", "steps.jsonl", "frames.tar"):
            _write(os.path.join(self._folder, name), files[name])

    def finish(self, files: dict[str, bytes], appended: dict[str, bytes]) -> None:
        """The last frame, fdatasync of all, the record by rename, folders, the row of the index; grid and log."""
        folder = self._folder
        _write(os.path.join(folder, "end.webp"), files["end.webp"])
        for name in ("steps.jsonl", "start.webp", "end.webp", "frames.tar"):
            descriptor = os.open(os.path.join(folder, name), os.O_RDONLY)
            os.fdatasync(descriptor)
            os.close(descriptor)
        temporary = os.path.join(folder, ".episode.json")
        descriptor = _write(temporary, files["episode.json"], close=False)
        os.fsync(descriptor)
        os.close(descriptor)
        os.rename(temporary, os.path.join(folder, "episode.json"))
        for path in (folder, self._bucket, os.path.dirname(self._bucket)):
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
            os.fsync(descriptor)
            os.close(descriptor)
        for name, path in self._journals.items():
            descriptor = os.open(path, os.O_WRONLY | os.O_APPEND)
            os.write(descriptor, appended[name])
            if name == "index.jsonl":
                os.fdatasync(descriptor)
            os.close(descriptor)


def _write(path: str, data: bytes, close: bool = True) -> int:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    os.write(descriptor, data)
    if close:
        os.close(descriptor)
    return descriptor


def pairs_of_finish(
    memory: Memory, life: Any, walk: Walk, bare: BareEpisode, pairs: int, length: int
) -> list[dict[str, float]]:
    """Milliseconds of finish() and of the bare pattern for episodes of `length` steps, in turn, in changing order.

    The bare pattern repeats the files of the episode before. No episode begins with the last frame of another, so
    that both write and sync as many files.
    """
    sizes = _sizes(memory, life)
    _record(life, walk, 0, length)
    files, appended = _left_by(memory, life, sizes)
    measured = []
    for n in range(pairs):
        sizes = _sizes(memory, life)
        pair: dict[str, float] = {}
        for what in ("finish_ms", "bare_ms") if n % 2 else ("bare_ms", "finish_ms"):
            if what == "bare_ms":
                bare.prepare(files)
                time.sleep(_PAUSE)
                began = time.perf_counter()
                bare.finish(files, appended)
                pair[what] = (time.perf_counter() - began) * 1000
            else:
                pair[what] = _record(life, walk, (n + 1) * (length + 7), length)
        files, appended = _left_by(memory, life, sizes)
        measured.append(pair)
    return measured


def _record(life: Any, walk: Walk, first: int, length: int) -> float:
    shown = walk[first]
    episode = life.episode("walk", {}, frame=shown.frame, state=shown.state)
    for n in range(first + 1, first + length + 1):
        shown = walk[n]
        episode.step({"forward": 1}, frame=shown.frame, state=shown.state)
    time.sleep(_PAUSE)
    began = time.perf_counter()
    episode.finish("success")
    return (time.perf_counter() - began) * 1000


def _paths(memory: Memory, life: Any) -> dict[str, str]:
    layout = memory.layout
    return {"index.jsonl": layout.index, "grid.jsonl": layout.grid, "logs.txt": layout.log(life.number)}


def _sizes(memory: Memory, life: Any) -> dict[str, int]:
    return {name: os.path.getsize(path) if os.path.exists(path) else 0 for name, path in _paths(memory, life).items()}


def _left_by(memory: Memory, life: Any, sizes: dict[str, int]) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """The files of the newest episode, and what it appended to index, grid and log."""
    bucket = os.path.join(memory.layout.episodes_folder, "0000")
    folder = os.path.join(bucket, max(os.listdir(bucket)))
    files = {name: _read(os.path.join(folder, name)) for name in os.listdir(folder)}
    return files, {name: _read(path)[sizes[name] :] for name, path in _paths(memory, life).items()}


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()
