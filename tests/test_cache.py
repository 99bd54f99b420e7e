"""The derived index answers as the scan does, row for row, whatever happens to its file."""

from __future__ import annotations

import fcntl
import os
import shutil
import sqlite3
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrubjay.memory.layout import Layout, episode_id
from scrubjay.memory.record import row_of
from scrubjay.memory.records import Row
from scrubjay.retrieval.build import bring_up_to_date
from scrubjay.retrieval.cache_values import Values
from scrubjay.retrieval.cues import SEARCHED_KINDS, Line, Place, coordinate
from scrubjay.retrieval.locate import Locator
from scrubjay.retrieval.query import Query
from small_memories import commit, episode, make_memory

WORLDS = (None, "w", "v")
TAGS = ("moved", "hazard", "note", "died")
ACTIONS = (None, "go_to", "use_at", "dig")
TEXTS = (
    "diamond_pickaxe", "POL-358", "don't", "a/b", "status: done", 'timeout "error', "retry OR", "x=-3037", "设备清单",
    "重跑gen-itgc后", "café", "cafe\u0301", "İstanbul ıI", "Straße", "a\\b\n\tc", "nul\0l", "f00dbabe" * 9, "3.14159",
    "\u0e01\u0e02",
)  # fmt: skip
NEEDLES = (
    *TEXTS, "pick", "358", "设备", "itgc", "é", "*", "-3037", "dbabef", "14", "e", "OR", "ss", "start", '"pos": [1',
    ":", "ep_00000", "a/", "/b", "b\n", "STRASSE", "i", "\u0e02", "zq", "moved", "f0",
)  # fmt: skip
PATTERNS = (
    r"pol-\d+",
    r"x=-?\d{4}",
    "设备.单",
    r"(dia|emer)\w+_pick",
    r"caf.",
    r"ep_0+3\b",
    r"^\{",
    "stra(ss|ß)e",
    r"\bdon.t",
    "i+",
)

finite = st.floats(-20, 20).map(lambda v: round(v, 2))
coordinates = st.one_of(st.none(), finite, st.sampled_from([1e300, -64, 320, 0.5]))
steps = st.one_of(st.none(), st.integers(0, 60))
times = st.sampled_from([None, "2026-11-30T12:00:00+00:00", "2026-11-30T13:30:00+01:00", "2026-12-01", "noon"])
cells = st.lists(st.tuples(st.integers(-4, 4), st.integers(0, 2), st.integers(-4, 4)), max_size=4)
hashes = st.lists(st.sampled_from(["aa", "bb", "cc"]), max_size=2)

rows = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(["episode"] * 8 + ["initial", "dream", "removed"]),
        "life": st.integers(1, 4),
        "world": st.sampled_from(WORLDS),
        "place": st.sampled_from([None, "hall", "cellar"]),
        "action_kind": st.sampled_from(ACTIONS),
        "tags": st.lists(st.sampled_from(TAGS), max_size=3),
        "note": st.one_of(st.none(), st.sampled_from(TEXTS)),
        "summary": st.sampled_from(TEXTS),
        "state": st.dictionaries(st.sampled_from(TEXTS), st.one_of(st.sampled_from(TEXTS), finite), max_size=3),
        "first_step": steps,
        "last_step": steps,
        "started": times,
        "ended": times,
        "pos": st.one_of(st.none(), st.lists(coordinates, min_size=3, max_size=3)),
        "cells": cells,
        "screens": hashes,
    }
)
points = st.tuples(finite, finite)
conditions: dict[str, st.SearchStrategy[Any]] = {
    "steps": st.tuples(st.integers(-5, 70), st.integers(-5, 70)),
    "near": points,
    "radius": st.sampled_from([0.0, 1.0, 6.0, 30.0, 1e200]),
    "through": points,
    "below": finite,
    "above": finite,
    "place": st.sampled_from(["hall", "nowhere"]),
    "since": times.filter(lambda t: t not in (None, "noon")),
    "until": times.filter(lambda t: t not in (None, "noon")),
    "tag": st.one_of(st.sampled_from(TAGS), st.tuples(st.sampled_from(TAGS), st.sampled_from(TAGS)), st.just("never")),
    "action": st.sampled_from(["go_to", "dig", "never"]),
    "grep": st.sampled_from(NEEDLES),
    "regex": st.sampled_from(PATTERNS),
    "match": st.sampled_from(NEEDLES),
    "same_screen": st.sampled_from(["aa", "bb", "dd"]),
    "life": st.sampled_from([1, 2, 3, 9, "all", "all", "all"]),
    "world": st.sampled_from(["w", "v", "u"]),
    "last": st.integers(0, 8),
    "limit": st.integers(1, 8),
    "after": st.integers(0, 40).map(episode_id),
}


