"""An index that somebody edits in place, with as many bytes, under a derived index that was made of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from scrubjay.memory.layout import Layout
from scrubjay.retrieval.build import bring_up_to_date
from scrubjay.retrieval.query import Query
from small_memories import commit, episode, make_memory
from test_cache import derived


@pytest.fixture
def edited(tmp_path: Path) -> Layout:
    """300 rows, taken in; then the tag of one in the middle is another one of the same length."""
    layout = make_memory(tmp_path / "memory")
    for number in range(1, 301):
        commit(layout, episode(number, tags=["hazard" if number == 140 else "moved."]))
    assert bring_up_to_date(layout.root)
    path = Path(layout.index)
    before = path.stat()
    data = path.read_bytes()
    with open(path, "r+b") as file:
        file.seek(data.index(b"hazard"))
        file.write(b"opened")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1_000_000_000))
    assert path.stat().st_size == before.st_size
    return layout


def test_an_edit_in_the_middle_is_noticed(edited: Layout) -> None:
    with derived(edited) as locator:
        assert [row.id for row in locator.find(Query(tag="opened")).rows] == ["ep_000140"]
        assert locator.find(Query(tag="hazard")).rows == ()
