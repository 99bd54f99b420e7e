"""What many tests need: a memory in a temporary folder, and small frames whose pixels tell which they are."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from scrubjay import Memory
from scrubjay.memory.documents import Documents
from scrubjay.memory.folder import create_folder
from scrubjay.memory.layout import Layout
from scrubjay.memory.procedures import Procedures
from small_memories import commit, episode

# Whoever starts the tests in the background ignores Ctrl-C for them, and what they start would inherit it.
signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes says how busy the machine is, and nothing of the code.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

Pixels = np.typing.NDArray[np.uint8]


def numbered(value: int, height: int = 8, width: int = 12) -> Pixels:
    """A small frame that no other number gives."""
    pixels = np.zeros((height, width, 3), np.uint8)
    pixels[..., 0], pixels[..., 1], pixels[..., 2] = value % 256, value // 256 % 256, 7
    pixels[0, 0] = 255
    return pixels


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """An empty memory."""
    with Memory.create(tmp_path / "memory") as made:
        yield made


@pytest.fixture
def small_files() -> Iterator[None]:
    """Files of this process may have 4,000 bytes at most: the system refuses the rest as a full disk does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4_000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


@pytest.fixture
def lived(memory: Memory) -> Memory:
    """A memory with one ended life of four episodes of three steps, in a world with positions."""
    live_some(memory)
    return memory


def live_some(memory: Memory, episodes: int = 4, steps: int = 3, **options: Any) -> None:
    """One life that walks east and loses health, and ends."""
    with memory.live(task="walk", world="seed-7", **options) as life:
        for nth in range(episodes):
            first: dict[str, Any] = {}
            if nth == 0:
                first = {"frame": numbered(0), "state": {"pos": [0.5, 64.0, -0.5], "health": 20, "inventory": {}}}
            with life.episode("go_to", {"x": nth}, **first) as episode:
                for _ in range(steps):
                    at = life.step + 1
                    state = {"pos": [0.5 + at, 64.0, -0.5], "health": 20 - at, "inventory": {"log": at // 4}}
                    episode.step({"forward": 1}, frame=numbered(at), state=state)
                episode.finish("success")


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """A memory with two episodes to cite: ep_000043 and ep_000051."""
    made = create_folder(tmp_path / "memory", "test")
    for number in (43, 51):
        commit(made, episode(number))
    return made


@pytest.fixture
def documents(layout: Layout) -> Documents:
    """The agent's documents of `layout`."""
    return Documents(layout)


@pytest.fixture
def procedures(layout: Layout, documents: Documents) -> Procedures:
    """The procedures of `layout`."""
    return Procedures(layout, documents)


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Path]:
    """A folder where fsync costs nothing, where there is one: a kill takes nothing that a file system holds."""
    if not os.access("/dev/shm", os.W_OK):
        yield tmp_path
        return
    folder = Path(tempfile.mkdtemp(prefix="scrubjay-", dir="/dev/shm"))
    yield folder
    shutil.rmtree(folder)


Frames = Callable[[int], Pixels]
