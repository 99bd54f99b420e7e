"""Place recall by picture: any frame has a descriptor, the same always, and a frame seen a little turned stays near."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from PIL import Image

from scrubjay.errors import InvalidInput
from scrubjay.retrieval import places

Frame = NDArray[np.uint8]


def panorama(seed: int, width: int = 1280, height: int = 360) -> Frame:
    """A hall seen all round: sky, floor, and a wall of posts, doors and signs in colours of their own."""
    chance = np.random.default_rng(seed)
    picture = np.zeros((height, width, 3), np.float64)
    picture[: height // 2] = chance.uniform(40, 120, 3)
    picture[height // 2 :] = chance.uniform(20, 90, 3)
    at = 0
    while at < width:
        wide = int(chance.integers(20, 160))
        top, bottom = int(chance.integers(20, 140)), int(chance.integers(220, 340))
        picture[top:bottom, at : at + wide] = chance.uniform(0, 255, 3)
        if chance.random() < 0.5:
            picture[top + 30 : top + 60, at + 5 : at + wide // 2] = chance.uniform(0, 255, 3)
        at += wide
    return np.clip(picture + chance.normal(0, 6, picture.shape), 0, 255).astype(np.uint8)


def window(hall: Frame, left: int) -> Frame:
    return np.ascontiguousarray(hall[:, left : left + 640])


frames = st.tuples(st.integers(1, 40), st.integers(1, 40)).flatmap(lambda s: arrays(np.uint8, (*s, 3)))


@given(frames)
@settings(max_examples=25)
def test_any_frame_has_one_descriptor_and_is_most_like_itself(frame: Frame) -> None:
    described = places.describe(frame)
    assert len(described) == places.LENGTH
    assert described == places.describe(frame.copy())
    assert described == places.describe(Image.fromarray(frame))
    assert places.similarity(described, [described])[0] == pytest.approx(1, abs=1e-5)
    assert places.views(frame)[0] == described


@given(frames, frames)
@settings(max_examples=15)
def test_similarity_is_finite_bounded_and_the_same_both_ways(one: Frame, other: Frame) -> None:
    first, second = places.describe(one), places.describe(other)
    there, back = places.similarity(first, [second])[0], places.similarity(second, [first])[0]
    assert 0 <= there <= 1
    assert there == pytest.approx(back, abs=1e-5)


@pytest.mark.parametrize("level", [0, 1, 128, 255])
@pytest.mark.parametrize("size", [(1, 1), (1, 700), (700, 1), (360, 640)])
def test_a_frame_of_one_colour_is_like_itself_at_any_size_and_less_like_a_hall(
    level: int, size: tuple[int, int]
) -> None:
    flat = places.describe(np.full((*size, 3), level, np.uint8))
    same, hall = places.similarity(flat, [places.describe(np.full((9, 16, 3), level, np.uint8)), HALL])
    assert same == pytest.approx(1, abs=1e-5)
    assert hall < 0.9


HALL = places.describe(window(panorama(0), 0))


def test_a_turned_head_finds_its_hall_among_others() -> None:
    halls = [panorama(seed) for seed in range(6)]
    stored = [places.describe(window(hall, 300)) for hall in halls]
    for turn in (-90, -45, 45, 90):  # of 640: up to 16 degrees at a field of view of 90
        for number, hall in enumerate(halls):
            assert places.similarity(places.views(window(hall, 300 + turn)), stored).argmax() == number


def test_views_of_a_turned_head_are_nearer_than_the_frame_as_it_is() -> None:
    hall = panorama(5)
    stored = [places.describe(window(hall, 300))]
    turned = window(hall, 360)
    assert places.similarity(places.views(turned), stored)[0] > places.similarity(places.describe(turned), stored)[0]


def test_a_darker_or_grey_copy_stays_nearer_than_another_hall() -> None:
    hall = window(panorama(1), 0)
    grey = np.repeat(hall.mean(axis=2, keepdims=True).astype(np.uint8), 3, axis=2)
    stored = [places.describe(copy) for copy in ((hall * 0.8).astype(np.uint8), window(panorama(2), 0))]
    darker, other = places.similarity(places.describe(hall), stored)
    assert darker > other
    assert places.similarity(places.describe(grey), [places.describe(hall)])[0] > 0


def test_a_frame_and_its_half_size_copy_are_nearly_the_same() -> None:
    hall = Image.fromarray(window(panorama(3), 0))
    half = hall.resize((320, 180), Image.Resampling.BOX)
    assert places.similarity(places.describe(hall), [places.describe(half)])[0] > 0.99


def test_a_frame_of_4880x2560_is_described() -> None:
    assert len(places.describe(np.zeros((2560, 4880, 3), np.uint8))) == places.LENGTH


@pytest.mark.parametrize("mode", ["L", "P", "RGBA", "1"])
def test_a_picture_of_another_mode_is_described(mode: str) -> None:
    assert len(places.describe(Image.fromarray(window(panorama(4), 0)).convert(mode))) == places.LENGTH


def test_many_stored_descriptors_in_an_array_or_a_list_rank_alike_in_any_chunk() -> None:
    stored = np.random.default_rng(0).integers(0, 256, (20_000, places.LENGTH), np.uint8)
    queries = [bytes(stored[7].tobytes()), bytes(stored[19_999].tobytes())]
    found = places.similarity(queries, stored)
    assert found.dtype == np.float32
    assert found.shape == (20_000,)
    assert set(found.argsort()[-2:].tolist()) == {7, 19_999}
    np.testing.assert_array_equal(found, places.similarity(b"".join(queries), [row.tobytes() for row in stored]))
    alone = [places.similarity(query, stored[9_000:9_003]) for query in queries]
    np.testing.assert_allclose(found[9_000:9_003], np.maximum(*alone), atol=1e-6)


def test_nothing_stored_is_no_similarity() -> None:
    assert places.similarity(HALL, []).shape == (0,)
    assert places.similarity(HALL, [bytes(places.LENGTH)])[0] == 0


def test_a_damaged_descriptor_costs_itself_alone() -> None:
    assert places.similarity(HALL, [b"short", HALL, b""]).tolist() == pytest.approx([0, 1, 0], abs=1e-5)


@pytest.mark.parametrize("query", [b"", b"short", HALL + b"x", [], [HALL, b"short"]])
def test_a_query_of_another_length_is_refused(query: bytes | list[bytes]) -> None:
    with pytest.raises(InvalidInput, match="432 bytes"):
        places.similarity(query, [HALL])


def test_an_array_of_another_shape_is_refused() -> None:
    with pytest.raises(InvalidInput):
        places.similarity(HALL, np.zeros((2, 3), np.uint8))


@pytest.mark.parametrize("shape", [(0, 5, 3), (5, 0, 3), (5, 5), (5, 5, 4)])
def test_what_is_no_frame_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(InvalidInput):
        places.describe(np.zeros(shape, np.uint8))


def test_importing_places_imports_neither_numpy_nor_pillow() -> None:
    code = "import sys, scrubjay.retrieval.places; sys.exit(bool({'numpy', 'PIL'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
