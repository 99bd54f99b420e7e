"""The parts behind the pages, against what they stand for: the command line, the index, the grid, the documents."""

from __future__ import annotations

import argparse
import json
import re
import shlex
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrubjay import Memory, Query
from scrubjay.errors import InvalidInput
from scrubjay.memory.document_changes import Change, digest_of
from scrubjay.memory.grid import Grid
from scrubjay.memory.splices import Splice, splice_between
from scrubjay.retrieval.maps import chart
from scrubjay.surfaces.cli import episodes as command
from scrubjay.surfaces.web.changes import told
from scrubjay.surfaces.web.command_line import command_line
from scrubjay.surfaces.web.differences import compare_states
from scrubjay.surfaces.web.form import FIELDS, asked
from scrubjay.surfaces.web.markdown import cite, rendered
from scrubjay.surfaces.web.outline import DIED, MILESTONE, Outline
from scrubjay.surfaces.web.reader import Reader
from scrubjay.surfaces.web.strip import strip_of
from scrubjay.surfaces.web.terrain import Terrain
from small_memories import commit, episode, make_memory
from web_memories import HOSTILE, hostile_memory

# --- the command line

numbers = st.one_of(st.integers(-(10**6), 10**6), st.floats(-1e12, 1e12, allow_nan=False).map(lambda x: round(x, 6)))
pairs = st.tuples(numbers, numbers)
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=20).filter(
    lambda text: text.strip() != ""
)
queries = st.builds(
    Query,
    steps=st.none() | st.tuples(st.integers(-99, 10**9), st.integers(0, 10**9)),
    near=st.none() | pairs,
    through=st.none() | pairs,
    radius=st.none() | numbers.map(abs),
    below=st.none() | numbers,
    above=st.none() | numbers,
    place=st.none() | texts,
    tag=st.none() | st.lists(texts, min_size=1, max_size=3).map(tuple),
    action=st.none() | texts,
    grep=st.none() | texts,
    match=st.none() | texts,
    regex=st.none() | texts.map(re.escape),
    world=st.none() | texts,
    life=st.none() | st.just("all") | st.integers(1, 10**6),
    last=st.none() | st.integers(0, 10**6),
    after=st.none() | st.just("ep_000043"),
    limit=st.just(200),
)


@given(queries, texts)
@settings(max_examples=150)
def test_the_command_shown_asks_the_same(query: Query, folder: str) -> None:
    folder = f"./{folder}"
    words = shlex.split(command_line(folder, query))
    assert words[:3] == ["scrubjay", "episodes", folder]
    parser = argparse.ArgumentParser()
    command.configure(parser)
    arguments = parser.parse_args(words[2:])
    assert arguments.memory == folder
    for name in ("steps", "near", "through"):
        pair = getattr(arguments, name)
        assert (None if pair is None else tuple(pair)) == getattr(query, name)
    names = ("radius", "below", "above", "place", "action", "grep", "match", "regex", "world", "life", "last", "after")
    for name in names:
        assert getattr(arguments, name) == getattr(query, name), name
    assert tuple(arguments.tag or ()) == query.tags


@given(st.dictionaries(st.sampled_from(FIELDS), st.text(max_size=12)))
@settings(max_examples=150)
def test_whatever_is_typed_is_a_query_or_an_error_of_ours(values: dict[str, str]) -> None:
    try:
        form = asked(values, 48)
    except InvalidInput:
        return
    assert form.query.limit == 48


def test_the_form_has_every_condition_of_the_command() -> None:
    parser = argparse.ArgumentParser()
    command.configure(parser)
    looks = {"memory", "help", "sheet", "then_now", "now", "out", "q", "limit", "json"}
    parts = {"steps": "steps_from", "near": "near_1", "through": "through_1", "previous": "life"}
    conditions = {action.dest for action in parser._actions} - looks
    assert {parts.get(name, name) for name in conditions} <= set(FIELDS)


def test_a_form_asks_what_its_fields_say() -> None:
    form = asked({"tag": "milestone, note", "near_1": "1.5", "near_2": "-2", "life": "previous", "last": "3"}, 10)
    assert form.query == Query(tag=("milestone", "note"), near=(1.5, -2.0), previous=True, last=3, limit=10)
    assert asked({}, 10).query == Query(life="all", limit=10)
    assert asked({"like": " ep_000043#7 "}, 10).like == "ep_000043#7"


