"""Text found by the derived index, where the rows are too many to look at each: as by a scan."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scrubjay.memory.layout import Layout, episode_id
from scrubjay.retrieval.build import bring_up_to_date
from scrubjay.retrieval.locate import Locator
from scrubjay.retrieval.query import Query
from small_memories import commit, episode, make_memory
from test_cache import NEEDLES, PATTERNS, TEXTS, answer, derived, scanned


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Layout, Locator]]:
    layout = make_memory(tmp_path_factory.mktemp("texts") / "memory")
    for number in range(1, 251):
        words = [TEXTS[(number * step + number // 7) % len(TEXTS)] for step in (1, 3)]
        rare = f"{number * 7919 % 9973:x}-{math.sqrt(number)} word{number}"
        state = {words[0]: rare} if number % 3 else {"hp": number}
        commit(layout, episode(number, summary=words[1], state=state, pos=[number / 3, 64, number % 17]))
    assert bring_up_to_date(layout.root)
    with derived(layout) as locator:
        yield layout, locator


@pytest.mark.parametrize("needle", NEEDLES)
def test_a_substring_is_found_as_by_a_scan(needle: str, texts: tuple[Layout, Locator]) -> None:
    layout, locator = texts
    for query in (Query(grep=needle), Query(grep=needle, last=3), Query(grep=needle, limit=2, after="ep_000150")):
        assert answer(locator, query) == scanned(layout, query)


@pytest.mark.parametrize("pattern", [*PATTERNS, r"word1\d\d", r"(?:word|moved)39\d?", "19.{0,3}-1", "[a-z]+(word17)+"])
def test_an_expression_is_found_as_by_a_scan(pattern: str, texts: tuple[Layout, Locator]) -> None:
    layout, locator = texts
    for query in (Query(regex=pattern), Query(regex=pattern, last=3)):
        assert answer(locator, query) == scanned(layout, query)


@pytest.mark.parametrize("sought", [*NEEDLES, "word17 pickaxe", "diamonds", "设备 清单", "status error -- ( *"])
def test_words_rank_as_by_a_scan(sought: str, texts: tuple[Layout, Locator]) -> None:
    layout, locator = texts
    for query in (Query(match=sought), Query(match=sought, limit=5), Query(match=sought, last=9, after="ep_000390")):
        assert answer(locator, query) == scanned(layout, query)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(number=st.integers(1, 250), begin=st.integers(0, 900), length=st.integers(1, 90), upper=st.booleans())
def test_every_part_of_a_text_finds_it(
    number: int, begin: int, length: int, upper: bool, texts: tuple[Layout, Locator]
) -> None:
    layout, locator = texts
    record = Path(layout.episode(episode_id(number)), "episode.json").read_text().split('\n"evidence"')[0]
    needle = record[begin % len(record) :][:length]
    if not needle.strip():
        return
    query = Query(grep=needle.upper() if upper else needle, limit=None)
    found = [row.id for row in locator.find(query).rows]
    assert episode_id(number) in found
    assert found == scanned(layout, query)[0]


@pytest.mark.parametrize(
    "needle", ["}\n{", '}\n{\n"id"', 'null\n{\n"id": "ep_000017", '.replace(", ", ",\n"), "waited\nfor"]
)
def test_a_text_over_the_end_of_a_line_is_found(needle: str, texts: tuple[Layout, Locator]) -> None:
    layout, locator = texts
    assert answer(locator, Query(grep=needle)) == scanned(layout, Query(grep=needle))
