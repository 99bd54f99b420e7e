"""Reflexes while plans run in a recorded environment: they stop, note and act, and what they did is in the memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from corridor import Always
from scrubjay import Memory, Query
from scrubjay.agent.execution import Executed, Executor
from scrubjay.agent.loop import Run
from scrubjay.agent.reflex_watch import ReflexWatch
from scrubjay.agent.skills import Skills
from scrubjay.agent.stopping import Stop
from scrubjay.environments.crafter import Crafter
from scrubjay.memory.checking import check
from scrubjay.memory.jsonio import Json
from scrubjay.models.contract import Entry
from test_skills import Corridors, Lived

TURN_BACK = """\
def main(now):
    if now["pos"][0] == 2 and now["pos_prev"][0] == 1:
        return {"stop": True, "note": "two is far enough"}
"""
STEP_ASIDE = """\
def main(now):
    if now["pos"][0] == 2:
        return {"act": [{"action": "left", "repeat": 2}, {"action": "walk", "arguments": {"x": 1}}]}
"""


class Watched(Lived):
    """A life in the corridor, watched by the reflexes of its memory."""

    def __init__(self, memory: Memory) -> None:
        super().__init__(memory)
        self.watch = ReflexWatch(memory, self.skills)

    def do(self, action: str, arguments: Json | None = None, most: int = 100, repeat: int = 1) -> Executed:
        with Stop() as stop:
            entry = Entry(action, repeat, arguments)
            executor = Executor(self.environment, self.skills, self.watch)
            done = executor.execute(self.life, entry, self.seen, most, {}, stop, 4)
        self.seen = done.seen
        return done


@pytest.fixture
def watched(memory: Memory) -> Iterator[Watched]:
    lived = Watched(memory)
    yield lived
    lived.watch.close()
    lived.skills.close()
    lived.life.end()


def write(memory: Memory, name: str, source: str, every: int | None = None) -> None:
    memory.procedures.create(name, "Watches.", code=source, kind="reflex")
    if every is not None:
        path = f"reflexes/{name}/SKILL.md"
        head = memory.documents.read(path).replace("metadata:\n", f'metadata:\n  every: "{every}"\n')
        memory.documents.write(path, head)


@pytest.mark.parametrize("how", ["raw", "atom", "procedure"])
def test_one_that_says_stop_ends_whatever_runs(watched: Watched, how: str) -> None:
    memory = watched.memory
    write(memory, "turn-back", TURN_BACK)
    memory.procedures.create("go", "Goes.", code="def go() -> None:\n    for i in range(9):\n        act('right')\n")
    done = {
        "raw": lambda: watched.do("right", repeat=9),
        "atom": lambda: watched.do("walk", {"x": 9}),
        "procedure": lambda: watched.do("go", {}),
    }[how]()
    assert (done.row.last_step, done.is_cut, done.seen.state["pos"][0]) == (2, True, 2)
    assert done.row.outcome in ("stopped", "stopped: the reflex turn-back said stop")
    assert "reflex turn-back said stop" in done.row.events
    assert (done.row.note or "").startswith("reflex turn-back: two is far enough")
    spoken = [run for run in memory.procedures.runs() if run.kind == "reflex"]
    assert [(run.procedure, run.outcome, run.episodes, run.life, run.step, run.turn) for run in spoken] == [
        ("turn-back", "success", (done.row.id,), 1, 2, 4)
    ]
    if how == "procedure":
        assert memory.procedures.runs("go")[0].outcome == "stopped"
    assert watched.skills.own()[-1] == "reflex main(now): Watches. (called 1, succeeded 1)"


def test_what_it_acts_with_are_steps_of_the_same_episode(watched: Watched) -> None:
    write(watched.memory, "step-aside", STEP_ASIDE)
    done = watched.do("right", repeat=2)
    steps = [step.after for step in watched.memory.episode(done.row.id).steps()]
    assert steps == [None, "right", "right", "left", "left", "right"]
    assert not done.is_cut
    assert done.row.outcome is None
    assert done.row.events == ("reflex step-aside acts: left x2, walk(x=1)",)
    assert watched.memory.procedures.runs()[0].steps == 3


def test_acting_is_bounded_by_the_steps_that_are_left(watched: Watched) -> None:
    write(watched.memory, "run-away", "def main(now):\n    return {'act': [{'action': 'wait', 'repeat': 400}]}\n")
    done = watched.do("right", repeat=1, most=7)
    assert done.row.last_step == 7
    assert watched.memory.procedures.runs()[0].steps == 6


@pytest.mark.parametrize(
    ("says", "told"),
    [
        ("{'act': [{'action': 'fly'}]}", "'fly' is neither an action nor an atom"),
        ("{'act': [{'action': 'walk', 'arguments': {'x': 'far'}}]}", "act: entry 1"),
        ("{'act': [{'action': 'right', 'repeat': 401}]}", "at most 400"),
        ("1 // 0", "ZeroDivisionError"),
        ("walk(x=1)", "NameError"),
    ],
)
def test_one_that_fails_costs_nothing_and_is_told_once(watched: Watched, says: str, told: str) -> None:
    write(watched.memory, "bad", f"def main(now):\n    return {says}\n")
    done, later = watched.do("right", repeat=2), watched.do("wait")
    assert (done.row.last_step, done.is_cut) == (2, False)
    assert (done.row.note or "").startswith("reflex bad is not asked any more: ")
    assert told in (done.row.note or "")
    assert later.row.note is None
    assert [run.outcome for run in watched.memory.procedures.runs()] == ["failure"]
    watched.memory.procedures.update("bad", code="def main(now):\n    return {'note': 'mended'}\n", kind="reflex")
    assert watched.do("wait").row.note == "reflex bad: mended"


def test_every_so_many_steps_and_as_far_back(watched: Watched) -> None:
    seen = "def main(now):\n    return {'note': str(now['pos_prev'][0]) + ' ' + str(now['pos'][0])}\n"
    write(watched.memory, "third", seen, every=3)
    first, second = watched.do("right", repeat=2), watched.do("left", repeat=4)
    assert first.row.note is None
    assert second.row.note == "reflex third: 0 1\nreflex third: 1 -2"


def test_one_that_never_stops_talking_is_obeyed_and_kept_within_bounds(watched: Watched) -> None:
    source = "def main(now):\n    return {'note': 'x' * 9999, 'stop': now['pos'][0] == 40}\n"
    write(watched.memory, "talker", source)
    done = watched.do("right", repeat=45, most=45)
    for _ in range(8):  # milestones call for another look
        if done.seen.state["pos"][0] == 40:
            break
        done = watched.do("right", repeat=45)
    assert "reflex talker said stop" in done.row.events
    assert len(done.row.note or "") < 20 * 500
    assert len([run for run in watched.memory.procedures.runs() if run.episodes == (done.row.id,)]) == 20


def test_a_disabled_one_is_not_asked_and_none_is_asked_without_a_watch(watched: Watched) -> None:
    write(watched.memory, "turn-back", TURN_BACK)
    watched.memory.procedures.disable("turn-back", "it is too careful [ep_000000]", kind="reflex")
    assert watched.do("right", repeat=3).row.last_step == 3
    watched.memory.procedures.enable("turn-back", kind="reflex")
    plain = Lived.do(watched, "walk", {"x": 5})
    assert plain.row.note is None


def test_a_run_is_watched_and_drops_the_rest_of_the_plan(memory: Memory) -> None:
    write(memory, "turn-back", TURN_BACK)
    environment, model = Corridors(), Always(("right", 4), ("left", 2))
    skills = Skills(environment, memory)
    watch = ReflexWatch(memory, skills)
    Run(environment, model, memory, steps=4, skills=skills, reflexes=watch).run()
    watch.close()
    rows = [(row.action_kind, row.last_step) for row in memory.find(Query(life=1)).rows]
    assert rows[:2] == [(None, 0), ("right", 2)]
    assert "left" not in {action for action, _ in rows}
    assert check(memory.layout).is_sound


def test_in_crafter_one_that_acts_turns_the_player_around(tmp_path: Path) -> None:
    """A real recorded environment: every third step, who walked west is sent back east."""
    source = (
        "def main(now):\n    if now['pos'][0] < now['pos_prev'][0]:\n"
        "        return {'note': 'west', 'act': [{'action': 'move_right', 'repeat': 2}]}\n"
    )
    with Memory.create(tmp_path / "m") as memory:
        write(memory, "eastward", source, every=3)
        environment = Crafter(size=(90, 70))
        skills = Skills(environment, memory)
        watch = ReflexWatch(memory, skills)
        Run(environment, Always(("move_left", 3)), memory, steps=30, seed=1, skills=skills, reflexes=watch).run()
        watch.close()
        spoken = memory.procedures.runs()
        assert spoken
        episode = memory.episode(spoken[0].episodes[0])
        assert "move_right" in [step.after for step in episode.steps()]
        assert "reflex eastward: west" in (episode.row.note or "")
        assert check(memory.layout).is_sound
    environment.close()