# --- the outline


def test_an_outline_says_what_the_index_says(tmp_path: Path) -> None:
    layout = make_memory(tmp_path)
    outline = Outline(layout)
    outline.refresh()
    assert len(outline) == 0
    for number in range(40):
        tags = ["milestone"] if number % 10 == 3 else ["died"] if number == 39 else []
        commit(layout, episode(number, life=1 + number % 2, first_step=number * 5, last_step=number * 5 + 5, tags=tags))
        outline.refresh()
    assert len(outline) == 40
    lives = outline.lives()
    assert {life: len(one.places) for life, one in lives.items()} == {1: 20, 2: 20}
    assert [one.number for one in outline.marked(2)] == [3, 13, 23, 33, 39]
    assert [one.marks for one in outline.marked(2)] == [MILESTONE] * 4 + [DIED]
    before, after = outline.neighbours(7)
    assert (before and before.number, after and after.number) == (5, 9)
    assert outline.neighbours(0)[0] is None
    point = outline.at_step(2, 36)
    assert point is not None
    assert point.number == 7
    assert sum(outline.activity(1, 7)) == 20
    assert [one.number for one in outline.newest(1, 3)] == [38, 36, 34]


def test_an_outline_notices_another_index_in_the_place_of_the_first(tmp_path: Path) -> None:
    layout = make_memory(tmp_path)
    outline = Outline(layout)
    lines = [commit(layout, episode(number)) for number in range(3)]
    outline.refresh()
    Path(layout.index).write_bytes(lines[0])
    outline.refresh()
    assert len(outline) == 1
    assert outline.point(2) is None


def test_the_later_of_two_rows_of_an_episode_holds(tmp_path: Path) -> None:
    layout = make_memory(tmp_path)
    lines = [commit(layout, episode(n, first_step=n, last_step=n + 1, tags=["died"] if n == 2 else [])) for n in (1, 2)]
    later = [json.loads(line) for line in lines]
    later[0] |= {"tags": ["milestone"], "last_step": 9}
    later[1]["tags"] = []
    outline = Outline(layout)
    outline.refresh()
    with open(layout.index, "a", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in later)
    outline.refresh()
    assert len(outline) == 2
    assert [(one.number, one.last_step, one.marks) for one in outline.marked(1)] == [(1, 9, MILESTONE)]
    assert outline.lives()[1].last_step == 9


def test_broken_lines_cost_themselves_alone(tmp_path: Path) -> None:
    layout = make_memory(tmp_path)
    commit(layout, episode(1))
    with open(layout.index, "ab") as file:
        file.write(
            b'{"id": 7}\nnonsense\n{"id": "ep_000002", "path": "x", "tags": [1, "died"], "first_step": "no"}\n{"id"'
        )
    outline = Outline(layout)
    outline.refresh()
    assert [number for number in range(9) if outline.point(number)] == [1, 2]


def test_marks_that_lie_close_together_are_one(tmp_path: Path) -> None:
    layout = make_memory(tmp_path)
    for number in range(2000):
        commit(layout, episode(number, first_step=number, last_step=number + 1, tags=["milestone"]))
    reader = Reader(str(tmp_path))
    reader.outline.refresh()
    lane = strip_of(reader, reader.lives()[0], lambda point: point.id).lanes[0]
    assert lane.total == 2000
    assert sum(mark.count for mark in lane.marks) == 2000
    assert len(lane.marks) < 130
    assert all("life=1" in mark.href and "tag=milestone" in mark.href for mark in lane.marks if mark.count > 1)
    reader.close()


# --- the map


def test_terrain_shows_what_the_map_command_shows(tmp_path: Path) -> None:
    root = hostile_memory(tmp_path / "memory")
    with Memory.open(root, read_only=True) as memory:
        grid, terrain = Grid(memory.layout), Terrain(memory.layout)
        drawn = chart(grid)
        (land,) = terrain.lands().values()
        assert drawn is not None
        shown = {ground: cell.kind for ground, cell in land.layers[None].items()}
        marks = {ground: mark.kind for ground, mark in drawn.marks.items() if mark.kind not in ("start", "newest")}
        assert {ground: shown[ground] for ground in marks} == marks
        assert set(shown) == set(drawn.marks)
        assert sum(land.kinds.values()) == len(grid.rows())
        assert land.heights() == [64]


# --- states


