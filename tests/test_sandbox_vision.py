"""Vision for procedures: colours, regions and templates, measured on the current frame and bounded."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from scrubjay.errors import NotFound
from scrubjay.sandbox.contract import AtomFailed, Budget
from scrubjay.sandbox.monty import MontySandbox
from scrubjay.sandbox.regions import boxes
from scrubjay.sandbox.vision import Vision


def scene() -> np.ndarray[Any, np.dtype[np.uint8]]:
    """A noisy grey picture with a red box and, apart from it, two red pixels."""
    frame = np.random.default_rng(0).integers(90, 110, (60, 80, 3), dtype=np.uint8)
    frame[20:30, 50:65] = (200, 10, 10)
    frame[5, 5:7] = (200, 10, 10)
    return frame


class Eyes:
    """A current frame that can be changed, and one stored frame."""

    def __init__(self) -> None:
        self.now = scene()
        self.stored = {"ep_000043": scene()}

    def fetch(self, reference: str) -> np.ndarray[Any, np.dtype[np.uint8]]:
        if reference not in self.stored:
            raise NotFound(f"{reference} is not in this memory")
        return self.stored[reference]


@pytest.fixture
def eyes() -> Eyes:
    return Eyes()


@pytest.fixture
def vision(eyes: Eyes) -> Vision:
    return Vision(lambda: eyes.now, eyes.fetch)


def test_a_procedure_looks_and_decides(vision: Vision) -> None:
    source = (
        "def main(reference: str):\n"
        "    cut_template('door', reference, 48, 18, 20, 14)\n"
        "    best = match_template('door')\n"
        "    found = find_colour([200, 10, 10])[0]\n"
        "    return [best['x'], best['y'], found['x'], mean_colour(found['x'], found['y'], 3, 3)]\n"
    )
    with MontySandbox() as sandbox:
        outcome = sandbox.run(
            source, "main", {"reference": "ep_000043"}, vision.atoms(), vision.specs(), Budget(), lambda: False
        )
    assert outcome.error is None
    assert outcome.value == [48, 18, 50, [200.0, 10.0, 10.0]]


def test_colours_are_found_as_boxes_largest_first(vision: Vision) -> None:
    assert vision.find_colour([201, 12, 8]) == [{"x": 50, "y": 20, "width": 15, "height": 10, "pixels": 150}]
    assert [box["pixels"] for box in vision.find_colour([200, 10, 10], least=1)] == [150, 2]
    assert vision.find_colour([0, 0, 255]) == []
    assert vision.mean_colour(50, 20, 15, 10) == [200.0, 10.0, 10.0]
    assert vision.mean_colour(60, 25, 500, 1) == vision.mean_colour(60, 25, 20, 1), "what lies inside"
    assert vision.frame_size() == {"width": 80, "height": 60}


def test_a_template_is_found_where_it_moved_and_under_other_light(vision: Vision, eyes: Eyes) -> None:
    vision.cut_template("box", "ep_000043", 46, 16, 24, 18)
    assert vision.match_template("box") == {"x": 46, "y": 16, "score": 1.0}
    eyes.now = np.roll(scene(), (7, -30), axis=(0, 1)) // 2
    best = vision.match_template("box")
    assert (best["x"], best["y"]) == (16, 23)
    assert best["score"] > 0.99
    assert vision.match_template("box", 10, 20, 40, 40)["x"] == 16
    assert vision.match_template("box", 40, 20, 40, 40)["score"] < 0.6
    eyes.now = np.full((60, 80, 3), 77, np.uint8)
    assert vision.match_template("box")["score"] == 0.0
    eyes.now = scene()
    assert vision.match_template("ep_000043") == {"x": 0, "y": 0, "score": 1.0}


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda v: v.mean_colour(80, 0, 1, 1), "outside of the frame of 80x60"),
        (lambda v: v.mean_colour(0, 0, -5, 3), "outside"),
        (lambda v: v.find_colour([1, 2]), "red, green, blue"),
        (lambda v: v.find_colour([1, 2, 999]), "red, green, blue"),
        (lambda v: v.match_template("nothing"), "no template and no stored frame"),
        (lambda v: v.cut_template("a", "ep_000099", 0, 0, 1, 1), "not in this memory"),
        (lambda v: v.match_template("ep_000043", 0, 0, 20, 20), "the region only 20x20"),
        (lambda v: [v.cut_template(str(n), "ep_000043", 0, 0, 2, 2) for n in range(65)], "64 templates"),
    ],
)
def test_what_cannot_be_measured_is_told_to_the_procedure(vision: Vision, call: Any, says: str) -> None:
    with pytest.raises(AtomFailed, match=says):
        call(vision)


def test_frames_and_spots_are_bounded(eyes: Eyes, vision: Vision) -> None:
    eyes.now = np.zeros((600, 600, 3), np.uint8)
    eyes.now[::2, ::2] = 255
    with pytest.raises(AtomFailed, match="too many spots"):
        vision.find_colour([255, 255, 255])
    eyes.now = np.zeros((2001, 2000, 3), np.uint8)
    with pytest.raises(AtomFailed, match="pixels"):
        vision.mean_colour(0, 0, 1, 1)


@settings(max_examples=20)
@given(st.integers(8, 41), st.integers(8, 41), st.integers(2, 8), st.integers(2, 8), st.integers(0, 9))
def test_the_best_fit_is_that_of_trying_every_place(high: int, wide: int, h: int, w: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    frame = random.integers(0, 256, (high, wide, 3), dtype=np.uint8)
    pattern = random.integers(0, 256, (h, w, 3), dtype=np.uint8)
    vision = Vision(lambda: frame, lambda _: pattern)
    figure = pattern - pattern.mean(axis=(0, 1))
    scores = {}
    for y in range(high - h + 1):
        for x in range(wide - w + 1):
            ground = frame[y : y + h, x : x + w] - frame[y : y + h, x : x + w].mean(axis=(0, 1))
            scores[x, y] = (ground * figure).sum() / np.sqrt((ground**2).sum() * (figure**2).sum())
    best = vision.match_template("ep_000001")
    assert best["score"] == pytest.approx(max(scores.values()), abs=1e-3)
    assert scores[int(best["x"]), int(best["y"])] == pytest.approx(best["score"], abs=1e-3)


@settings(max_examples=60)
@given(arrays(np.bool_, st.tuples(st.integers(1, 12), st.integers(1, 12))))
def test_regions_are_those_of_a_flood(mask: np.ndarray[Any, np.dtype[np.bool_]]) -> None:
    expected = []
    left = {(int(y), int(x)) for y, x in np.argwhere(mask)}
    while left:
        region, edge = set[tuple[int, int]](), [left.pop()]
        while edge:
            y, x = edge.pop()
            region.add((y, x))
            near = {(y + 1, x), (y - 1, x), (y, x + 1), (y, x - 1)} & left
            left -= near
            edge += near
        ys, xs = [y for y, _ in region], [x for _, x in region]
        expected.append((min(xs), min(ys), max(xs) - min(xs) + 1, max(ys) - min(ys) + 1, len(region)))
    found = boxes(mask, 1000)
    assert found is not None
    assert sorted((box.x, box.y, box.width, box.height, box.pixels) for box in found) == sorted(expected)
