"""What can't be recorded is refused before it is committed, and costs nothing else."""

from __future__ import annotations

import multiprocessing
import shutil
from pathlib import Path
from typing import Any

import pytest

from scrubjay import Memory, World
from scrubjay.errors import Conflict, Damaged, InvalidInput
from scrubjay.memory.checking import check
from scrubjay.memory.deriving import DefaultDeriver, Derived, Happened


@pytest.mark.parametrize(
    "wrong",
    [
        {"cells": [{"kind": "walked"}]},
        {"cells": [{"cell": [1, 2], "kind": "walked", "step": 0}]},
        {"cells": [{"cell": [1, 2, 3], "kind": "walked"}]},
        {"tags": "note"},
        {"outcome": 5},
        {"summary": 5},
        {"extra": {"id": "ep_000007"}},
        {"extra": {"life": 7, "kind": "weird"}},
    ],
)
def test_a_wrong_ending_is_refused_and_can_be_given_again(memory: Memory, wrong: dict[str, Any]) -> None:
    with memory.live(world="w") as life:
        episode = life.episode("go", {}, state={"pos": [0, 0, 0]})
        with pytest.raises(InvalidInput):
            episode.finish(**wrong)
        assert episode.finish("success", extra={"origin": {"memory": "m"}}).extra == {"origin": {"memory": "m"}}
        life.episode("go", {}).finish()
    assert check(memory.layout).is_sound


@pytest.mark.parametrize("wrong", [{"place": 7}, {"kind": 8}, {"plan": 5}])
def test_a_wrong_beginning_is_refused(memory: Memory, wrong: dict[str, Any]) -> None:
    with memory.live(world="w") as life:
        with pytest.raises(InvalidInput):
            life.episode("go", {}, state={}, **wrong)
        life.episode("go", {}, state={}).finish()
    assert check(memory.layout).is_sound


@pytest.mark.parametrize("wrong", [{"reward": "much"}, {"info": 3}, {"state": [1]}])
def test_a_wrong_step_is_refused_and_can_be_given_again(memory: Memory, wrong: dict[str, Any]) -> None:
    with memory.live(world="w") as life:
        episode = life.episode("go", {}, state={"pos": [0, 0, 0]})
        with pytest.raises(InvalidInput, match=f"{next(iter(wrong))}: "):
            episode.step(1, **wrong)
        assert episode.step(1, state={}, reward=0.5) == 1
        episode.finish()
    assert check(memory.layout).is_sound


@pytest.mark.parametrize("arguments", [[1], "x", 5])
def test_wrong_arguments_are_refused(memory: Memory, arguments: Any) -> None:
    with memory.live(world="w") as life, pytest.raises(InvalidInput, match="arguments: a mapping"):
        life.episode("go", arguments, state={})


@pytest.mark.parametrize("wrong", [{"world": 3}, {"milestones": "log"}, {"extra": {"a": object()}}])
def test_a_wrong_life_is_refused_and_holds_nothing(memory: Memory, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        memory.live(**wrong)
    with memory.live(world="w") as life:
        life.episode("go", {}, state={}).finish()
    assert check(memory.layout).is_sound


def test_a_whole_number_without_end_is_no_position(memory: Memory) -> None:
    with memory.live(world="w") as life:
        row = life.episode("go", {}, state={"pos": [10**400, 0, 0]}).finish()
    assert (row.x, row.y, row.position) == (None, 0.0, None)
    with Memory.open(memory.root) as again:
        assert check(again.layout).is_sound


class BeginsBadly(DefaultDeriver):
    """A deriver of somebody else's that fails at once."""

    def begin(self, world: World) -> None:
        raise RuntimeError("no")


class DerivesBadly(DefaultDeriver):
    """A deriver of somebody else's whose cell has two numbers."""

    def derive(self, happened: Happened) -> Derived:
        return Derived("odd", (), ({"cell": [1, 2], "kind": "walked", "step": 0},))


def test_a_deriver_that_fails_costs_its_own_episode_alone(memory: Memory) -> None:
    with memory.live(world="w") as life:
        with pytest.raises(RuntimeError):
            life.episode("go", {}, state={}, deriver=BeginsBadly())
        row = life.episode("go", {"n": 1}, state={"pos": [0, 0, 0]}, deriver=DerivesBadly()).finish()
        assert row.summary.startswith("[ACTION] go(n=1)")
    assert check(memory.layout).is_sound


def _declare(root: str, up: str, results: Any) -> None:
    with Memory.open(root) as memory:
        try:
            with memory.live(world=World("shared", up=up)) as life:
                results.put(life.world.up == up)
        except Conflict:
            results.put(None)


def test_a_world_declared_twice_at_once_has_one_meaning(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    for nth in range(4):
        root = str(tmp_path / f"m{nth}")
        Memory.create(root).close()
        results = context.Queue()
        both = [context.Process(target=_declare, args=(root, up, results)) for up in ("y", "z")]
        for one in both:
            one.start()
        for one in both:
            one.join()
        assert sorted(map(str, (results.get(), results.get()))) == ["None", "True"]


@pytest.mark.parametrize(("deriver", "stuck"), [("default", True), ("continuous", False)])
def test_a_family_says_what_is_stuck_and_recovery_says_the_same(memory: Memory, deriver: str, stuck: bool) -> None:
    """Given one small step in a world of large cells: only tiles call it a standstill."""
    world = World("map", up="z", cell=64.0)
    with memory.live(world=world, deriver=deriver) as life:
        with life.episode("move_forward", state={"pos": [0, 0, 0]}) as episode:
            episode.step("forward", state={"pos": [7, 0, 0]})
        assert episode.row is not None
        assert ("stuck" in episode.row.tags) is stuck
    dying = memory.live(world=world, deriver=deriver)
    dying.episode("move_forward", state={"pos": [0, 0, 0]}).step("forward", state={"pos": [7, 0, 0]})
    dying.abandon()
    with Memory.open(memory.root) as again:
        assert ("stuck" in again.episode("ep_000001").row.tags) is stuck
    with pytest.raises(InvalidInput, match="continuous"):
        memory.live(world=world, deriver="tiles")


def test_a_folder_of_locks_that_was_deleted_is_made_again(memory: Memory) -> None:
    with memory.live(world="w") as life:
        life.episode("go", {}, state={}).finish()
        shutil.rmtree(memory.layout.locks)
        life.episode("go", {}).finish()
    assert check(memory.layout).is_sound


@pytest.mark.parametrize("reference", [3, None, b"ep_000001", ["ep_000001"]])
def test_what_is_no_text_is_no_reference(tmp_path: Path, reference: Any) -> None:
    with Memory.create(tmp_path / "memory") as memory:
        with pytest.raises(InvalidInput, match="not a reference"):
            memory.episode(reference)
        with pytest.raises(InvalidInput, match="not a reference"):
            memory.look(reference)


def test_a_folder_in_place_of_the_index_is_named(tmp_path: Path) -> None:
    with Memory.create(tmp_path / "memory") as memory:
        Path(memory.layout.index).unlink(missing_ok=True)
        Path(memory.layout.index).mkdir()
        with pytest.raises(Damaged, match=r"index\.jsonl"):
            memory.find()
