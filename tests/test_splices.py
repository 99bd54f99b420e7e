"""Splices: there and back, as a row of the history, and taking one back after others came, by whole lines."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.memory.document_changes import Change
from scrubjay.memory.splices import Splice, splice_between, without

LINES = st.lists(st.sampled_from([b"a", b"b", b"", b"\xc3\xa9", b"- x"]), max_size=5)


def taken_back(before: bytes, after: bytes, present: bytes) -> bytes | None:
    return without(present, splice_between(before, after), after)


@pytest.mark.parametrize(
    ("before", "after", "present", "left"),
    [
        (b"a\n", b"a\nb\n", b"a\nb\nc\n", b"a\nc\n"),
        (b"a\n", b"a\nb\n", b"0\na\nb\n", b"0\na\n"),
        (b"", b"# N\n\n- a\n", b"# N\n\n- a\n- b\n", b"- b\n"),
        (b"a 3\nb\n", b"a 4\nb\n", b"a 4\nb\nc 4\n", b"a 3\nb\nc 4\n"),
        (b"a\nb\nc\n", b"a\nc\n", b"a\nc\nd\n", b"a\nb\nc\nd\n"),
        (b"a", b"a\nb", b"a\nb\nc", b"a\nc"),
        (b"a\n", b"a\nb\n", b"a\nbb\n", None),  # the line was changed
        (b"a\n", b"a\nb\n", b"b\na\nb\n", None),  # which of them?
        (b"a\n", b"a\nb\n", b"a\n", None),
        (b"a\n", b"", b"a\n", None),
    ],
)
def test_lines_give_way_to_those_before(before: bytes, after: bytes, present: bytes, left: bytes | None) -> None:
    assert taken_back(before, after, present) == left


@given(LINES, LINES, LINES, LINES)
def test_what_stands_around_it_stays(
    above: list[bytes], old: list[bytes], new: list[bytes], below: list[bytes]
) -> None:
    def text(*parts: list[bytes]) -> bytes:
        return b"".join(line + b"\n" for part in parts for line in part)

    marked = [*new, b"the change"]
    before, after = text([b"first"], old, [b"last"]), text([b"first"], marked, [b"last"])
    present = text(above, [b"first"], marked, [b"last"], below)
    found = taken_back(before, after, present)
    assert found == text(above, [b"first"], old, [b"last"], below)


@given(st.text(alphabet="ab\né设👩", max_size=30), st.text(alphabet="ab\né设👩", max_size=30))
def test_a_splice_leads_there_and_back_on_whole_characters(before: str, after: str) -> None:
    splice = splice_between(before.encode(), after.encode())
    assert splice.apply(before.encode()).decode() == after
    assert splice.inverse.apply(after.encode()).decode() == before
    splice.removed.decode(), splice.inserted.decode()
    common = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False)))
    assert splice.at == len(before[:common].encode())


@given(st.binary(max_size=20), st.binary(max_size=20))
def test_a_splice_of_any_bytes_leads_there_and_back(before: bytes, after: bytes) -> None:
    splice = splice_between(before, after)
    assert splice.apply(before) == after
    assert splice.inverse.apply(after) == before


@given(
    st.builds(
        Change,
        st.text(),
        st.text(),
        st.builds(Splice, st.integers(0), st.binary(), st.binary()),
        st.none() | st.text(),
        st.none() | st.text(),
        st.none() | st.integers(),
        st.none() | st.integers(),
        st.text(),
        st.text(),
        to=st.none() | st.text(),
        undoes=st.none() | st.integers(),
        part=st.none() | st.tuples(st.integers(), st.integers()),
        extra=st.dictionaries(st.text().map("x-{}".format), st.integers()),
    )
)
def test_a_row_reads_back_as_it_was(change: Change) -> None:
    assert Change.from_json(json.loads(json.dumps(change.to_json())), 0) == change
