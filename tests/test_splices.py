"""Splices: taking one back after others came, by whole lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.memory.splices import splice_between, without

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
