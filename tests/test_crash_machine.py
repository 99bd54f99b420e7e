"""Any order of living, dying, opening, asking, writing and losing the cache, against a model in memory."""

from __future__ import annotations

import math
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

import aftermath
from recorder import Sayings, frames, state
from scrubjay import Memory, Query
from scrubjay.memory.lives import Life
from scrubjay.memory.recording import Recording
from scrubjay.retrieval.locate import Locator

ACTIONS = ("go_to", "use_at", "wait")
NOTES = ("iron here (hypothesis)", "return OR (hypothesis)", "été 设备 (hypothesis)", "* (hypothesis)")


@dataclass
class Expected:
    """What the model knows of an episode."""

    ident: str
    life: int
    action: str
    keys: list[int]
    first_step: int
    outcome: str | None = None

    @property
    def last_step(self) -> int:
        return self.first_step + len(self.keys) - 1

    @property
    def start(self) -> tuple[float, float]:
        """x and z, where the action began."""
        return self.keys[0] * 0.5, -self.keys[0] * 0.25


@dataclass(eq=False)
class Living:
    """A life that runs, and its open episode."""

    life: Life
    steps: int = 0
    recording: Recording | None = None
    episode: Expected | None = None


@dataclass
class Model:
    """What must be in the memory."""

    indexed: dict[str, Expected] = field(default_factory=dict)
    dead: list[Expected] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class Lives(RuleBasedStateMachine):
    """One memory, used by up to three lives and by readers in between."""

    lives = Bundle("lives")

    @initialize()
    def create(self) -> None:
        self.folder = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
        self.memory = Memory.create(self.folder / "memory")
        self.cached = Locator(self.memory.layout, small=0, background=False)
        self.model, self.running = Model(), list[Living]()

    @rule(target=lives)
    def live(self) -> Living:
        self.running.append(Living(self.memory.live(task="try", world="w")))
        return self.running[-1]

    @rule(living=lives, action=st.sampled_from(ACTIONS), key=st.integers(0, 60), is_seen=st.booleans())
    def begin(self, living: Living, action: str, key: int, is_seen: bool) -> None:
        if living.recording is None:
            shown = frames(key) if is_seen else None
            living.recording = living.life.episode(action, {"key": key}, frame=shown, state=state(key))
            living.episode = Expected(living.recording.id, living.life.number, action, [key], living.steps)

    @rule(living=lives, far=st.integers(0, 3), is_seen=st.booleans())
    def step(self, living: Living, far: int, is_seen: bool) -> None:
        if living.recording is not None and living.episode is not None:
            key = living.episode.keys[-1] + far
            living.steps = living.recording.step("on", frame=frames(key) if is_seen else None, state=state(key))
            living.episode.keys.append(key)

    @rule(living=lives)
    def finish(self, living: Living) -> None:
        if living.recording is not None and living.episode is not None:
            row = living.recording.finish("success")
            assert row.last_step == living.steps == living.episode.last_step
            self.ends(living, "success")

    def ends(self, living: Living, outcome: str) -> None:
        """The open episode is in the index now."""
        if living.episode is not None:
            living.episode.outcome = outcome
            self.model.indexed[living.episode.ident] = living.episode
            living.recording = living.episode = None

    @rule(living=consumes(lives))
    def kill(self, living: Living) -> None:
        living.life.abandon()
        self.running.remove(living)
        if living.episode is not None:
            self.model.dead.append(living.episode)

    @rule(living=consumes(lives))
    def end(self, living: Living) -> None:
        living.life.end()
        self.running.remove(living)
        self.ends(living, "interrupted")

    @rule()
    def open_again(self) -> None:
        """Another process comes, and adopts what the dead left."""
        with Memory.open(self.memory.root) as other:
            assert sum(life.ended is None for life in other.lives()) == len(self.running)
        for episode in self.model.dead:
            episode.outcome = "interrupted"
            self.model.indexed[episode.ident] = episode
        self.model.dead.clear()

    @rule()
    def read(self) -> None:
        """A reader changes nothing."""
        before = aftermath.tree(self.memory.root)
        with Memory.open(self.memory.root, read_only=True) as reader:
            for ident, expected in self.model.indexed.items():
                assert [step.state["key"] for step in reader.episode(ident).steps()] == expected.keys
        if not any(living.recording for living in self.running):  # else their threads write frames
            assert aftermath.tree(self.memory.root) == before

    @rule(text=st.sampled_from(NOTES))
    def note(self, text: str) -> None:
        self.memory.documents.append("notes.md", text)
        self.model.notes.append(text)

    @rule()
    def lose_the_cache(self) -> None:
        shutil.rmtree(self.memory.layout.cache, ignore_errors=True)

    @rule(action=st.sampled_from(ACTIONS), last=st.integers(0, 3), x=st.integers(0, 40), first=st.integers(0, 9))
    def query(self, action: str, last: int, x: int, first: int) -> None:
        for life in {expected.life for expected in self.model.indexed.values()}:
            mine = [e for _, e in sorted(self.model.indexed.items()) if e.life == life]
            near = [e for e in mine if math.hypot(e.start[0] - x, e.start[1] + 2) <= 6]
            meets = [e for e in mine if e.last_step >= first and e.first_step <= first + 2]
            by_action = [e for e in mine if e.action == action]
            self.finds(Query(life=life), mine)
            self.finds(Query(life=life, action=action, last=last), by_action)
            self.finds(Query(life=life, near=(x, -2)), near)
            self.finds(Query(life=life, steps=(first, first + 2)), meets)
            self.finds(Query(life=life, grep=f"{action}(KEY="), by_action)

    def finds(self, query: Query, expected: list[Expected]) -> None:
        """The query finds these, with a derived index and without."""
        expected = [e for e in expected if e.ident in self.model.indexed]
        limit = query.last if query.last is not None else len(expected)
        wanted = [e.ident for e in expected][-limit:] if limit else []
        assert [row.id for row in self.memory.iterate(query)] == wanted, query
        assert [row.id for row in self.cached.iterate(query)] == wanted, query

    @invariant()
    def notes_are_all_there(self) -> None:
        if self.model.notes:
            lines = self.memory.documents.read("notes.md").splitlines()
            assert [line for line in lines if line] == self.model.notes

    def teardown(self) -> None:
        if not hasattr(self, "memory"):
            return
        try:
            self.cached.close()
            self.memory.close()
            with Memory.open(self.memory.root) as memory:
                known = {*self.model.indexed, *(episode.ident for episode in self.model.dead)}
                rows = [row for life in memory.lives() for row in memory.iterate(Query(life=life.life))]
                assert known <= {row.id for row in rows}
                aftermath.check_open(memory, Sayings())
        finally:
            shutil.rmtree(self.folder)


def run(examples: int, steps: int) -> None:
    """Runs the machine; what it finds is printed as a test."""
    checks = settings(
        max_examples=examples,
        stateful_step_count=steps,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(Lives, settings=checks)


def test_any_order_of_things() -> None:
    run(25, 30)


@pytest.mark.long
def test_any_order_of_things_at_length() -> None:
    run(1000, 60)
