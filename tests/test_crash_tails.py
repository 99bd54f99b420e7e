"""Power loss tears the end off a file, at any byte: what stood there may be gone, and nothing else is."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import aftermath
from faults import run_with_kill
from recorder import Sayings
from scrubjay import Memory
from scrubjay.errors import Damaged, NotFound
from scrubjay.memory import journal
from scrubjay.memory.checking import check as check_folder
from scrubjay.memory.checking import repair
from scrubjay.memory.layout import Layout
from scrubjay.public import cue_makers
from test_crash_points import IN_AN_EPISODE

BETWEEN_EPISODES = """
import os, signal
import recorder
say = recorder.say
def say_and_die(*words):
    say(*words)
    if words[:2] == ("done", "ep_000003"):
        os.kill(os.getpid(), signal.SIGKILL)
recorder.say = say_and_die
recorder.record(arguments[0])
"""
every = [pytest.param(17, id="some offsets"), pytest.param(1, id="every offset", marks=pytest.mark.long)]
strides = pytest.mark.parametrize("stride", every)


class Dead:
    """A memory whose recorder died, to be copied and damaged again and again."""

    def __init__(self, scratch: Path, script: str) -> None:
        place = Path(tempfile.mkdtemp(dir=scratch))
        self._folder, self._work = place / "dead", place / "work"
        Memory.create(self._folder).close()
        outcome = run_with_kill(script, 0, str(self._folder))
        assert outcome.killed
        self.said = Sayings.of(outcome.output)
        assert len(self.said.done) == 4

    def copy(self) -> Layout:
        """A fresh copy."""
        shutil.rmtree(self._work, ignore_errors=True)
        shutil.copytree(self._folder, self._work)
        return Layout(self._work)

    def cuts(self, name: str, stride: int, *, rows: int = 2) -> Iterator[tuple[Layout, int]]:
        """A copy for each offset in the last rows of a file, with the file cut there."""
        data = (self._folder / name).read_bytes()
        lines = data.splitlines(keepends=True)
        first = len(data) - sum(map(len, lines[-rows:]))
        edges = {first, len(data) - len(lines[-1]), len(data) - len(lines[-1]) + 1, len(data) - 1}
        for offset in sorted(edges | set(range(first, len(data), stride))):
            layout = self.copy()
            os.truncate(os.path.join(layout.root, name), offset)
            yield layout, offset

    def without(self, *idents: str) -> Sayings:
        """What was said, but for these episodes."""
        steps = {ident: steps for ident, steps in self.said.steps.items() if ident not in idents}
        return Sayings(steps, {ident: digest for ident, digest in self.said.done.items() if ident not in idents})


@pytest.fixture
def between(scratch: Path) -> Dead:
    """Died between two episodes."""
    return Dead(scratch, BETWEEN_EPISODES)


@pytest.fixture
def within(scratch: Path) -> Dead:
    """Died in its fifth episode."""
    return Dead(scratch, IN_AN_EPISODE)


def check(layout: Layout, said: Sayings) -> None:
    """All is well without a repair."""
    aftermath.check(layout.root, said, goes_on=False)


def check_repaired(layout: Layout, said: Sayings) -> None:
    """A writable open goes through and changes nothing the second time; a repair makes all well."""
    Memory.open(layout.root).close()
    before = aftermath.tree(layout.root)
    Memory.open(layout.root).close()
    assert aftermath.tree(layout.root) == before
    report = repair(layout, cue_makers())
    assert report.is_sound, report.problems
    with Memory.open(layout.root) as memory:
        aftermath.check_open(memory, said, logs_in_order=False)


@strides
def test_the_index_row_of_the_last_begun_episode_is_made_again(between: Dead, stride: int) -> None:
    for layout, _ in between.cuts("index.jsonl", stride, rows=1):
        check(layout, between.said)


@strides
def test_an_index_row_of_an_earlier_episode_is_named_and_repaired(within: Dead, stride: int) -> None:
    for layout, _ in within.cuts("index.jsonl", stride * 3, rows=2):
        Memory.open(layout.root).close()
        assert {problem.kind for problem in check_folder(layout).problems} <= {"row-lacks", "grid-lacks", "log-lacks"}
        check_repaired(layout, within.said)


@strides
def test_grid_rows_are_completed_once(between: Dead, stride: int) -> None:
    for layout, _ in between.cuts("grid.jsonl", stride, rows=4):
        check(layout, between.said)


@strides
def test_the_log_is_completed_in_order(between: Dead, stride: int) -> None:
    for layout, _ in between.cuts("lives/0001/logs.txt", stride, rows=18):
        check(layout, between.said)


@strides
def test_lost_begun_rows_of_committed_episodes_lose_nothing(between: Dead, stride: int) -> None:
    for layout, _ in between.cuts("lives/0001/begun.jsonl", stride * 2, rows=4):
        os.truncate(layout.log(1), 100)
        os.truncate(layout.grid, 100)
        check(layout, between.said)


@strides
def test_a_lost_begun_row_of_an_open_episode_costs_that_episode(within: Dead, stride: int) -> None:
    for layout, _ in within.cuts("lives/0001/begun.jsonl", stride, rows=1):
        with Memory.open(layout.root) as memory:
            aftermath.check_said(memory, within.without("ep_000004"))
        orphans = [problem for problem in check_folder(layout).problems if problem.kind != "torn-tail"]
        assert [(problem.kind, problem.file) for problem in orphans] == [("orphan", "episodes/0000/ep_000004")]


@strides
def test_a_lost_start_of_a_life_loses_no_episode(between: Dead, stride: int) -> None:
    for layout, _ in between.cuts("lives.jsonl", stride, rows=1):
        with Memory.open(layout.root) as memory:
            aftermath.check_said(memory, between.said)


def test_a_lost_end_of_a_life_is_written_again(between: Dead) -> None:
    layout = between.copy()
    Memory.open(layout.root).close()
    whole = Path(layout.lives).read_bytes()
    for offset in range(whole.index(b"\n") + 1, len(whole)):
        Path(layout.lives).write_bytes(whole[:offset])
        check(layout, between.said)


@strides
def test_steps_that_power_loss_took_cost_themselves(within: Dead, stride: int) -> None:
    name = "episodes/0000/ep_000004/steps.jsonl"
    for layout, _ in within.cuts(name, stride, rows=6):
        whole = list(journal.rows(os.path.join(layout.root, name)))
        said = within.without("ep_000004")
        said.steps["ep_000004"] = [row["step"] for row in whole]
        if whole:
            with Memory.open(layout.root) as memory:
                aftermath.check_open(memory, said)
                assert len(list(memory.episode("ep_000004").steps())) == len(whole)
        else:
            Memory.open(layout.root).close()


@strides
def test_frames_that_power_loss_took_are_said_to_be_missing(within: Dead, stride: int) -> None:
    name = "episodes/0000/ep_000004/frames.tar"
    size = os.path.getsize(os.path.join(within.copy().root, name))
    for offset in {*range(0, size, stride * 5), *range(511, size, 512), *range(0, size, 512)}:
        layout = within.copy()
        os.truncate(os.path.join(layout.root, name), offset)
        with Memory.open(layout.root) as memory:
            aftermath.check_said(memory, within.without("ep_000004"))
            episode = memory.episode("ep_000004")
            frames = [name for step in episode.steps() for name in step.frames.values()]
            assert set(frames) == {*episode.record["evidence"]["frames"], *episode.record["evidence"]["missing"]}
            for step in episode.steps():
                try:
                    aftermath.assert_same_pixels(episode, step.step, "", step.state["key"])
                except NotFound as error:
                    assert "lost when the process died" in str(error)  # noqa: PT017


@strides
def test_a_damaged_finished_episode_costs_itself_and_is_named(between: Dead, stride: int) -> None:
    folder = "episodes/0000/ep_000003"
    for name in ("frames.tar", "steps.jsonl", "end.front.webp", "episode.json"):
        for layout, offset in between.cuts(f"{folder}/{name}", stride * 4, rows=1):
            with Memory.open(layout.root) as memory:
                aftermath.check_said(memory, between.without("ep_000003"))
                with_damage(memory, "ep_000003")
            problems = [problem for problem in check_folder(layout).problems if problem.file == f"{folder}/{name}"]
            assert problems, (name, offset)
            if name == "frames.tar":
                assert "frames are whole" in problems[0].message


def with_damage(memory: Memory, ident: str) -> None:
    """Each frame of a damaged episode is exact or said to be damaged."""
    try:
        episode = memory.episode(ident)
        steps = list(episode.steps())
    except Damaged:
        return
    for step in steps:
        for camera in step.frames:
            try:
                aftermath.assert_same_pixels(episode, step.step, camera, step.state["key"])
            except Damaged as error:
                assert ident in error.file  # noqa: PT017


@strides
def test_a_lost_world_is_declared_again(between: Dead, stride: int) -> None:
    for layout, _ in between.cuts("worlds.jsonl", stride, rows=1):
        with Memory.open(layout.root) as memory:
            aftermath.check_said(memory, between.said)
            memory.live(world="w").end()
            assert memory.worlds()["w"].up == "y"
        assert {problem.kind for problem in check_folder(layout).problems} <= {"torn-tail"}


MIDDLES = ("index.jsonl", "grid.jsonl", "lives/0001/begun.jsonl", "lives.jsonl", "worlds.jsonl")


@pytest.mark.parametrize("garbage", [b"\x00" * 40, b"\xff\xfe{", b'{"id": "ep_000', b"[]", b"{}", b'{"id": 7}'])
@pytest.mark.parametrize("name", MIDDLES)
def test_a_broken_line_in_the_middle_costs_that_line(within: Dead, name: str, garbage: bytes) -> None:
    layout = within.copy()
    path = Path(layout.root, name)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:1], garbage + b"\n", *lines[1:]]))
    with Memory.open(layout.root) as memory:
        aftermath.check_said(memory, within.said)
        assert {row.id for row in memory.iterate()} == set(within.said.steps)
