"""Many cameras at once: a bounded number of frames waits, each is stored once, none is another's."""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np
import pytest

from conftest import Pixels, numbered
from scrubjay import Memory
from scrubjay.memory.checking import check
from scrubjay.memory.frames import PngCodec
from scrubjay.memory.framewriter import QUEUE

STEPS = 6


class SlowCodec(PngCodec):
    """Takes its time, so that frames wait."""

    def encode(self, pixels: Any) -> bytes:
        time.sleep(0.003)
        return super().encode(pixels)


def shown(step: int, cameras: int) -> dict[str, Pixels]:
    """A frame of every camera; their order is another one at every step."""
    numbers = np.roll(np.arange(cameras), step)
    return {f"c{number}": numbered(step * 100 + int(number)) for number in numbers}


@pytest.mark.parametrize("cameras", [1, 3, 4, 5, 8, 12, 20])
def test_a_kill_takes_at_most_a_full_queue(memory: Memory, cameras: int) -> None:
    life = memory.live(codec=SlowCodec())
    episode = life.episode("look", {}, frame=shown(0, cameras), state={})
    for step in range(1, STEPS):
        episode.step(1, frame=shown(step, cameras), state={})
    life.abandon()
    with Memory.open(memory.root) as again:
        kept = again.episode(episode.id)
        missing = kept.record["evidence"]["missing"]
        assert len(missing) <= QUEUE
        assert len(list(kept.steps())) == STEPS
        for there in kept.steps():
            for camera, name in there.frames.items():
                if name not in missing:
                    wanted = shown(there.step, cameras)[camera]
                    assert np.array_equal(kept.frame(there.step, camera).array(), wanted)
        assert check(again.layout).is_sound


@pytest.mark.parametrize("steps", [1, 2, STEPS])
@pytest.mark.parametrize("cameras", [4, 5, 12])
def test_every_frame_of_a_finished_episode_is_its_own(memory: Memory, cameras: int, steps: int) -> None:
    with memory.live() as life, life.episode("look", {}, frame=shown(0, cameras), state={}) as episode:
        for step in range(1, steps):
            seen = shown(step, cameras)
            if step == 3:
                del seen["c0"]  # a camera that is off for a step
            episode.step(1, frame=seen, state={})
    kept = memory.episode(episode.id)
    for there in kept.steps():
        for camera in there.frames:
            assert np.array_equal(kept.frame(there.step, camera).array(), shown(there.step, cameras)[camera])
    assert kept.record["evidence"]["missing"] == {}
    names = os.listdir(memory.layout.episode(episode.id))
    assert ("frames.tar" in names) == (steps > 2)
    assert check(memory.layout).is_sound


def test_with_many_cameras_too_a_frame_is_stored_once(memory: Memory) -> None:
    cameras = 12
    with memory.live() as life:
        for nth in range(2):
            first: dict[str, Any] = {"frame": {f"c{n}": numbered(n) for n in range(cameras)}} if nth == 0 else {}
            with life.episode("look", {}, state={}, **first) as episode:
                for step in range(1, 4):
                    seen = {f"c{n}": numbered(1000 * nth + step * 100 + n) for n in range(cameras)}
                    episode.step(1, frame=seen, state={})
    frames = memory.episode("ep_000000").record["evidence"]["frames"]
    members = [place for place in frames.values() if place["file"] == "frames.tar"]
    size = os.path.getsize(os.path.join(memory.layout.episode("ep_000000"), "frames.tar"))
    assert size == 1024 + sum(512 + -(-place["size"] // 512) * 512 for place in members)
    assert len(members) == 2 * cameras
