"""Which lives and which world a query covers, and conditions beyond those of the published tool."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scrubjay.errors import InvalidInput
from scrubjay.memory.layout import Layout
from scrubjay.retrieval.build import bring_up_to_date
from scrubjay.retrieval.locate import Locator
from scrubjay.retrieval.query import Query
from small_memories import commit, episode, make_memory


def append(path: str, *rows: dict[str, Any]) -> None:
    with open(path, "a") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """Three lives: two in a world of rooms, where z is up, the third in a field."""
    made = make_memory(tmp_path / "memory")
    append(made.worlds, {"world": "rooms", "up": "z", "cell": 2.0}, {"world": "field", "up": "y", "cell": 1.0})
    for life, world in ((1, "rooms"), (2, "rooms"), (3, "field")):
        append(made.lives, {"life": life, "event": "start", "world": world, "started": "2026-11-30T12:00:00+00:00"})
        append(made.lives, {"life": life, "event": "end", "ended": "2026-11-30T13:00:00+00:00"})
        os.makedirs(made.life(life))
    commit(made, episode(1, life=1, world="rooms", pos=[1, 1, 9], cells=[(0, 0, 4), (1, 0, 4)], place="hall"))
    commit(made, episode(2, life=1, world="rooms", pos=[9, 1, 1], end_pos=[20, 1, 1], cells=[(4, 0, 0), (10, 0, 0)]))
    commit(
        made,
        episode(3, life=2, world="rooms", pos=[1, 2, 3], started="2026-11-30T12:00:00", ended="2026-11-30T12:00:05"),
    )
    commit(made, episode(4, life=3, world="field", pos=[1, 1, 9], screens=["aa", "bb"]))
    commit(made, episode(5, life=3, world="field", pos=[1, -70, -1], screens=["bb"]))
    return made


@pytest.fixture(params=["scanned", "derived"])
def locator(request: pytest.FixtureRequest, layout: Layout) -> Iterator[Locator]:
    if request.param == "derived":
        bring_up_to_date(layout.root)
    with Locator(layout, small=0 if request.param == "derived" else 1 << 40, background=False) as opened:
        yield opened


def found(locator: Locator, **conditions: Any) -> list[int]:
    return [row.number for row in locator.find(Query(**conditions)).rows]


def test_the_newest_life_is_meant_unless_another_is_named(locator: Locator) -> None:
    assert found(locator) == [4, 5]
    assert found(locator, life=1) == [1, 2]
    assert found(locator, previous=True) == [1, 2, 3]
    assert found(locator, life="all") == [1, 2, 3, 4, 5]
    assert found(locator, world="rooms") == [1, 2, 3]
    assert found(locator, world="rooms", life=2) == [3]
    assert found(locator, life=9) == []


def test_a_running_life_is_meant_before_a_newer_one_that_ended(locator: Locator, layout: Layout) -> None:
    append(layout.lives, {"life": 2, "event": "start", "world": "rooms", "started": "2026-11-30T14:00:00+00:00"})
    assert found(locator) == [4, 5]
    with open(layout.life_lock(2), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert found(locator) == [3]
        assert found(locator, previous=True) == [1, 2]
    assert found(locator) == [4, 5]


def test_the_environment_names_a_life(locator: Locator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCRUBJAY_LIFE", "2")
    assert found(locator) == [3]
    assert found(locator, previous=True) == [1, 2]
    assert found(locator, life=3) == [4, 5]
    assert found(locator, near=(1, 1)) == [1, 3]
    monkeypatch.setenv("SCRUBJAY_LIFE", "all")
    assert found(locator) == [1, 2, 3, 4, 5]
    monkeypatch.setenv("SCRUBJAY_LIFE", "second")
    with pytest.raises(InvalidInput, match="SCRUBJAY_LIFE"):
        found(locator)


def test_positions_compare_within_one_world_on_its_ground(locator: Locator) -> None:
    assert found(locator, near=(1, 9)) == [4]
    assert found(locator, near=(1, 1), world="rooms") == [1, 3]
    assert found(locator, near=(1, 1), radius=0, world="rooms") == [1]
    assert found(locator, near=(1, 1), world="rooms", life=2) == [3]
    assert found(locator, near=(1, 1), life=1) == [1]
    assert found(locator, near=(1, 1), previous=True, world="rooms") == [1, 3]
    assert found(locator, below=-60) == [5]
    assert found(locator, above=2, world="rooms") == [1, 3]
    assert found(locator, near=(0, 0), world="nowhere") == []


def test_a_life_that_began_without_an_episode_gives_its_world(locator: Locator, layout: Layout) -> None:
    append(layout.lives, {"life": 4, "event": "start", "world": "rooms", "started": "2026-11-30T15:00:00+00:00"})
    assert found(locator, near=(1, 1)) == [1, 3]
    assert found(locator) == []


def test_through_asks_the_cells_walked(locator: Locator) -> None:
    assert found(locator, through=(2.5, 1.9), world="rooms") == [1]
    assert found(locator, through=(21, 0), world="rooms") == [2]
    assert found(locator, through=(15, 0), world="rooms") == []
    assert found(locator, through=(15, 0), radius=5, world="rooms") == [2]
    assert found(locator, through=(15, 0), radius=4.9, world="rooms") == []


def test_places_times_and_screens(locator: Locator) -> None:
    assert found(locator, place="hall", life="all") == [1]
    assert found(locator, since="2026-11-30T12:00:05Z", life="all") == [3]
    assert found(locator, since="2026-11-30T13:00:05.000001+01:00", life="all") == []
    assert found(locator, until="2026-11-30", life="all") == []
    assert found(locator, until="2026-11-30T12:00", life="all") == [3]
    assert found(locator, same_screen="bb") == [4, 5]
    assert found(locator, same_screen="aa") == [4]


def test_the_last_come_before_the_page(locator: Locator) -> None:
    matches = locator.find(Query(life="all", last=4, limit=2, after="ep_000002"))
    assert ([row.number for row in matches], matches.more, matches.total) == ([3, 4], "ep_000004", 4)


def test_iterating_goes_through_every_page(layout: Layout, locator: Locator) -> None:
    for number in range(10, 1300):
        commit(layout, episode(number, life=3, world="field", action_kind="dig"))
    assert [row.number for row in locator.iterate(Query(action="dig"))] == list(range(10, 1300))


def test_pictures_are_ranked_by_likeness(layout: Layout, locator: Locator) -> None:
    import numpy as np

    from scrubjay.retrieval.places import describe

    def picture(seed: int) -> bytes:
        return bytes(describe(np.random.default_rng(seed).integers(0, 255, (48, 64, 3), dtype=np.uint8)))

    for number in (10, 11, 12):
        commit(layout, episode(number, life=3, world="field", places=[picture(number), picture(number + 100)]))
    if locator.is_derived:
        bring_up_to_date(layout.root)
    assert found(locator, like=picture(11))[0] == 11
    assert found(locator, like=picture(112), limit=1) == [12]
    assert sorted(found(locator, like=picture(11))) == [10, 11, 12]