states = st.dictionaries(
    st.text(max_size=4),
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=8,
    ),
    max_size=5,
)


@given(states, states)
@settings(max_examples=150)
def test_what_changed_and_what_did_not_is_everything(before: dict[str, Any], after: dict[str, Any]) -> None:
    found = compare_states(before, after)
    assert not compare_states(before, before).changed
    if before != after:
        assert found.changed
    paths = [one.path for one in (*found.changed, *found.same)]
    assert len(paths) == len(set(paths))


def test_a_number_shows_by_how_much_it_changed() -> None:
    found = compare_states({"health": 9, "inventory": {"wood": 1}}, {"health": 7, "inventory": {"wood": 4, "coal": 1}})
    deltas = {one.path: one.delta for one in found.changed}
    assert deltas == {"health": "−2", "inventory.wood": "+3", "inventory.coal": "+1"}


# --- documents


class Tags(HTMLParser):
    """The elements of a piece of HTML and the addresses in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.addresses: list[str] = []
        self.attributes: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.addresses += [value or "" for name, value in attrs if name in ("href", "src", "data-frame")]


PIECES = st.sampled_from(
    [
        HOSTILE, "[a](javascript:alert(1))", "![x](https://e.example/x.png)", "<b onclick=x>", "[ep_000043#7]",
        "\n\n", "[ep_000001, ep_000002]", "[x]: javascript:alert(1)\n\n[x]", "`<i>`", "# h\n", "- l\n",
        "| a | b |\n|:-:|--:|\n", "<https://e.example>", "[b](<java\nscript:x>)", "&#106;avascript:x",
        "[c](//e.example)", "[d](\\\\e.example)", "```\n", "[e](/episodes/x)", "[f](../../etc)", "[[ep_000001]](x)",
        "[ep_000001](javascript:x)", "\u202e", "<!--", "-->", "***",
    ]
)  # fmt: skip


@given(st.lists(PIECES | st.text(max_size=8), max_size=12).map("".join))
@settings(max_examples=300)
def test_no_document_makes_more_than_text_and_links_inside(text: str) -> None:
    found = Tags(rendered(text, "working/0001.md", {1, 2}))
    assert not found.tags & {"script", "img", "iframe", "form", "input", "style", "svg", "object", "i", "b"}
    assert found.attributes <= {"class", "id", "href", "data-frame", "title", "start"}
    assert all(re.match(r"/(episodes|documents|thumbnails)/[^/\\]", address) for address in found.addresses)
    line = Tags(cite(text))
    assert line.tags <= {"a", "span"}
    assert all(address.startswith(("/episodes/ep_", "/thumbnails/ep_")) for address in line.addresses)


def test_lines_keep_their_numbers_below_a_head() -> None:
    html = rendered("---\nname: x\n---\n\n- one\n- two\n", "a.md", {6})
    assert re.search(r'<li id="line-6" class="unsupported"[^>]*>two', html)
    assert '<pre class="front">---\nname: x\n---</pre>' in html


@given(st.lists(st.text("ab\n", max_size=12), min_size=1, max_size=6))
@settings(max_examples=150)
def test_changes_told_backwards_are_the_changes_made(contents: list[str]) -> None:
    changes: list[Change] = []
    before = b""
    for number, content in enumerate(text.encode() for text in contents):
        splice = splice_between(before, content)
        first = None if number == 0 else digest_of(before)
        changes.append(Change("write", "a.md", splice, first, digest_of(content), 1, 1, "agent", ""))
        before = content
    for view, old, new in zip(told(changes, before), [*contents[-2::-1], ""], contents[::-1], strict=True):
        came = [line.text for line in view.lines if line.kind == "added"]
        went = [line.text for line in view.lines if line.kind == "removed"]
        assert set(came) <= set(new.splitlines())
        assert set(went) <= set(old.splitlines())
        assert len(new.splitlines()) - len(old.splitlines()) == len(came) - len(went)


@pytest.mark.parametrize("present", [None, b"another text"])
def test_a_change_whose_neighbours_are_lost_is_told_alone(present: bytes | None) -> None:
    change = Change("write", "a.md", Splice(0, b"old\n", b"new\n"), "x" * 64, "y" * 64, 1, 1, "agent", "")
    (view,) = told([change], present)
    assert [(line.kind, line.text) for line in view.lines] == [("removed", "old"), ("added", "new")]
