"""Search texts as agents write them: none is a syntax error, and each finds what a person would expect."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from scrubjay.errors import InvalidInput
from scrubjay.memory.layout import Layout
from scrubjay.retrieval.build import bring_up_to_date
from scrubjay.retrieval.locate import Locator
from scrubjay.retrieval.query import Query
from scrubjay.surfaces.cli import main
from small_memories import commit, episode, make_memory

STATES = {
    1: "POL-358", 2: "don't", 3: "a/b", 4: "status: done", 5: 'timeout "error" in line 3',
    6: "retry OR give up", 7: "5 * 3", 8: "x=-3037", 9: "设备清单", 10: "重跑gen-itgc后", 11: "café", 12: "cafe\u0301",
    13: "C:\\temp\\new", 14: "two\nlines",
}  # fmt: skip
SOUGHT = {
    "POL-358": [1], "pol-358": [1], "L-35": [1], "don't": [2], "DON'T": [2], "a/b": [3], "status: done": [4],
    'timeout "error': [5], "retry OR": [6], "*": [7], "x=-3037": [8], "-303": [8], "设备": [9], "清单": [9],
    "itgc": [10], "重跑gen": [10], "é": [11, 12], "e\u0301": [11, 12], "CAFÉ": [11, 12],
    "temp\\new": [13], "two\nlines": [14], "nothing like it": [],
}  # fmt: skip


@pytest.fixture(scope="module")
def layout(tmp_path_factory: pytest.TempPathFactory) -> Layout:
    made = make_memory(tmp_path_factory.mktemp("grep") / "memory")
    for number in range(1, 131):
        # Each text stands in the state alone: neither the row nor the summary says it.
        commit(made, episode(number, summary="waited", state={"seen": STATES.get(number, f"word{number}")}))
    bring_up_to_date(made.root)
    return made


@pytest.fixture(scope="module", params=["scanned", "derived"])
def locator(request: pytest.FixtureRequest, layout: Layout) -> Iterator[Locator]:
    with Locator(layout, small=0 if request.param == "derived" else 1 << 40, background=False) as opened:
        yield opened


def found(locator: Locator, query: Query) -> list[int]:
    return [row.number for row in locator.find(query).rows]


@pytest.mark.parametrize("text", SOUGHT)
def test_a_literal_text_is_found(text: str, locator: Locator) -> None:
    assert found(locator, Query(grep=text)) == SOUGHT[text]


@pytest.mark.parametrize("text", SOUGHT)
def test_no_text_is_an_error_to_rank_by(text: str, locator: Locator) -> None:
    matches = found(locator, Query(match=text))
    if " " in text or text in ("POL-358", "don't", "a/b"):  # whole words, not parts
        assert set(SOUGHT[text]) <= set(matches)


def test_words_are_found_in_any_form(locator: Locator) -> None:
    assert found(locator, Query(match="retries")) == [6]
    assert found(locator, Query(match="设备")) == [9]
    assert found(locator, Query(match="cafe")) == [12, 11]


def test_the_best_comes_first(locator: Locator) -> None:
    assert found(locator, Query(match="timeout in line", limit=1)) == [5]


@pytest.mark.parametrize(
    ("pattern", "numbers"), [(r"pol-\d+", [1]), (r"\bx=-?\d{4}\b", [8]), ("设备.单", [9]), ("caf.\\W", [11, 12])]
)
def test_an_expression_is_found(pattern: str, numbers: list[int], locator: Locator) -> None:
    assert found(locator, Query(regex=pattern)) == numbers


def test_a_page_goes_on_where_the_last_one_ended(locator: Locator) -> None:
    first = locator.find(Query(grep="WAITED", limit=100))
    assert (len(first), first.more, first.total) == (100, "ep_000100", 130)
    second = locator.find(Query(grep="WAITED", limit=100, after=first.more))
    assert ([row.number for row in second], second.more) == (list(range(101, 131)), None)


def test_ranked_pages_go_on_too(locator: Locator) -> None:
    whole = [row.id for row in locator.find(Query(match="waited")).rows]
    first = locator.find(Query(match="waited", limit=50))
    second = locator.find(Query(match="waited", limit=500, after=first.more))
    assert [row.id for row in (*first, *second)] == whole
    assert len(whole) == 130


@pytest.mark.parametrize("text", ["", "   "])
@pytest.mark.parametrize("condition", ["grep", "regex", "match"])
def test_an_empty_text_is_told(text: str, condition: str) -> None:
    with pytest.raises(InvalidInput, match=f"{condition}: some text to look for was expected"):
        Query(**{condition: text})  # type: ignore[arg-type]


def test_a_hash_is_no_text(locator: Locator) -> None:
    row = locator.find(Query(limit=1)).rows[0]
    assert row.digest is not None
    assert found(locator, Query(grep=row.digest[:12])) == []


def test_the_command_says_what_is_wrong(layout: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["episodes", layout.root, "--grep", " "]) == 2
    assert "grep: some text to look for was expected" in capsys.readouterr().err


def test_a_published_folder_is_searched_in_its_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = '{"id": "ep_000003", "path": "episodes/ep_000003", "kind": "episode", "summary": "waited"}\n'
    (tmp_path / "index.jsonl").write_text(row)
    state = tmp_path / "episodes" / "ep_000003" / "state"
    state.mkdir(parents=True)
    (state / "state.json").write_text('{"inventory": {"milk_bucket": 1}}')
    (state.parent / "outcome.json").write_text('{"died": false}')
    assert main(["episodes", str(tmp_path), "--grep", "MILK_"]) == 0
    assert capsys.readouterr().out.startswith("ep_000003  steps ?  tags=-  action=-  waited  -> episodes/ep_000003/")
