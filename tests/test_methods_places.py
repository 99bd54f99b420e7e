"""MrSteve's place event memory: where sights go, what is found, what is forgotten first."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corridor import Always, Corridor
from scrubjay import Memory, Query, World
from scrubjay.agent.loop import Run
from scrubjay.agent.skills import Skills
from scrubjay.errors import InvalidInput
from scrubjay.methods.mrsteve import Sights
from scrubjay.methods.named import make_method
from scrubjay.methods.place_memory import PlaceMemory, Sight, dp_means
from scrubjay.retrieval.recorded import read_recorded
from test_conversation import Says, act, calls

LOOKS = [bytes([255 if n == k else 0 for n in range(4)]) for k in range(4)]  # four looks with nothing in common


def sight(number: int, x: float = 0.0, z: float = 0.0, yaw: float = 0.0, look: int = 0) -> Sight:
    return Sight(number, f"ep_{number:06d}", (x, 0.0, z), yaw, LOOKS[look])


def kept(*sights: Sight, **options: float) -> PlaceMemory:
    memory = PlaceMemory(**options)  # type: ignore[arg-type]
    for one in sights:
        memory.add(one)
    return memory


SIGHTS = st.lists(
    st.tuples(st.floats(-20, 20), st.floats(-20, 20), st.floats(0, 720), st.integers(0, 3)), min_size=1, max_size=60
).map(lambda given: [sight(number, x, z, yaw, look) for number, (x, z, yaw, look) in enumerate(given)])


@given(SIGHTS, st.integers(1, 10), st.integers(1, 40))
def test_nothing_is_lost_or_doubled_within_the_capacity(sights: list[Sight], every: int, capacity: int) -> None:
    memory = kept(*sights, every=every, capacity=capacity)
    found = [one.number for one in memory.sights()]
    assert len(found) == len(set(found)) == len(memory) == min(capacity, len(sights))
    for event in memory.events():
        places = {(*(math.floor(v / 6) for v in one.position), math.floor(one.yaw % 360 / 60)) for one in event}
        assert len(places) == 1  # an event is of one place
        assert len({one.picture for one in event}) == 1  # these looks have nothing in common


def test_new_sights_are_clustered_after_so_many() -> None:
    sights = [sight(n, look=n % 2) for n in range(6)]
    assert kept(*sights[:5], every=6).events() == []
    events = kept(*sights, every=6).events()
    assert sorted([one.number for one in event] for event in events) == [[0, 2, 4], [1, 3, 5]]


def test_a_cluster_like_an_event_of_its_place_becomes_part_of_it() -> None:
    (event,) = kept(*(sight(n) for n in range(4)), every=2).events()
    assert [one.number for one in event] == [0, 1, 2, 3]
    assert len(kept(*(sight(n, x=7 * (n > 1)) for n in range(4)), every=2).events()) == 2  # another cell
    assert len(kept(*(sight(n, yaw=70 * (n > 1)) for n in range(4)), every=2).events()) == 2  # another direction


def test_found_is_what_looks_alike_nearest_first() -> None:
    memory = kept(sight(0, x=30), sight(1, x=3), sight(2, x=3, look=1), sight(3, x=50), every=3)
    assert [one.number for one, _ in memory.find(LOOKS[0], (40.0, 0.0, 0.0))] == [3, 0, 1]
    assert [value for _, value in memory.find(LOOKS[0])] == [1.0, 1.0, 1.0]
    assert [one.number for one, _ in memory.find(LOOKS[1])] == [2]
    assert memory.find(LOOKS[3]) == []
    assert PlaceMemory().find(LOOKS[0]) == []


def test_only_the_best_events_are_looked_at() -> None:
    memory = kept(*(sight(n, x=10.0 * n) for n in range(40)), every=1)
    assert len(memory.find(LOOKS[0])) == 30
    assert len(memory.find(LOOKS[0], centres=7)) == 7


def test_the_oldest_of_the_largest_event_of_the_largest_place_goes() -> None:
    first = [sight(0, x=20), sight(1, look=1), sight(2), sight(3), sight(4)]
    memory = kept(*first, every=5, capacity=5)
    memory.add(sight(5, x=20))
    assert sorted(one.number for one in memory.sights()) == [0, 1, 3, 4, 5]


@pytest.mark.parametrize(
    ("one", "other", "places"),
    [
        ((0.0, 0.0), (5.9, 0.0), 1),
        ((0.0, 0.0), (6.0, 0.0), 2),
        ((-0.1, 0.0), (0.1, 0.0), 2),
        ((0.0, 0.0), (0.0, 59.9), 1),
        ((0.0, 0.0), (0.0, 60.0), 2),
        ((0.0, 359.0), (0.0, -1.0), 1),
        ((0.0, 1.0), (0.0, 361.0), 1),
    ],
)
def test_a_place_is_six_blocks_and_sixty_degrees(
    one: tuple[float, float], other: tuple[float, float], places: int
) -> None:
    """Each of (x, yaw); alike as they are, sights of one place are one event."""
    memory = kept(*(sight(n, x=x, yaw=yaw) for n, (x, yaw) in enumerate((one, other))), every=2)
    assert len(memory.events()) == places


def test_clusters_are_made_after_every_hundred_records() -> None:
    memory = kept(*(sight(n) for n in range(99)))
    assert memory.events() == []
    memory.add(sight(99))
    assert [len(event) for event in memory.events()] == [100]
    for number in range(100, 199):
        memory.add(sight(number))
    assert [len(event) for event in memory.events()] == [100]
    memory.add(sight(199))
    assert [len(event) for event in memory.events()] == [200]  # the new cluster is alike, and became part of it


@pytest.mark.parametrize(("least", "found"), [(0.79, 2), (0.81, 1)])
def test_records_above_the_threshold_are_found(least: float, found: int) -> None:
    memory = PlaceMemory(least=least)
    for number, picture in enumerate((bytes([5, 0]), bytes([4, 3]))):  # cosines of 1 and 0.8 with the first
        memory.add(Sight(number, f"ep_{number:06d}", (0.0, 0.0, 0.0), 0.0, picture))
    assert len(memory.find(bytes([5, 0]))) == found


def test_blocks_are_cells_of_the_world(tmp_path: Path) -> None:
    """In a world of cells of 64 units, as Doom's, six blocks are 384 units."""
    memory = Memory.create(tmp_path / "m")
    with memory.live(world=World("wide", cell=64.0)) as life:
        for x in (0.0, 370.0, 390.0):
            frame = np.full((9, 16, 3), 80, np.uint8)
            with life.episode("walk", frame=frame, state={"pos": [x, 0.0, 0.0], "yaw": 0.0}) as episode:
                episode.step("walk", frame=frame, state={"pos": [x, 0.0, 0.0], "yaw": 0.0})
                episode.finish()
        sights = Sights(memory, life.number)
        sights.update()
        assert sorted(map(len, sights.places())) == [1, 2]


