"""Table 1 by code: what each memory can be asked is found by asking it, and is what the guide says."""

from __future__ import annotations

from pathlib import Path

import pytest

from scrubjay import Memory
from scrubjay.methods.abilities import Abilities, abilities, abilities_table
from scrubjay.methods.named import METHODS, make_method

GUIDE = Path(__file__).parent.parent / "docs" / "experiments.md"


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Abilities]:
    answers = {}
    for name in METHODS:
        with Memory.create(tmp_path_factory.mktemp("abilities") / "m") as memory:
            answers[name] = abilities(make_method(name), memory)
    return answers


def test_the_guide_says_what_was_found(found: dict[str, Abilities]) -> None:
    assert abilities_table(found.items()) in GUIDE.read_text()


def test_the_whole_can_all_and_no_memory_nothing(found: dict[str, Abilities]) -> None:
    names = [name for name in Abilities.__slots__ if name != "unasked"]
    assert all(getattr(found["mfm"], name) for name in names)
    assert not any(getattr(found["direct"], name) for name in names)


@pytest.mark.parametrize(
    ("method", "can", "can_not"),
    [
        ("prolong", ["by_words", "of_earlier_lives"], ["by_place", "by_picture", "notes_next_turn"]),
        ("mfm-flat", ["by_words", "opens_frames", "notes_next_life"], ["by_place", "by_picture"]),
        ("mfm-no-frames", ["by_words", "by_place"], ["by_picture", "opens_frames"]),
        ("mfm-no-procedures", ["by_picture"], ["procedures"]),
        ("vista", ["opens_frames", "notes_next_turn"], ["by_words", "notes_next_life"]),
        ("mrsteve", ["by_place", "by_picture"], ["by_words", "of_earlier_lives"]),
        ("voyager", ["unasked", "procedures"], ["by_words", "by_picture"]),
        ("jarvis1", ["unasked"], ["procedures", "by_words"]),
    ],
)
def test_each_can_what_its_paper_says(
    found: dict[str, Abilities], method: str, can: list[str], can_not: list[str]
) -> None:
    assert [name for name in can if not getattr(found[method], name)] == []
    assert [name for name in can_not if getattr(found[method], name)] == []
