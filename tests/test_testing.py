"""The conformance suites accept what keeps a contract and name what breaks it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scrubjay import Memory
from scrubjay.environments.crafter import Crafter
from scrubjay.environments.recording import RecordMemory
from scrubjay.memory.frames import PngCodec, WebpCodec
from scrubjay.testing import CountingEnvironment, check_codec, check_environment, check_memory
from scrubjay.testing.counting import count_in, frame_of


class JpegCodec(WebpCodec):
    extension, media_type = "jpg", "image/jpeg"
    _options = {"format": "JPEG", "quality": 90}  # noqa: RUF012


class WronglyNamedCodec(PngCodec):
    extension = "jpg"


@pytest.mark.parametrize("codec", [WebpCodec(), PngCodec()])
def test_the_codecs_that_ship_keep_every_pixel(codec: Any) -> None:
    check_codec(codec)


def test_a_lossy_codec_is_told_how_many_pixels_changed() -> None:
    with pytest.raises(AssertionError, match="pixels changed; use a lossless mode"):
        check_codec(JpegCodec())


def test_a_codec_with_another_formats_extension_is_named() -> None:
    with pytest.raises(AssertionError, match=r"\.jpg files are image/jpeg"):
        check_codec(WronglyNamedCodec())


def test_frames_of_the_counting_environment_tell_their_step() -> None:
    assert count_in(frame_of(123_456, life=7)) == (123_456, 7)


def test_environments_that_keep_the_contract() -> None:
    check_environment(CountingEnvironment())
    check_environment(Crafter(size=(64, 36)), steps=25)


class Drifting(CountingEnvironment):
    lives = 0

    def reset(self, **options: Any) -> Any:
        self.lives += 1
        return super().reset(**options)

    def _info(self) -> dict[str, Any]:
        info = super()._info()
        info["state"]["mood"] = self.lives
        return info


class NotJson(CountingEnvironment):
    def _info(self) -> dict[str, Any]:
        info = super()._info()
        info["state"]["fuel"] = float("nan")
        return info


class Forgetful(CountingEnvironment):
    def _info(self) -> dict[str, Any]:
        info = super()._info()
        return {**info, "milestones": info["milestones"] if self._count != 5 else []}


class FloatFrames(CountingEnvironment):
    def _picture(self) -> Any:
        return super()._picture().astype(np.float32)


class Restless(CountingEnvironment):
    def render(self) -> Any:
        self._x += 1
        return super().render()


@pytest.mark.parametrize(
    ("environment", "complaint"),
    [
        (Drifting(), "gave another state the second time.*mood: 1 and 2"),
        (NotJson(), "must be strict JSON"),
        (Forgetful(), r"milestones \['three'\] were reached before and are gone"),
        (FloatFrames(), "must be uint8, it is float32"),
        (Restless(), "render changed it"),
    ],
)
def test_an_environment_that_breaks_the_contract_is_told_how(environment: Any, complaint: str) -> None:
    with pytest.raises(AssertionError, match=complaint):
        check_environment(environment)


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    with Memory.create(tmp_path / "m") as memory:
        env = RecordMemory(CountingEnvironment(length=6), memory)
        env.reset(seed=3)
        for action in (0, 1, 1, 1, 2, 2):
            env.step(action)
        env.close()
    return tmp_path / "m"


def test_a_memory_that_was_recorded_is_whole(recorded: Path) -> None:
    check_memory(recorded)


def test_a_memory_with_a_frame_cut_off_is_named(recorded: Path) -> None:
    os.truncate(recorded / "episodes/0000/ep_000002/frames.tar", 600)
    with pytest.raises(AssertionError, match=r"ep_000002: frames.tar has 600 bytes, \d+ were recorded"):
        check_memory(recorded)


def test_a_memory_without_its_grid_is_named(recorded: Path) -> None:
    (recorded / "grid.jsonl").write_bytes(b"")
    with pytest.raises(AssertionError, match=r"cell events, grid.jsonl 0"):
        check_memory(recorded)


def test_a_memory_with_a_step_lost_is_named(recorded: Path) -> None:
    steps = recorded / "episodes/0000/ep_000002/steps.jsonl"
    steps.write_bytes(steps.read_bytes().split(b"\n", 1)[1])
    with pytest.raises(AssertionError, match=r"ep_000002: steps 1 to 4 were expected, steps.jsonl has 3"):
        check_memory(recorded)