def test_near_is_nearest_first() -> None:
    memory = kept(sight(0, x=5), sight(1, x=1), sight(2, x=9), every=2)
    assert [one.number for one in memory.near((0.0, 0.0, 0.0), 6.0)] == [1, 0]
    with pytest.raises(InvalidInput):
        PlaceMemory(cell=0)


@given(st.lists(st.lists(st.floats(0.01, 1), min_size=3, max_size=3), min_size=1, max_size=30), st.floats(0.5, 0.999))
def test_clusters_hold_every_vector_once(rows: list[list[float]], apart: float) -> None:
    vectors = np.array(rows, np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    clusters = dp_means(vectors, apart)
    assert sorted(n for cluster in clusters for n in cluster) == list(range(len(rows)))
    assert all(clusters)
    assert len(dp_means(np.repeat(vectors[:1], 5, axis=0), apart)) == 1


# --- on a memory's episodes


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    memory = Memory.create(tmp_path_factory.mktemp("places") / "m")
    Run(Corridor(), Always(("right", 3), ("wait", 2)), memory, steps=30).run()
    return memory


def test_a_place_is_found_by_the_look_of_a_frame(lived: Memory) -> None:
    sights = Sights(lived, 1)
    row = lived.find(Query(life=1, action="right")).rows[-1]
    found = sights.find(Query(like=sights.picture(row.id))).rows
    assert row in found
    here = lived.find(Query(life=1, last=1)).rows[0].end
    assert here is not None
    away = [abs(one.end[0] - here[0]) for one in found if one.end is not None]
    assert away == sorted(away)
    there = [one for one in lived.find(Query(life=1)).rows if one.end == (3.0, 0.0, 0.0)]
    assert sights.find(Query(near=(3, 0), radius=0.5)).rows == there[::-1]
    assert list(sights.find(Query(last=5)).rows) == []
    with pytest.raises(InvalidInput, match="ep_000099"):
        sights.picture("ep_000099")


def test_sights_are_brought_up_to_date(tmp_path: Path) -> None:
    memory = Memory.create(tmp_path / "m")
    sights = Sights(memory, 1)
    assert list(sights.find(Query(near=(0, 0))).rows) == []
    Run(Corridor(), Always(("right", 1)), memory, steps=2).run()
    assert len(sights.find(Query(near=(0, 0))).rows) == 3
    assert sights.picture(None) == read_recorded(memory.layout, 2).places[-1]


def test_a_language_model_asks_for_places(tmp_path: Path) -> None:
    method, memory, environment = make_method("mrsteve"), Memory.create(tmp_path / "m"), Corridor()
    model = Says(
        act("right", "right"), calls("places", {}), calls("places", {"near": [1, 0], "radius": 0}), act("wait")
    )
    Run(
        environment,
        method.conversation(model, memory, Skills(environment, memory)),
        memory,
        steps=3,
        recall=method.recall,
    ).run()
    told = [str(shown[1][-1].results[0].parts[0]) for shown in model.shown[2:4]]
    assert "ep_000002  steps 1-2" in told[0]
    assert "ep_000001" in told[1]
    assert "ep_000002" not in told[1]
