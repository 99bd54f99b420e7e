"""A small life that records the same every time, and says on its output what was acknowledged.

Each state holds the `key` of its frames, so that what is read back can be compared with what was given, pixel by
pixel, without a list beside the memory. Lines of output: `life N`, `step ID N`, `done ID DIGEST`, `error TEXT`.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from scrubjay import Memory
from scrubjay.errors import ScrubjayError
from scrubjay.memory.lives import Life
from scrubjay.memory.recording import Recording
from scrubjay.memory.records import Row

CAMERAS = ("front", "rear")


def pixels(key: int, camera: str = "") -> Any:
    """The frame that `key` stands for: uint8 (8, 8, 3)."""
    import numpy

    shade = (key * 37 + len(camera) * 11) % 251
    frame = numpy.full((8, 8, 3), shade, numpy.uint8)
    frame[key % 8, :, 0] = key // 8 % 256
    frame[:, len(camera), 1] = 255 - shade
    return frame


def frames(key: int, cameras: int = 1) -> Any:
    """A frame, or one for each of two cameras."""
    return pixels(key) if cameras == 1 else {name: pixels(key, name) for name in CAMERAS}


def state(key: int) -> dict[str, Any]:
    """A state that walks from cell to cell, with its key."""
    return {"pos": [key * 0.5, 64.0, -key * 0.25], "key": key, "inventory": {"log": key // 3}}


@dataclass
class Sayings:
    """What a recorder said before it died."""

    steps: dict[str, list[int]] = field(default_factory=dict)
    done: dict[str, str] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)

    def add(self, other: Sayings) -> None:
        """What another recorder of the same memory said."""
        for ident, steps in other.steps.items():
            self.steps.setdefault(ident, []).extend(steps)
        self.done.update(other.done)
        self.errors += other.errors

    @classmethod
    def of(cls, output: str) -> Sayings:
        """Reads the output; a last line without its end was not said."""
        said = cls()
        for line in output.splitlines(keepends=True):
            word, _, rest = line.strip().partition(" ")
            if not line.endswith("\n"):
                break
            if word == "step":
                ident, step = rest.split()
                said.steps.setdefault(ident, []).append(int(step))
            elif word == "done":
                ident, digest = rest.split()
                said.done[ident] = digest
            elif word == "error":
                said.errors.append(rest)
        return said


def say(*words: object) -> None:
    """Acknowledges, past every buffer of this process."""
    print(*words, flush=True)


Again = Callable[[Callable[[], Any]], Any]


def once(call: Callable[[], Any]) -> Any:
    """Makes a call."""
    return call()


def record(root: str, *, again: Again = once) -> None:
    """One life: three steps; no step; a start that repeats the last frame; two cameras; more frames than wait."""
    memory = again(lambda: Memory.open(root))
    life = again(lambda: memory.live(task="try", world="w"))
    say("life", life.number)
    key = _episode(life, 0, steps=3, again=again)
    _episode(life, key, steps=0, again=again)
    key = _episode(life, key, steps=2, again=again)  # its first frame is the last one of before: a hard link
    key = _episode(life, key + 1, steps=3, cameras=2, again=again)
    _episode(life, key + 1, steps=9, again=again)
    again(life.end)
    again(memory.close)


def record_until_killed(root: str, seed: int) -> None:
    """Lives on, in episodes of all kinds, as fast as it can."""
    chance = random.Random(seed)
    memory = Memory.open(root)
    life = memory.live(task="go on", world="w")
    say("life", life.number)
    key = seed * 1000
    while True:
        key = _episode(life, key, steps=chance.choice((0, 1, 2, 5, 12)), cameras=chance.choice((1, 1, 2)))
        key += chance.randrange(2)


def _episode(life: Life, key: int, *, steps: int, cameras: int = 1, again: Again = once) -> int:
    """Records an episode whose first frame is that of `key`; returns the key of its last."""
    arguments: Mapping[str, Any] = {"key": key, "steps": steps}
    episode = again(lambda: life.episode("go_to", arguments, frame=frames(key, cameras), state=state(key)))
    say("step", episode.id, episode.last_step)
    for _ in range(steps):
        key += 1
        step_to(episode, key, cameras=cameras, again=again)
    row: Row | None = again(lambda: episode.finish("success"))
    if row is not None:
        say("done", row.id, row.digest)
    return key


def step_to(episode: Recording, key: int, *, cameras: int = 1, again: Again = once) -> None:
    """One step, to the observation of `key`."""
    step = again(lambda: episode.step({"forward": 1}, frame=frames(key, cameras), state=state(key)))
    if step is not None:
        say("step", episode.id, step)


def warm() -> None:
    """Imports and starts everything that a recorder needs, once, for the forks of this process."""
    with tempfile.TemporaryDirectory() as folder:
        memory = Memory.create(f"{folder}/memory")
        with memory.live(world="w") as life:
            episode = life.episode("warm", {}, frame=frames(1), state=state(1))
            episode.step("on", frame=frames(2), state=state(2))
            episode.finish()
        memory.close()


__all__ = [
    "CAMERAS",
    "Sayings",
    "ScrubjayError",
    "frames",
    "once",
    "pixels",
    "record",
    "say",
    "state",
    "step_to",
    "warm",
]
