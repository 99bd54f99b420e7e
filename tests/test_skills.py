"""Atoms and procedures as entries of a plan: checked before a step, recorded as episodes, their record kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from corridor import Corridor
from scrubjay import Memory
from scrubjay.agent.execution import Executed, Executor
from scrubjay.agent.skills import Skills
from scrubjay.agent.stepping import Seen
from scrubjay.agent.stopping import Stop
from scrubjay.environments.atoms import SUCCESS, Moves, atom, failure
from scrubjay.errors import InvalidInput
from scrubjay.memory.jsonio import Json
from scrubjay.memory.lives import Life
from scrubjay.models.contract import Entry


def walk(state: Json, x: int) -> Moves:
    """Walks east to x."""
    while state["pos"][0] < x:
        before = state["pos"][0]
        state = yield "right"
        if state["pos"][0] == before:
            return failure(f"no way beyond {before}")
    return SUCCESS


class Corridors(Corridor):
    """The corridor with one atom."""

    atoms = (atom(walk),)


class Lived:
    """A life in the corridor, and entries carried out in it."""

    def __init__(self, memory: Memory) -> None:
        self.environment, self.memory = Corridors(), memory
        frame, info = self.environment.reset(seed=0)
        self.seen = Seen.of(frame, info)
        self.life: Life = memory.live(world=self.environment.world, milestones=self.environment.milestones)
        self.life.episode(None, kind="initial", frame=frame, state=self.seen.state).finish()
        self.skills = Skills(self.environment, memory)

    def do(self, action: str, arguments: Json | None = None, most: int = 100) -> Executed:
        with Stop() as stop:
            entry = Entry(action, arguments=arguments)
            done = Executor(self.environment, self.skills).execute(self.life, entry, self.seen, most, {}, stop, 1)
        self.seen = done.seen
        return done


@pytest.fixture
def lived_in(memory: Memory) -> Iterator[Lived]:
    lived = Lived(memory)
    yield lived
    lived.skills.close()
    lived.life.end()


def write(memory: Memory, name: str, source: str) -> None:
    memory.procedures.create(name, "Walks somewhere.", code=source)


def test_an_atom_is_one_episode_with_its_outcome(lived_in: Lived) -> None:
    done = lived_in.do("walk", {"x": 2})
    assert done.row.outcome == SUCCESS
    assert done.row.summary.startswith("[ACTION] walk(x=2) -> 2 steps: moved 2.0")
    assert [step.after for step in lived_in.memory.episode(done.row.id).steps()] == [None, "right", "right"]


def test_a_wrong_call_costs_no_step(lived_in: Lived) -> None:
    for action, arguments in (("walk", {}), ("walk", {"x": "far"}), ("walk", {"x": 1, "y": 2}), ("fly", {})):
        with pytest.raises(InvalidInput, match="plan"):
            lived_in.do(action, arguments)
    assert lived_in.life.step == 0


def test_a_procedure_calls_atoms_and_its_record_is_kept(lived_in: Lived) -> None:
    write(lived_in.memory, "go-far", "def go_far(x: int) -> int:\n    walk(x=x)\n    act('right')\n    return x + 1\n")
    done = lived_in.do("go-far", {"x": 1})
    assert done.row.outcome == SUCCESS
    assert lived_in.seen.state["pos"][0] == 2
    (run,) = lived_in.memory.procedures.runs()
    assert (run.procedure, run.outcome, run.episodes, run.steps) == ("go-far", "success", (done.row.id,), 2)
    assert lived_in.skills.own()[0].endswith("(called 1, succeeded 1)")


def test_a_failure_is_the_outcome_with_the_procedures_own_traceback(lived_in: Lived) -> None:
    write(lived_in.memory, "go-wrong", "def go_wrong() -> None:\n    walk(x=1)\n    raise ValueError('lost')\n")
    done = lived_in.do("go-wrong")
    assert done.is_cut
    assert done.row.outcome == "failed"
    assert "lost" in (done.row.note or "")
    assert "line 3" in (done.row.note or "")


def test_types_are_checked_before_a_step_is_spent(lived_in: Lived) -> None:
    write(lived_in.memory, "mistyped", "def mistyped() -> None:\n    walk(x='far')\n")
    with pytest.raises(InvalidInput, match="mistyped"):
        lived_in.do("mistyped")
    assert lived_in.life.step == 0


def test_a_budget_ends_it(lived_in: Lived) -> None:
    write(lived_in.memory, "forever", "def forever() -> None:\n    while True:\n        act('wait')\n")
    done = lived_in.do("forever", most=5)
    assert done.row.last_step == 5
    assert done.row.outcome == "budget"
    assert lived_in.memory.procedures.runs()[0].outcome == "budget"


def test_a_disabled_procedure_is_not_called(lived_in: Lived) -> None:
    write(lived_in.memory, "old-way", "def old_way() -> None:\n    act('left')\n")
    lived_in.memory.procedures.disable("old-way", "it leads nowhere [ep_000000]")
    with pytest.raises(InvalidInput, match="disabled: it leads nowhere"):
        lived_in.do("old-way")


def test_names_of_atoms_and_raw_actions_are_told(lived_in: Lived) -> None:
    assert lived_in.skills.calls[0].startswith("walk(x: int)")
    unknown: Any = lived_in.skills.check("fly", {})
    assert "neither an action nor an atom nor a procedure" in unknown


@pytest.mark.parametrize("change", ["edited", "disabled", "deleted", "broken"])
def test_a_procedure_that_changed_after_it_was_accepted_fails_the_entry_and_not_the_run(
    lived_in: Lived, change: str
) -> None:
    write(lived_in.memory, "go-far", "def go_far(x: int) -> None:\n    walk(x=x)\n")
    assert lived_in.skills.check("go_far", {"x": 1}) is None
    with Memory.open(lived_in.memory.root) as other:
        if change == "edited":
            other.procedures.update("go-far", code="def go_far(far: float) -> None:\n    walk(x=1)\n")
        elif change == "disabled":
            other.procedures.disable("go-far", "it leads nowhere [ep_000000]")
        elif change == "deleted":
            other.documents.delete("procedures/go-far")
        else:
            Path(other.layout.mine, "procedures/go-far/SKILL.md").write_bytes(b"\xff")
    done = lived_in.do("go_far", {"x": 1})
    assert (done.row.outcome, done.is_cut, lived_in.life.step) == ("failed", True, 0)
    assert (done.row.note or "").startswith("changed after the plan was accepted: ")
    assert "go" in (done.row.note or "").removeprefix("changed after the plan was accepted: ")
    assert lived_in.memory.procedures.runs() == ()
    with pytest.raises(InvalidInput, match="plan"):  # nobody accepted it again
        lived_in.do("go_far", {"x": 1})


@pytest.mark.parametrize(
    ("code", "kept"),
    [
        ("return {'at': [x, 2.5], 'ok': True}", {"at": [1, 2.5], "ok": True}),
        ("return False", False),
        ("return 'a' * 5000", '"' + "a" * 1999 + "… (3002 characters more)"),
    ],
)
def test_what_a_procedure_returns_is_kept_with_its_episode(lived_in: Lived, code: str, kept: object) -> None:
    write(lived_in.memory, "tell", f"def tell(x: int) -> object:\n    {code}\n")
    done = lived_in.do("tell", {"x": 1})
    assert done.row.outcome == SUCCESS
    assert lived_in.memory.episode(done.row.id).row.extra["returned"] == kept


def test_a_procedure_that_returns_nothing_adds_no_key(lived_in: Lived) -> None:
    write(lived_in.memory, "quiet", "def quiet() -> None:\n    act('wait')\n")
    assert "returned" not in lived_in.do("quiet").row.extra
