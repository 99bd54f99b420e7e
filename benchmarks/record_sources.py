"""Frames and states to record in benchmarks: seeded walks in a VizDoom map and in Crafter, at 640x360.

It knows the two environments. A walk is stored once as raw pixels and states, and read back frame by frame, so that
what is measured is the recording and never the environment.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scrubjay import World
from vizdoom_lives import live, open_game

__all__ = ["SOURCES", "WORLDS", "Shown", "Walk", "store_walk"]

HEIGHT, WIDTH = 360, 640
_FRAME_BYTES = HEIGHT * WIDTH * 3
SOURCES = ("vizdoom", "crafter")
WORLDS = {
    "vizdoom": World("freedoom2-MAP01", up="z", unit="map unit", cell=32.0),
    "crafter": World("crafter-7", up="y", unit="tile"),
}


@dataclass(frozen=True, slots=True)
class Shown:
    """One observation: uint8 (360, 640, 3) and its state."""

    frame: NDArray[np.uint8]
    state: dict[str, Any]


def _vizdoom(count: int, seed: int) -> Iterator[Shown]:
    game = open_game("freedoom2")
    try:
        while count > 0:
            given = 0
            for seen in live(game, "MAP01", seed=seed, frames=count, every=1):
                given += 1
                yield Shown(seen.frame, {"pos": list(seen.position), "yaw": seen.angle, "tic": seen.tic})
            count, seed = count - given, seed + 1
    finally:
        game.close()


def _crafter(count: int, seed: int) -> Iterator[Shown]:
    from scrubjay.environments.crafter import Crafter

    chance = random.Random(seed)
    env = Crafter(size=(WIDTH, HEIGHT))
    frame, info = env.reset(seed=seed)
    action, ended = 1, False
    for _ in range(count):
        yield Shown(frame, info["state"])
        if ended:
            frame, info = env.reset()
            ended = False
            continue
        if chance.random() < 0.25:
            action = chance.choice((1, 2, 3, 4, 5))
        frame, _, terminated, truncated, info = env.step(action)
        ended = terminated or truncated
    env.close()


class Walk:
    """A stored walk: `walk[n]` reads observation n, for n of any size (it begins again at its end)."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_RDONLY)
        with open(path + ".json", encoding="utf-8") as states:
            self._states = json.load(states)

    def __len__(self) -> int:
        return len(self._states)

    def __getitem__(self, n: int) -> Shown:
        n %= len(self._states)
        pixels = np.frombuffer(os.pread(self._file, _FRAME_BYTES, n * _FRAME_BYTES), np.uint8)
        return Shown(pixels.reshape(HEIGHT, WIDTH, 3), self._states[n])


def store_walk(source: str, path: str, count: int, seed: int = 7) -> Walk:
    """Walks `count` observations and stores them at `path`."""
    walk = {"vizdoom": _vizdoom, "crafter": _crafter}[source]
    states = []
    with open(path, "wb") as file:
        for shown in walk(count, seed):
            file.write(np.ascontiguousarray(shown.frame).tobytes())
            states.append(shown.state)
    with open(path + ".json", "w", encoding="utf-8") as file_of_states:
        json.dump(states, file_of_states)
    return Walk(path)
