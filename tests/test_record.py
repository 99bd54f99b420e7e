"""Recording a life: what is given comes back, and an episode that does not end well is kept."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from conftest import numbered
from scrubjay import Memory, Query, World
from scrubjay.errors import Conflict, InvalidInput, ReadOnly
from scrubjay.testing import check_memory
from shapes import rows_of


def test_n_actions_give_n_plus_one_observations(memory: Memory) -> None:
    with memory.live("count") as life, life.episode("go", {"n": 3}, frame=numbered(0), state={"n": 0}) as episode:
        for n in range(1, 4):
            assert episode.step({"forward": n}, frame=numbered(n), state={"n": n}, reward=n / 2) == n
        row = episode.finish("success", note="done")
    steps = list(memory.episode("ep_000000").steps())
    assert [step.step for step in steps] == [0, 1, 2, 3]
    assert [step.state["n"] for step in steps] == [0, 1, 2, 3]
    assert [step.action for step in steps] == [{"forward": 1}, {"forward": 2}, {"forward": 3}, None]
    assert [step.reward for step in steps] == [None, 0.5, 1.0, 1.5]
    assert (row.id, row.first_step, row.last_step, row.note) == ("ep_000000", 0, 3, "done")
    assert memory.episode("ep_000000").row == row == rows_of(memory)[0]


def test_an_episode_without_a_step_has_one_observation(memory: Memory) -> None:
    with memory.live() as life, life.episode(None, kind="initial", frame=numbered(5), state={"a": 1}):
        pass
    episode = memory.episode("ep_000000")
    assert [step.state for step in episode.steps()] == [{"a": 1}]
    assert (episode.row.kind, episode.row.tags, episode.row.summary) == ("initial", ("initial",), "initial state")
    assert (episode.start_frame().array() == episode.end_frame().array()).all()


def test_the_last_observation_is_carried_over(memory: Memory) -> None:
    with memory.live() as life:
        with life.episode("a", {}, frame=numbered(0), state={"n": 0}) as episode:
            episode.step(1, frame=numbered(1), state={"n": 1})
        with life.episode("b", {}) as episode:
            episode.step(2, frame=numbered(2), state={"n": 2})
    second = memory.episode("ep_000001")
    assert [(step.step, step.state) for step in second.steps()] == [(1, {"n": 1}), (2, {"n": 2})]
    assert (second.start_frame().array() == numbered(1)).all()


def test_a_life_counts_its_steps_from_zero_and_rows_name_it(memory: Memory) -> None:
    for _ in range(2):
        with memory.live() as life:
            with life.episode("a", {}, state={}) as episode:
                episode.step(1, state={})
                episode.step(1, state={})
            assert life.step == 2
    assert [(row.life, row.first_step, row.last_step) for row in rows_of(memory)] == [(1, 0, 2), (2, 0, 2)]
    assert [(life.life, life.outcome) for life in memory.lives()] == [(1, "ended"), (2, "ended")]


def test_step_flags_and_what_else_the_environment_told(memory: Memory) -> None:
    with memory.live() as life, life.episode("a", {}, state={}) as episode:
        episode.step(1, state={}, truncated=True, info={"lives": 3})
        episode.step(1, state={}, terminated=True)
    steps = list(memory.episode("ep_000000").steps())
    assert [(step.terminated, step.truncated) for step in steps] == [(False, False), (False, True), (True, False)]
    assert steps[1].info == {"lives": 3}


# --- one at a time


def test_one_episode_is_open_at_a_time(memory: Memory) -> None:
    with memory.live() as life, life.episode("a", {}, state={}):
        with pytest.raises(Conflict, match="ep_000000 is open; finish it"):
            life.episode("b", {})
        with pytest.raises(Conflict, match="a change of world ends the episode"):
            life.enter(World("elsewhere"))


def test_nothing_is_recorded_after_the_end(memory: Memory) -> None:
    with memory.live() as life, life.episode("a", {}, state={}) as episode:
        episode.finish()
        with pytest.raises(Conflict, match="ep_000000 is finished"):
            episode.step(1, state={})
        with pytest.raises(Conflict, match="ep_000000 is finished"):
            episode.finish()
    with pytest.raises(Conflict, match="life 1 has ended"):
        life.episode("b", {})


def test_a_reader_cannot_record(memory: Memory) -> None:
    with Memory.open(memory.root, read_only=True) as reader, pytest.raises(ReadOnly, match="open it with"):
        reader.live()


def test_a_new_world_holds_for_the_episodes_that_follow(memory: Memory) -> None:
    with memory.live(world="overworld") as life:
        with life.episode("a", {}, state={"pos": [1, 2, 3]}):
            pass
        life.enter(World("nether", cell=8.0))
        with life.episode("b", {}, state={"pos": [17, 2, 3]}):
            pass
    assert [row.world for row in rows_of(memory)] == ["overworld", "nether"]
    assert [row.cell for row in memory.grid("nether").rows()] == [(2, 0, 0)]
    assert memory.worlds()["nether"].cell == 8.0


# --- what is given goes before what is derived


def test_what_is_given_is_kept(memory: Memory) -> None:
    life = memory.live()
    episode = life.episode("mine", {"at": [1, 2]}, state={"pos": [0, 0, 0]}, place="cave", plan="get iron")
    episode.step(1, state={"pos": [9, 0, 0]})
    episode.event("a bat")
    episode.note("dark")
    lava = {"cell": [4, 5, 6], "kind": "hazard", "what": "lava", "step": 1}
    given: dict[str, Any] = {"summary": "dug", "tags": ["mine", "mine too"], "events": ["a drip"], "note": "wet"}
    episode.finish("partial", **given, cells=[lava], extra={"cost": 3})
    life.end()
    row = rows_of(memory)[0]
    assert (row.summary, row.tags, row.outcome, row.place) == ("dug", ("mine", "mine too"), "partial", "cave")
    assert (row.events, row.note, row.extra) == (("a bat", "a drip"), "dark\nwet", {"cost": 3})
    assert [(cell.cell, cell.kind, cell.extra) for cell in memory.grid().rows()] == [
        ((4, 5, 6), "hazard", {"what": "lava"})
    ]
    record = memory.episode(row).record
    assert (record["plan"], record["arguments"]) == ("get iron", {"at": [1, 2]})


def test_the_summaries_are_the_papers(memory: Memory) -> None:
    here = [3168.66, 64.0, 1419.47]
    with memory.live() as life:
        arguments = {"x": 3168, "y": 64, "z": 1420, "item": "water_bucket", "face": "below", "hold": 1}
        state: dict[str, Any] = {"pos": here, "inventory": {"water_bucket": 1}, "milestones": []}
        with life.episode("use_at", arguments, state=state) as episode:
            for _ in range(52):
                episode.step({}, state=state)
            episode.step({}, state={"pos": here, "inventory": {"bucket": 1}, "milestones": ["log_1"]})
            episode.finish("success")
        with life.episode("attack") as episode:
            for _ in range(24):
                episode.step({"attack": 1}, state={"pos": here})
    called, raw = rows_of(memory)
    assert called.summary == (
        "[ACTION] use_at(x=3168, y=64, z=1420, item=water_bucket, face=below, hold=1) -> 53 steps: "
        "moved 0.0, inv {'bucket': 1, 'water_bucket': -1}, milestone ['log_1']"
    )
    assert raw.summary == '[ACTION] {"attack":1} x24: moved 0.0'


def test_a_screen_that_did_not_change_is_a_tag(memory: Memory) -> None:
    with memory.live() as life:
        with life.episode("click", {}, frame=numbered(1)) as episode:
            episode.step(1, frame=numbered(2))
            episode.step(1, frame=numbered(1))
        with life.episode("click", {}) as episode:
            episode.step(1, frame=numbered(2))
    assert [row.tags for row in rows_of(memory)] == [("frame_unchanged",), ()]


# --- ends that are none


def test_a_with_that_is_left_open_ends_without_an_outcome(memory: Memory) -> None:
    with memory.live() as life, life.episode("a", {}, state={}) as episode:
        episode.step(1, state={})
    assert rows_of(memory)[0].outcome is None


@pytest.mark.parametrize("error", [ValueError("bad"), KeyboardInterrupt(), SystemExit(3), asyncio.CancelledError()])
def test_an_episode_that_raises_is_kept_as_interrupted(memory: Memory, error: BaseException) -> None:
    def act() -> None:
        with memory.live() as life, life.episode("a", {}, state={"n": 0}) as episode:
            episode.step(1, state={"n": 1})
            raise error

    with pytest.raises(type(error)):
        act()
    row = rows_of(memory)[0]
    assert (row.outcome, row.last_step) == ("interrupted", 1)
    assert row.events == (f"interrupted by {type(error).__name__}",)
    assert memory.lives()[0].outcome == "interrupted"


def test_a_task_that_is_cancelled_keeps_its_episode(memory: Memory) -> None:
    async def act() -> None:
        with memory.live() as life, life.episode("a", {}, state={}) as episode:
            for _ in range(1000):
                episode.step(1, state={})
                await asyncio.sleep(0.001)

    async def main() -> None:
        task = asyncio.create_task(act())
        await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    row = rows_of(memory)[0]
    assert (row.outcome, row.events) == ("interrupted", ("interrupted by CancelledError",))
    assert row.last_step
    assert len(list(memory.episode(row).steps())) == row.last_step + 1


def test_a_life_that_ends_keeps_its_open_episode(memory: Memory) -> None:
    life = memory.live()
    life.episode("a", {}, state={}).step(1, state={})
    memory.close()
    row = rows_of(memory)[0]
    assert (row.outcome, row.events) == ("interrupted", ("the life ended",))
    assert not life.is_running


def test_a_memory_that_is_closed_ends_all_its_lives(memory: Memory) -> None:
    for life in (memory.live(), memory.live()):
        life.episode("a", {}, state={}).step(1, state={})
    memory.close()
    assert [life.outcome for life in memory.lives()] == ["ended", "ended"]
    assert len(rows_of(memory)) == 2


def test_a_step_that_is_refused_leaves_no_trace(memory: Memory) -> None:
    with memory.live() as life, life.episode("a", {}, state={}) as episode:
        for bad in ({"frame": "x.png"}, {"state": {"t": {1, 2}}}, {"time": "yesterday"}, {"info": {"o": object()}}):
            with pytest.raises(InvalidInput):
                episode.step(1, **bad)
        with pytest.raises(InvalidInput):
            episode.step(object(), state={})
        assert episode.step(1, state={}) == 1
    assert len(list(memory.episode("ep_000000").steps())) == 2
    check_memory(memory.root)


# --- times


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        (datetime(2026, 11, 30, 12, 0, 0, 123_456), "2026-11-30T12:00:00.123+00:00"),
        (datetime(2026, 11, 30, 12, 0, tzinfo=UTC), "2026-11-30T12:00:00.000+00:00"),
        ("2026-11-30T12:00:00Z", "2026-11-30T12:00:00.000+00:00"),
        ("2026-11-30 12:00", "2026-11-30T12:00:00.000+00:00"),
    ],
)
def test_a_time_without_a_zone_is_utc(memory: Memory, given: Any, stored: str) -> None:
    with memory.live() as life, life.episode("a", {}, state={}, time=given) as episode:
        episode.step(1, state={}, time=given)
    row = rows_of(memory)[0]
    assert (row.started, row.ended) == (stored, stored)


def test_a_time_with_a_zone_means_the_same_moment(memory: Memory) -> None:
    east = timezone(timedelta(hours=5, minutes=30))
    with (
        memory.live() as life,
        life.episode("a", {}, state={}, time=datetime(2026, 1, 1, 2, 0, tzinfo=east)) as episode,
    ):
        episode.step(1, state={}, time="2026-01-01T02:10:00+05:30")
    row = rows_of(memory)[0]
    assert row.started is not None
    assert datetime.fromisoformat(row.started) == datetime(2025, 12, 31, 20, 30, tzinfo=UTC)
    assert memory.find(Query(since="2025-12-31T20:40:00", until="2025-12-31T20:40:00")).total == 1
    assert memory.find(Query(until="2025-12-31T20:29:59")).total == 0


def test_now_is_the_time_where_none_is_given(memory: Memory) -> None:
    before = datetime.now(UTC)
    with memory.live() as life, life.episode("a", {}, state={}):
        pass
    started = rows_of(memory)[0].started
    assert started is not None
    assert before - timedelta(milliseconds=1) <= datetime.fromisoformat(started) <= datetime.now(UTC)
