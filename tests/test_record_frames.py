"""Frames of recorded episodes: in every form, of several cameras, each stored once, found at any step."""

from __future__ import annotations

import io
import itertools
import os
import re
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from conftest import numbered
from scrubjay import Memory
from scrubjay.errors import InvalidInput, NotFound
from scrubjay.memory.frames import PngCodec
from scrubjay.testing import check_memory


def noise(height: int, width: int, seed: int = 1) -> Any:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


def encoded(pixels: Any, form: str, **options: Any) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, form, **options)
    return buffer.getvalue()


def record(memory: Memory, frames: list[Any], **options: Any) -> str:
    """One episode with these frames; returns its folder."""
    with memory.live(**options) as life, life.episode("a", {}, frame=frames[0]) as episode:
        for frame in frames[1:]:
            episode.step(1, frame=frame)
    return memory.layout.episode(episode.id)


def files_of(folder: str) -> list[str]:
    return sorted(os.listdir(folder))


def test_frames_of_any_step_in_any_order(memory: Memory) -> None:
    frames = [noise(24, 32, seed) for seed in range(12)]
    folder = record(memory, frames)
    episode = memory.episode("ep_000000")
    for n in (11, 0, 5, 1, 10, 5):
        assert np.array_equal(episode.frame(n).array(), frames[n])
    assert files_of(folder) == ["end.webp", "episode.json", "frames.tar", "start.webp", "steps.jsonl"]
    with pytest.raises(NotFound, match="steps 0 to 11, not 12"):
        episode.frame(12)


def test_the_tar_is_one_that_everybody_reads(memory: Memory, tmp_path: Path) -> None:
    import tarfile

    frames = [noise(24, 32, seed) for seed in range(5)]
    with tarfile.open(os.path.join(record(memory, frames), "frames.tar")) as tar:
        assert tar.getnames() == ["000001.webp", "000002.webp", "000003.webp"]
        with Image.open(tar.extractfile("000002.webp") or io.BytesIO()) as image:
            assert np.array_equal(np.asarray(image.convert("RGB")), frames[2])


@pytest.mark.parametrize(("form", "extension"), [("PNG", "png"), ("JPEG", "jpg"), ("WEBP", "webp")])
def test_encoded_frames_are_stored_byte_for_byte(memory: Memory, form: str, extension: str) -> None:
    given = [encoded(noise(24, 32, seed), form) for seed in range(4)]
    folder = record(memory, list(given))
    episode = memory.episode("ep_000000")
    assert [episode.frame(n).data for n in range(4)] == given
    assert {f"start.{extension}", f"end.{extension}"} < set(files_of(folder))
    with Image.open(io.BytesIO(given[2])) as image:
        assert np.array_equal(episode.frame(2).array(), np.asarray(image.convert("RGB")))


def test_forms_may_change_from_step_to_step(memory: Memory) -> None:
    pixels = noise(24, 32)
    record(memory, [pixels, Image.fromarray(pixels), encoded(pixels, "PNG"), encoded(pixels, "BMP"), pixels])
    episode = memory.episode("ep_000000")
    assert all(np.array_equal(episode.frame(n).array(), pixels) for n in range(5))
    assert [episode.frame(n).name.partition(".")[2] for n in range(5)] == ["webp", "webp", "png", "bmp", "webp"]


def test_several_cameras(memory: Memory) -> None:
    frames = [{"front": noise(24, 32, n), "rear_2": noise(12, 16, 100 + n)} for n in range(4)]
    folder = record(memory, list(frames))
    episode = memory.episode("ep_000000")
    for n, shown in enumerate(frames):
        for camera, pixels in shown.items():
            assert np.array_equal(episode.frame(n, camera).array(), pixels)
    assert np.array_equal(episode.frame(2).array(), frames[2]["front"])
    assert np.array_equal(episode.end_frame("rear_2").array(), frames[3]["rear_2"])
    assert {"start.front.webp", "end.rear_2.webp"} < set(files_of(folder))
    with pytest.raises(NotFound, match="no camera 'left'; it has 'front', 'rear_2'"):
        episode.frame(2, "left")


