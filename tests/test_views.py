"""A look at evidence: within bounds, and true to the stored pixels."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import numpy
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from PIL import Image

from scrubjay.errors import Damaged, InvalidInput, NotFound, StorageFailed
from scrubjay.memory.frames import Frame, PngCodec, WebpCodec
from scrubjay.memory.layout import Reference, episode_id
from scrubjay.retrieval.evidence import Evidence
from scrubjay.retrieval.fitting import scaled
from scrubjay.retrieval.given import given_frame
from scrubjay.retrieval.lettering import printable, shortened, width_of
from scrubjay.retrieval.looking import MOST_IN_SHEET, compare, look, sheet, then_now
from scrubjay.retrieval.views import DEFAULT_BOUNDS, Bounds, Source, View, clip

SMALL = Bounds(long_edge=200, max_bytes=12_000)


def scene(width: int, height: int, seed: int = 0) -> Image.Image:
    """A picture with flat parts and edges, as games have, and a little noise."""
    rng = numpy.random.default_rng(seed)
    tiles = rng.integers(0, 255, (height // 20 + 1, width // 20 + 1, 3), dtype=numpy.uint8)
    pixels = tiles.repeat(20, axis=0).repeat(20, axis=1)[:height, :width].copy()
    pixels[: height // 4] = rng.integers(0, 255, (height // 4, width, 3), dtype=numpy.uint8)
    return Image.fromarray(pixels)


def noise(width: int, height: int) -> Image.Image:
    rng = numpy.random.default_rng(width * 10_000 + height)
    return Image.fromarray(rng.integers(0, 255, (height, width, 3), dtype=numpy.uint8))


def evidence(image: Image.Image, number: int = 43, zoom: tuple[int, int, int, int] | None = None) -> Evidence:
    frame = Frame("002318.webp", WebpCodec().encode(numpy.asarray(image)), f"{episode_id(number)}/start.webp")
    return Evidence(
        Reference(episode_id(number)), frame, zoom=zoom, step=2318, position=(3168.66, 1419.47), action="use_at"
    )


def assert_true(view: View, source: Source, original: Image.Image) -> None:
    """The pixels of the view are those that its source names, at the size it says."""
    assert source.size == original.size
    assert source.at is not None
    x, y, w, h = source.at
    part = original
    if source.region is not None:
        left, top, width, height = source.region
        part = original.crop((left, top, left + width, top + height))
    assert x >= 0
    assert y >= 0
    assert x + w <= view.size[0]
    assert y + h <= view.size[1]
    if view.media_type == "image/png":
        shown = view.image().crop((x, y, x + w, y + h))
        assert shown.tobytes() == scaled(part, (w, h)).tobytes()


def assert_within(view: View, bounds: Bounds) -> None:
    assert len(view.data) <= bounds.max_bytes
    assert max(view.size) <= bounds.long_edge
    assert view.image().size == view.size
    with Image.open(io.BytesIO(view.data)) as image:
        assert Image.MIME[image.format or ""] == view.media_type


def test_a_frame_that_fits_comes_as_it_is_stored() -> None:
    item = evidence(scene(640, 360))
    view = look(item, DEFAULT_BOUNDS)
    assert item.frame is not None
    assert view.data == item.frame.data
    assert view.size == (640, 360)
    assert view.sources == (Source(Reference("ep_000043"), None, None, (640, 360), (0, 0, 640, 360)),)


def test_a_large_frame_is_scaled_down_and_the_original_untouched() -> None:
    item = evidence(scene(3000, 1000))
    assert item.frame is not None
    before = item.frame.data
    view = look(item, DEFAULT_BOUNDS)
    assert_within(view, DEFAULT_BOUNDS)
    assert view.size == (1568, 522)
    assert item.frame.data == before


def test_a_frame_of_a_kind_that_models_do_not_take_is_encoded_anew() -> None:
    image = scene(40, 30)
    buffer = io.BytesIO()
    image.save(buffer, "BMP")
    view = look(Evidence(Reference("ep_000001"), Frame("000001.bmp", buffer.getvalue(), "start.bmp")), DEFAULT_BOUNDS)
    assert view.media_type == "image/png"
    assert view.image().tobytes() == image.tobytes()


def test_a_region_is_enlarged_by_a_whole_factor() -> None:
    image = scene(640, 360)
    view = look(evidence(image, zoom=(100, 80, 64, 48)), DEFAULT_BOUNDS)
    assert view.size == (768, 576)
    assert view.media_type == "image/png"
    assert numpy.array_equal(numpy.asarray(view.image())[::12, ::12], numpy.asarray(image)[80:128, 100:164])


def test_a_region_partly_outside_is_clipped_and_said() -> None:
    image = scene(640, 360)
    view = look(evidence(image, zoom=(600, -20, 100, 60)), DEFAULT_BOUNDS)
    (source,) = view.sources
    assert source.clipped
    assert source.region == (600, 0, 40, 40)
    assert_true(view, source, image)


@pytest.mark.parametrize("zoom", [(640, 0, 10, 10), (0, -10, 10, 10), (0, 0, 0, 5), (5, 5, 5, -1)])
def test_a_region_outside_tells_the_size_of_the_frame(zoom: tuple[int, int, int, int]) -> None:
    with pytest.raises(InvalidInput, match="640 pixels wide and 360 high"):
        look(evidence(scene(640, 360), zoom=zoom), DEFAULT_BOUNDS)


def test_a_damaged_frame_is_an_error_of_a_look_and_a_cell_of_a_sheet() -> None:
    good = scene(64, 64)
    whole = evidence(good).frame
    assert whole is not None
    broken = replace(evidence(good), frame=Frame("000007.webp", whole.data[:100], "ep_000007/start.webp"))
    with pytest.raises(Damaged, match=r"ep_000007/start\.webp"):
        look(broken, DEFAULT_BOUNDS)
    png = PngCodec().encode(numpy.asarray(noise(64, 64)))
    cut = replace(evidence(good), frame=Frame("000008.png", png[: len(png) // 2], "ep_000008/start.png"))
    none = Evidence(Reference("ep_000009"), missing="the camera was off")
    view = sheet([evidence(good), broken, cut, none], DEFAULT_BOUNDS)
    assert_true(view, view.sources[0], good)
    assert "ep_000007/start.webp" in (view.sources[1].missing or "")
    assert "ep_000008/start.png" in (view.sources[2].missing or "")
    assert view.sources[3].missing == "the camera was off"
    assert [source.at is None for source in view.sources] == [False, True, True, True]
    with pytest.raises(NotFound, match="the camera was off"):
        look(none, DEFAULT_BOUNDS)


def test_a_sheet_of_sixty_is_one_bounded_picture() -> None:
    images = [scene(320, 180, seed) for seed in range(60)]
    view = sheet([evidence(image, number) for number, image in enumerate(images, 1)], DEFAULT_BOUNDS)
    assert_within(view, DEFAULT_BOUNDS)
    assert view.left_out == 0
    assert len(view.sources) == 60
    boxes = [source.at for source in view.sources if source.at]
    assert len(set(boxes)) == 60
    assert min(box[2] for box in boxes) >= 180


def test_a_sheet_says_what_it_leaves_out() -> None:
    image = scene(32, 32)
    view = sheet([evidence(image, number) for number in range(1, 71)], DEFAULT_BOUNDS)
    assert len(view.sources) == MOST_IN_SHEET == 64
    assert view.left_out == 6
    full = sheet([evidence(image, number) for number in range(1, 65)], DEFAULT_BOUNDS)
    assert full.left_out == 0
    assert view.size[1] > full.size[1], "a line in the picture says so"
    with pytest.raises(InvalidInput, match="nothing matched"):
        sheet([], DEFAULT_BOUNDS)


def test_then_stands_left_of_now() -> None:
    then, now = scene(640, 360, 1), scene(640, 360, 2)
    current = Evidence(None, given_frame(numpy.asarray(now), DEFAULT_BOUNDS))
    view = then_now(evidence(then), current, DEFAULT_BOUNDS, "the same entrance?")
    assert view.media_type == "image/png"
    for source, image in zip(view.sources, (then, now), strict=True):
        assert_true(view, source, image)
    left, right = (source.at for source in view.sources)
    assert left is not None
    assert right is not None
    assert left[1] == right[1] > 0
    assert left[0] + left[2] <= right[0]


def test_compare_takes_two_to_sixteen() -> None:
    images = [scene(64, 64, 1), scene(300, 40, 2), scene(40, 300, 3)]
    view = compare([evidence(image, number) for number, image in enumerate(images, 1)], DEFAULT_BOUNDS)
    for source, image in zip(view.sources, images, strict=True):
        assert_true(view, source, image)
    for count in (0, 1, 17):
        with pytest.raises(InvalidInput, match=f"found {count}"):
            compare([evidence(images[0])] * count, DEFAULT_BOUNDS)


sizes = st.tuples(st.integers(1, 600), st.integers(1, 600))
zooms = st.none() | st.tuples(st.integers(-50, 600), st.integers(-50, 600), st.integers(1, 1000), st.integers(1, 1000))


@settings(max_examples=12)
@given(size=sizes, zoom=zooms, rough=st.booleans(), bounds=st.sampled_from([DEFAULT_BOUNDS, SMALL]))
@example(size=(1, 1), zoom=None, rough=False, bounds=DEFAULT_BOUNDS)
@example(size=(1, 3000), zoom=(0, 0, 1, 3000), rough=True, bounds=DEFAULT_BOUNDS)
@example(size=(5000, 3000), zoom=None, rough=False, bounds=SMALL)
@example(size=(5000, 3000), zoom=(4990, 2000, 3000, 3000), rough=False, bounds=DEFAULT_BOUNDS)
def test_any_look_is_bounded_and_true(
    size: tuple[int, int], zoom: tuple[int, int, int, int] | None, rough: bool, bounds: Bounds
) -> None:
    image = noise(*size) if rough else scene(*size)
    if zoom is not None:
        try:
            clip(zoom, size)
        except InvalidInput:
            return
    view = look(evidence(image, zoom=zoom), bounds)
    assert_within(view, bounds)
    assert_true(view, view.sources[0], image)


@settings(max_examples=8)
@given(
    shapes=st.lists(st.tuples(st.integers(1, 400), st.integers(1, 400)), min_size=2, max_size=16),
    edge=st.integers(64, 800),
    question=st.none() | st.text(max_size=200),
)
def test_any_comparison_is_bounded_and_true(shapes: list[tuple[int, int]], edge: int, question: str | None) -> None:
    images = [scene(*shape, seed=number) for number, shape in enumerate(shapes)]
    bounds = Bounds(edge, 60_000)
    view = compare([evidence(image, number) for number, image in enumerate(images)], bounds, question)
    assert_within(view, bounds)
    for source, image in zip(view.sources, images, strict=True):
        assert_true(view, source, image)


@given(st.text() | st.text(alphabet=st.characters(categories=["Cs", "Cc", "Lo", "Mn"])))
def test_any_text_is_a_label(text: str) -> None:
    assert "\n" not in printable(text)
    assert width_of(shortened(text, 14, 60), 14) <= 60


@pytest.mark.parametrize("name", ["view.png", "view.jpg", "view.webp", "view"])
def test_a_saved_view_is_what_its_name_says(tmp_path: Path, name: str) -> None:
    view = look(evidence(scene(64, 48)), DEFAULT_BOUNDS)
    path = tmp_path / name
    assert view.save(path) == str(path)
    with Image.open(path) as image:
        assert image.format == {"png": "PNG", "jpg": "JPEG"}.get(path.suffix[1:], "WEBP")
        assert image.size == view.size


@pytest.mark.parametrize("name", ["sheet.png", "sheet.jpg", "sheet.webp"])
def test_a_saved_view_stays_within_its_bytes(tmp_path: Path, name: str) -> None:
    view = look(evidence(noise(700, 600)), DEFAULT_BOUNDS)
    view.save(tmp_path / name)
    assert (tmp_path / name).stat().st_size <= DEFAULT_BOUNDS.max_bytes


def test_a_view_that_cannot_be_written_says_where(tmp_path: Path) -> None:
    with pytest.raises(StorageFailed, match=r"nowhere/view\.png"):
        look(evidence(scene(64, 48)), DEFAULT_BOUNDS).save(tmp_path / "nowhere" / "view.png")


def test_what_is_given_may_be_array_image_bytes_or_path(tmp_path: Path) -> None:
    image = scene(50, 40)
    path = tmp_path / "screen.png"
    image.save(path)
    for given_as in (numpy.asarray(image), image, path.read_bytes(), path, str(path)):
        frame = given_frame(given_as, DEFAULT_BOUNDS)
        assert frame.image().tobytes() == image.tobytes()
    large = given_frame(noise(1200, 900), DEFAULT_BOUNDS)
    assert len(large.data) <= 300_000
    for wrong in (tmp_path / "nowhere.png", b"no picture", numpy.zeros((4, 4)), tmp_path, 7):
        with pytest.raises(InvalidInput):
            given_frame(wrong, DEFAULT_BOUNDS)


def test_bounds_too_narrow_for_any_picture_are_refused() -> None:
    for edge, count in ((10, 900_000), (1568, 100)):
        with pytest.raises(InvalidInput):
            Bounds(edge, count)
