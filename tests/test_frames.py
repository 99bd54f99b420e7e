"""Frames: what may be one, what is refused and how that is said, and that no pixel changes on the way."""

from __future__ import annotations

import hashlib
import io
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from scrubjay.errors import Damaged, InvalidInput
from scrubjay.memory.frames import DEFAULT_CODEC, Frame, PngCodec, WebpCodec, picture, screen_hash


def noise(height: int, width: int, seed: int = 1) -> Any:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


def encoded(image: Image.Image, form: str, **options: Any) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, form, **options)
    return buffer.getvalue()


@settings(max_examples=60)
@given(
    height=st.integers(1, 40),
    width=st.integers(1, 40),
    seed=st.integers(0, 2**32 - 1),
    colours=st.integers(1, 256),
    codec=st.sampled_from([WebpCodec(), PngCodec()]),
)
def test_every_pixel_comes_back(height: int, width: int, seed: int, colours: int, codec: Any) -> None:
    pixels = np.random.default_rng(seed).integers(0, colours, (height, width, 3), dtype=np.uint8)
    assert np.array_equal(codec.decode(picture(pixels, codec).encode()), pixels)


@pytest.mark.parametrize("layout", ["fortran", "view", "read-only", "reversed"])
def test_arrays_of_any_layout(layout: str) -> None:
    pixels = noise(30, 40)
    given_ = {
        "fortran": np.asfortranarray(pixels),
        "view": noise(60, 80)[::2, ::2],
        "read-only": pixels.view(),
        "reversed": pixels[:, ::-1],
    }[layout]
    given_.flags.writeable = layout != "read-only"
    assert np.array_equal(DEFAULT_CODEC.decode(picture(given_).encode()), given_)


def test_a_picture_is_a_copy() -> None:
    pixels = noise(8, 8)
    taken, before = picture(pixels), pixels.copy()
    pixels[:] = 0
    assert np.array_equal(taken.array(), before)


@pytest.mark.parametrize("mode", ["RGB", "L", "P", "1"])
def test_pil_images_keep_what_they_show(mode: str) -> None:
    image = Image.fromarray(noise(20, 30)).convert(mode)
    assert np.array_equal(picture(image).array(), np.asarray(image.convert("RGB")))


def test_an_opaque_alpha_channel_is_dropped_and_a_transparent_one_refused() -> None:
    opaque = Image.fromarray(noise(20, 30)).convert("RGBA")
    assert np.array_equal(picture(opaque).array(), np.asarray(opaque.convert("RGB")))
    opaque.putpixel((3, 3), (1, 2, 3, 254))
    with pytest.raises(InvalidInput, match="transparent pixels"):
        picture(opaque)


@pytest.mark.parametrize("mode", ["I", "F", "CMYK", "I;16"])
def test_modes_that_would_lose_something_are_refused(mode: str) -> None:
    with pytest.raises(InvalidInput, match="convert it to RGB first"):
        picture(Image.new(mode, (4, 4)))


@pytest.mark.parametrize(
    ("form", "extension", "options"),
    [
        ("PNG", "png", {}),
        ("JPEG", "jpg", {"quality": 80}),
        ("WEBP", "webp", {"quality": 60}),
        ("WEBP", "webp", {"lossless": True}),
        ("GIF", "gif", {}),
        ("BMP", "bmp", {}),
    ],
)
def test_encoded_frames_are_kept_as_they_came(form: str, extension: str, options: dict[str, Any]) -> None:
    data = encoded(Image.fromarray(noise(20, 30)), form, **options)
    for given_ in (data, bytearray(data), memoryview(data)):
        taken = picture(given_)
        assert (taken.encode(), taken.extension) == (data, extension)
    assert Frame(f"000001.{extension}", data, "x").media_type == f"image/{'jpeg' if form == 'JPEG' else form.lower()}"


@pytest.mark.parametrize(
    ("frame", "complaint"),
    [
        (np.zeros((4, 4, 3), np.float32), r"uint8 \(H, W, 3\) was expected, found float32 \(4, 4, 3\)"),
        (np.zeros((4, 4), np.uint8), r"found uint8 \(4, 4\)"),
        (np.zeros((4, 4, 4), np.uint8), r"found uint8 \(4, 4, 4\)"),
        (np.zeros((3, 4, 4), np.uint8), r"found uint8 \(3, 4, 4\)"),
        (np.zeros((0, 4, 3), np.uint8), r"found uint8 \(0, 4, 3\)"),
        ("shot.png", "a path is not read: pass its bytes"),
        ([[1, 2], [3, 4]], "found list"),
        (b"hello", "found b'hello'"),
        (b"", "found b''"),
    ],
)
def test_what_is_no_frame_is_named(frame: Any, complaint: str) -> None:
    with pytest.raises(InvalidInput, match=complaint):
        picture(frame)


@pytest.mark.parametrize("shape", [(2, 16_384), (16_384, 2)])
def test_what_webp_cannot_hold_becomes_png(shape: tuple[int, int]) -> None:
    pixels = noise(*shape)
    taken = picture(pixels)
    assert taken.extension == "png"
    assert np.array_equal(taken.codec.decode(taken.encode()), pixels)


def test_the_widest_webp() -> None:
    assert picture(noise(1, 16_383)).extension == "webp"


def test_the_hash_of_a_screen_stands_for_pixels_and_size() -> None:
    pixels = noise(6, 8)
    assert screen_hash(pixels) == screen_hash(np.asfortranarray(pixels))
    assert screen_hash(pixels) != screen_hash(pixels.reshape(8, 6, 3))
    other = pixels.copy()
    other[5, 7, 2] ^= 1
    assert screen_hash(pixels) != screen_hash(other)
    assert screen_hash(pixels) == hashlib.sha256(b"8x6:" + pixels.tobytes()).hexdigest()[:32]


def test_two_pictures_are_the_same_only_in_the_same_form() -> None:
    pixels = noise(6, 8)
    data = encoded(Image.fromarray(pixels), "PNG")
    assert picture(pixels).same_as(picture(pixels.copy()))
    assert picture(data).same_as(picture(data))
    assert not picture(pixels).same_as(picture(data))
    assert not picture(pixels).same_as(picture(noise(6, 8, seed=2)))
    assert not picture(pixels).same_as(picture(noise(8, 6)))


def test_a_stored_frame_gives_pixels_size_and_media_type() -> None:
    pixels = noise(6, 8)
    frame = Frame("000001.webp", DEFAULT_CODEC.encode(pixels), "episodes/0000/ep_000001/frames.tar")
    assert (frame.size, frame.media_type) == ((8, 6), "image/webp")
    assert np.array_equal(frame.array(), pixels)


def test_a_stored_frame_that_is_broken_names_its_file() -> None:
    data = DEFAULT_CODEC.encode(noise(60, 80))
    for cut in (0, 11, len(data) // 2):
        with pytest.raises(Damaged, match=r"ep_000001/start\.webp"):
            Frame("start.webp", data[:cut], "episodes/0000/ep_000001/start.webp").array()