@st.composite
def queries(draw: st.DrawFn) -> Query:
    names = draw(st.lists(st.sampled_from(sorted(conditions)), max_size=4, unique=True))
    values = {name: draw(conditions[name]) for name in names}
    if "life" not in values:
        values["previous"] = draw(st.booleans())
    return Query(**values)


def answer(locator: Locator, query: Query) -> tuple[list[str], list[str], str | None, int]:
    found = locator.find(query)
    return [row.id for row in found.rows], list(found.lines), found.more, found.total


def scanned(layout: Layout, query: Query) -> tuple[list[str], list[str], str | None, int]:
    with Locator(layout, small=1 << 40) as locator:
        return answer(locator, query)


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return make_memory(tmp_path / "memory")


def derived(layout: Layout) -> Locator:
    return Locator(layout, small=0, background=False)


@settings(max_examples=40)
@given(
    made=st.lists(rows, min_size=1, max_size=30),
    order=st.randoms(use_true_random=False),
    asked=st.lists(queries(), min_size=1, max_size=12),
    indexed=st.integers(0, 30),
)
def test_the_derived_index_answers_as_the_scan(
    made: list[dict[str, Any]], order: Any, asked: list[Query], indexed: int
) -> None:
    folder = tempfile.mkdtemp()
    try:
        layout = make_memory(Path(folder) / "memory")
        numbers = list(range(1, len(made) + 1))
        order.shuffle(numbers)
        locator = derived(layout)
        for count, (number, values) in enumerate(zip(numbers, made, strict=True)):
            if count == indexed:
                bring_up_to_date(layout.root)
            commit(layout, episode(number, **values))
        with locator:
            for query in asked:
                assert answer(locator, query) == scanned(layout, query), query
            bring_up_to_date(layout.root)
            for query in asked:
                assert answer(locator, query) == scanned(layout, query), query
            assert locator.is_derived
    finally:
        shutil.rmtree(folder)


# --- what can befall its file


def fill(layout: Layout, count: int, first: int = 1) -> None:
    for number in range(first, first + count):
        tags = ["hazard"] if number % 5 == 0 else ["moved"]
        commit(layout, episode(number, tags=tags, summary=f"step {number}", pos=[number % 9, 64, number % 7]))


ASKED = (
    Query(last=3), Query(tag="hazard"), Query(near=(3, 3), radius=2), Query(grep="step 1"), Query(match="step 7"),
    Query(steps=(3, 9)), Query(through=(0, 0), limit=4),
)  # fmt: skip


def agree(locator: Locator, layout: Layout) -> None:
    for query in ASKED:
        assert answer(locator, query) == scanned(layout, query), query


def files(layout: Layout) -> list[Path]:
    return sorted(Path(layout.cache).glob("index-*.sqlite"))


def test_a_cache_deleted_between_any_two_queries_changes_nothing(layout: Layout) -> None:
    fill(layout, 40)
    bring_up_to_date(layout.root)
    with derived(layout) as locator:
        for query in ASKED:
            assert answer(locator, query) == scanned(layout, query)
            shutil.rmtree(layout.cache, ignore_errors=True)
            assert answer(locator, query) == scanned(layout, query)
            bring_up_to_date(layout.root)


def test_a_living_reader_sees_what_others_append(layout: Layout) -> None:
    fill(layout, 30)
    bring_up_to_date(layout.root)
    with derived(layout) as locator:
        for first in (31, 32, 40, 200, 2000):
            fill(layout, 1 if first < 200 else 150, first)
            agree(locator, layout)
            assert locator.is_derived


def test_an_older_index_restored_under_a_living_reader_is_noticed(layout: Layout, tmp_path: Path) -> None:
    fill(layout, 20)
    older = Path(layout.index).read_bytes()
    fill(layout, 20, 21)
    bring_up_to_date(layout.root)
    with derived(layout) as locator:
        agree(locator, layout)
        Path(layout.index).write_bytes(older)
        agree(locator, layout)
        for number in range(21, 60):
            commit(layout, episode(number, tags=["hazard"], summary=f"another step {number}"))
        agree(locator, layout)
    with derived(layout) as locator:
        agree(locator, layout)


def test_the_cache_of_another_memory_is_not_believed(layout: Layout, tmp_path: Path) -> None:
    other = make_memory(tmp_path / "other")
    fill(other, 25, 100)
    fill(layout, 25)
    bring_up_to_date(other.root)
    shutil.copytree(other.cache, layout.cache)
    with derived(layout) as locator:
        agree(locator, layout)
        assert not locator.is_derived