def test_a_camera_that_comes_and_goes(memory: Memory) -> None:
    a, b = noise(8, 8, 1), noise(8, 8, 2)
    record(memory, [{"front": a}, {"front": a, "rear": b}, {"front": None, "rear": b}, {"front": a}])
    episode = memory.episode("ep_000000")
    assert np.array_equal(episode.frame(2).array(), b)
    assert np.array_equal(episode.frame(3).array(), a)
    with pytest.raises(NotFound):
        episode.frame(2, "front")
    check_memory(memory.root)


@pytest.mark.parametrize("camera", ["a/b", "..", "", "a b", "a.b", "con:", "x" * 41, "é", 3])
def test_a_camera_is_a_part_of_a_file_name(memory: Memory, camera: Any) -> None:
    with memory.live() as life, pytest.raises(InvalidInput, match="a camera's name is"):
        life.episode("a", {}, frame={camera: noise(4, 4)})


def test_cameras_that_one_file_name_would_serve_are_refused(memory: Memory) -> None:
    with memory.live() as life, pytest.raises(InvalidInput, match="differ in more than capitals"):
        life.episode("a", {}, frame={"front": noise(4, 4), "Front": noise(4, 4)})


def test_a_frame_that_is_missing_is_said(memory: Memory) -> None:
    with memory.live() as life, life.episode("a", {}, frame=noise(4, 4), state={}) as episode:
        episode.step(1, frame_missing="the window was closed")
        episode.step(1)
    stored = memory.episode("ep_000000")
    assert [step.missing for step in stored.steps()] == [None, "the window was closed", "not given"]
    with pytest.raises(NotFound, match="ep_000000#1 has no frame: the window was closed"):
        stored.frame(1)
    with pytest.raises(NotFound):
        stored.end_frame()


@pytest.mark.parametrize("shown", [[None, 1, 2], [1, None, 2], [1, 2, None], [None, 1, None]])
def test_an_edge_without_a_frame(memory: Memory, shown: list[int | None]) -> None:
    record(memory, [None if n is None else numbered(n) for n in shown])
    episode = memory.episode("ep_000000")
    assert episode.row.events == ()
    assert [None if step.frames[""] is None else step.step for step in episode.steps()] == [
        None if n is None else step for step, n in enumerate(shown)
    ]
    check_memory(memory.root)


def test_no_frames_at_all(memory: Memory) -> None:
    folder = record(memory, [None, None])
    assert files_of(folder) == ["episode.json", "steps.jsonl"]
    assert memory.episode("ep_000000").row.image is None


def test_the_caller_may_reuse_its_buffer(memory: Memory) -> None:
    buffer = noise(40, 40)
    expected = []
    with memory.live() as life, life.episode("a", {}, frame=buffer) as episode:
        expected.append(buffer.copy())
        for n in range(20):
            buffer[:] = n
            episode.step(1, frame=buffer)
            expected.append(buffer.copy())
    stored = memory.episode("ep_000000")
    assert all(np.array_equal(stored.frame(n).array(), pixels) for n, pixels in enumerate(expected))