@pytest.mark.parametrize("damage", ["cut", "noise", "text", "empty", "folder"])
def test_a_broken_cache_is_an_answer_from_a_scan(damage: str, layout: Layout) -> None:
    fill(layout, 60)
    bring_up_to_date(layout.root)
    (path,) = files(layout)
    data = path.read_bytes()
    if damage == "cut":
        path.write_bytes(data[: len(data) // 2])
    elif damage == "noise":
        path.write_bytes(data[:4096] + bytes(b ^ 0x5A for b in data[4096:]))
    elif damage == "text":
        path.write_bytes(b"no database at all\n" * 500)
    elif damage == "empty":
        path.write_bytes(b"")
    else:
        path.unlink()
        path.mkdir()
    with derived(layout) as locator:
        agree(locator, layout)


def test_a_locked_cache_delays_nobody(layout: Layout) -> None:
    fill(layout, 20)
    bring_up_to_date(layout.root)
    fill(layout, 200, 21)
    blocker = sqlite3.connect(files(layout)[0], isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    with derived(layout) as locator:
        for query in ASKED:
            if query.match is None:
                assert answer(locator, query) == scanned(layout, query)
    blocker.close()


def test_a_build_goes_on_beside_the_queries(layout: Layout) -> None:
    fill(layout, 50)
    with Locator(layout, small=0) as locator:
        agree(locator, layout)
        waited = time.monotonic() + 60
        while not files(layout) and time.monotonic() < waited:
            time.sleep(0.05)
        agree(locator, layout)
        assert locator.is_derived


def test_two_readers_may_add_the_same_rows(layout: Layout) -> None:
    fill(layout, 20)
    bring_up_to_date(layout.root)
    with derived(layout) as one, derived(layout) as other:
        agree(one, layout)
        agree(other, layout)
        fill(layout, 100, 21)
        agree(one, layout)
        agree(other, layout)


def test_one_builds_at_a_time(layout: Layout) -> None:
    fill(layout, 3)
    os.makedirs(layout.cache)
    with open(Path(layout.cache) / "index.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert not bring_up_to_date(layout.root)
    assert bring_up_to_date(layout.root)


def test_a_row_that_is_replaced_leaves_the_cache(layout: Layout) -> None:
    fill(layout, 30)
    bring_up_to_date(layout.root)
    with derived(layout) as locator:
        record = episode(7, kind="removed", summary="taken out by a person")
        shutil.rmtree(layout.episode("ep_000007"))
        commit(layout, record)
        agree(locator, layout)
        bring_up_to_date(layout.root)
        agree(locator, layout)
        assert "ep_000007" not in [row.id for row in locator.find(Query(grep="step 7")).rows]
    with sqlite3.connect(files(layout)[-1]) as database:
        assert database.execute("SELECT searched FROM rows WHERE number = 7").fetchall() == [(0,)]
    database.close()


def test_a_memory_that_can_not_be_written_uses_the_users_cache(
    layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    os.unlink(layout.manifest)  # format 0: never written to
    fill(layout, 30)
    bring_up_to_date(layout.root)
    assert not os.path.exists(layout.cache)
    with derived(layout) as locator:
        agree(locator, layout)
        assert locator.is_derived


def test_lines_that_are_no_rows_are_passed_over(layout: Layout) -> None:
    fill(layout, 10)
    with open(layout.index, "ab") as file:
        file.write(b'not json\n{"id": "ep_000011"}\n{"id": "ep_0000012", "path": "p"}\n\xff\xfe\n[]\n')
        file.write(b'{"id": "ep_000020", "path": "p", "x": 1e999, "z": 1, "life": 99999999999999999999999}\n')
    fill(layout, 10, 30)
    with open(layout.index, "ab") as file:
        file.write(b'{"id": "ep_000099", "path": "torn')
    bring_up_to_date(layout.root)
    with derived(layout) as locator:
        agree(locator, layout)
        assert locator.is_derived
        assert locator.find(Query()).total == 20


@settings(max_examples=60)
@given(values=rows, left_out=st.sets(st.sampled_from(["kind", "life", "world", "place", "action_kind", "tags", "x"])))
def test_what_a_line_leaves_out_counts_in_the_tables_as_in_its_row(values: dict[str, Any], left_out: set[str]) -> None:
    whole = row_of(episode(1, **values), "").to_json()
    value = {key: part for key, part in whole.items() if key not in left_out}
    row, numbers = Row.from_json(value), {"": 0}
    made = Values(lambda name: numbers.setdefault(name, len(numbers)))
    assert made.add(Line(Place(1, 0, 1), b"", value)) == (row.kind in SEARCHED_KINDS)
    named = [None if name is None else numbers[name] for name in (row.world, row.action_kind, row.place)]
    assert list(made.rows[0][3:8]) == [row.kind in SEARCHED_KINDS, row.life, *named]
    assert made.rows[0][10:13] == tuple(map(coordinate, (row.x, row.y, row.z)))
    assert {tag for tag, _number in made.tags} == {numbers[tag] for tag in row.tags if row.kind in SEARCHED_KINDS}