class SlowCodec(PngCodec):
    """Takes its time, and counts how many pictures were given to it."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.encoded = 0

    def encode(self, pixels: Any) -> bytes:
        time.sleep(self._seconds)
        self.encoded += 1
        return super().encode(pixels)


def test_a_full_queue_slows_the_caller_and_drops_nothing(memory: Memory) -> None:
    codec, ahead = SlowCodec(0.01), []
    with memory.live(codec=codec) as life, life.episode("a", {}, frame=numbered(0)) as episode:
        for n in range(1, 40):
            episode.step(1, frame=numbered(n))
            ahead.append(n + 1 - codec.encoded)
    assert max(ahead) <= 9  # eight that wait, and the one that is being encoded
    stored = memory.episode("ep_000000")
    assert all(np.array_equal(stored.frame(n).array(), numbered(n)) for n in range(40))


class FailingCodec(PngCodec):
    """Fails for one picture."""

    def encode(self, pixels: Any) -> bytes:
        if pixels[-1, -1, 0] == 3:
            raise RuntimeError("no such picture")
        return super().encode(pixels)


@pytest.mark.parametrize("fails_at", [0, 5, 9])
def test_a_codec_that_fails_costs_one_frame_and_is_told_once(memory: Memory, fails_at: int) -> None:
    with memory.live(codec=FailingCodec()) as life:
        episode = life.episode("a", {}, frame=numbered(3 if fails_at == 0 else 100))
        told = []
        for n in range(1, 10):
            try:
                episode.step(1, frame=numbered(3 if n == fails_at else 100 + n))
            except InvalidInput as error:
                told.append(str(error))
                episode.step(1, frame=numbered(100 + n))
        try:
            episode.finish("success")
        except InvalidInput as error:
            told.append(str(error))
            episode.finish("success")
    why = "it could not be encoded: RuntimeError: no such picture"
    assert told == [f"frame {fails_at:06d}.png: {why}; its step is recorded without it"]
    stored = memory.episode("ep_000000")
    assert stored.row.outcome == "success"
    with pytest.raises(NotFound, match="RuntimeError: no such picture"):
        stored.frame(fails_at)
    assert all(np.array_equal(stored.frame(n).array(), numbered(100 + n)) for n in range(10) if n != fails_at)
    check_memory(memory.root)


def inode(folder: str, name: str) -> tuple[int, int]:
    status = os.stat(os.path.join(folder, name))
    return status.st_ino, status.st_nlink


def test_a_start_that_is_the_previous_end_is_stored_once(memory: Memory) -> None:
    folders = []
    with memory.live() as life:
        for n in range(3):
            with life.episode("a", {}, frame=numbered(0) if n == 0 else None) as episode:
                episode.step(1, frame=numbered(2 * n + 1))
                episode.step(1, frame=numbered(2 * n + 2))
            folders.append(memory.layout.episode(episode.id))
    assert inode(folders[0], "start.webp")[1] == 1
    for before, after in itertools.pairwise(folders):
        assert inode(before, "end.webp") == inode(after, "start.webp")
        assert inode(after, "start.webp")[1] == 2
    check_memory(memory.root)


def test_the_same_frame_given_again_is_linked_and_another_is_not(memory: Memory) -> None:
    with memory.live() as life:
        for first, last in ((numbered(1), numbered(2)), (numbered(2), numbered(3)), (numbered(4), numbered(4))):
            with life.episode("a", {}, frame=first) as episode:
                episode.step(1, frame=last)
    folders = [memory.layout.episode(f"ep_{n:06d}") for n in range(3)]
    assert inode(folders[1], "start.webp") == inode(folders[0], "end.webp")
    assert inode(folders[2], "start.webp")[1] == 1


def test_a_frame_larger_than_a_screen(memory: Memory) -> None:
    large = np.tile(noise(16, 16), (160, 305, 1))
    record(memory, [numbered(1), large, numbered(2)])
    episode = memory.episode("ep_000000")
    assert episode.frame(1).size == (4880, 2560)
    assert np.array_equal(episode.frame(1).array(), large)


WINDOWS_REFUSES = re.compile(r'[<>:"/\\|?*\x00-\x1f]|[. ]$|^(con|prn|aux|nul|com\d|lpt\d)(\.|$)', re.IGNORECASE)


def test_every_file_name_is_valid_on_windows(memory: Memory) -> None:
    with memory.live("wörld: a/b?", world="a:b/c*") as life:
        for n in range(2):
            with life.episode("go:to/x?", {"con": 1}, frame={"front": numbered(n)}, state={}) as episode:
                episode.step(1, frame={"front": numbered(n + 5)}, state={})
                episode.step(1, frame={"front": numbered(n + 9)}, state={})
    names = [name for _, folders, files in os.walk(memory.root) for name in (*folders, *files)]
    assert len(names) > 20
    assert [name for name in names if WINDOWS_REFUSES.search(name)] == []
    assert len({name.lower() for name in names}) == len(set(names))


def test_one_thread_encodes_for_a_life_and_ends_with_it(memory: Memory) -> None:
    before = threading.active_count()
    record(memory, [numbered(0), numbered(1)])
    assert threading.active_count() == before
