"""Living: observe, decide, execute, life after life, until the steps are spent.

It knows an environment, a model and a memory by their contracts. All it keeps between turns is the observation.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from scrubjay.agent import turn_rows
from scrubjay.agent.beginning import awake, begin
from scrubjay.agent.evaluating import evaluated
from scrubjay.agent.execution import Executed, Executor
from scrubjay.agent.planning import MOST_STEPS
from scrubjay.agent.progress import Progress, Reached
from scrubjay.agent.skills import Skills
from scrubjay.agent.stepping import MILESTONE, Seen
from scrubjay.agent.stopping import Stop
from scrubjay.environments.contract import Environment
from scrubjay.errors import InvalidInput
from scrubjay.memory.records import Row
from scrubjay.models.contract import Model, Plan, Recall, Turn
from scrubjay.retrieval.query import ALL_LIVES, Query

if TYPE_CHECKING:
    from scrubjay.agent.consolidation_turns import ConsolidationTurns
    from scrubjay.agent.reflex_watch import ReflexWatch
    from scrubjay.agent.workshop import WorkshopTurns
    from scrubjay.memory.lives import Life
    from scrubjay.public import Memory

__all__ = ["Run"]


class Run:
    """A model that lives in an environment, with a memory, for a number of steps.

    After a death it begins the next life in the same world, at most `lives` of them. Lives of the world that the
    memory holds already count: each further one has other chances. `recall` gives what the model is told of the memory
    in a turn, all of it where none is given. `reflexes` watch what is executed; `workshop` is held before the first
    turn of a life that is not the memory's first; `consolidation` is asked after every turn and at the end of every
    life whether it is time. `watch` is told after every turn.
    """

    def __init__(
        self,
        environment: Environment,
        model: Model,
        memory: Memory,
        *,
        task: str = "",
        method: str | None = None,
        seed: int = 0,
        steps: int = 2000,
        lives: int | None = None,
        skills: Skills | None = None,
        recall: Callable[[Memory, Life], Recall] = lambda memory, life: memory,
        reflexes: ReflexWatch | None = None,
        workshop: WorkshopTurns | None = None,
        consolidation: ConsolidationTurns | None = None,
        watch: Callable[[Progress], None] = lambda progress: None,
    ) -> None:
        self._environment, self._model, self._memory, self._recall = environment, model, memory, recall
        self._task, self._method, self._seed, self._lives, self._watch = task, method, seed, lives, watch
        self._workshop, self._consolidation = workshop, consolidation
        self._began = time.monotonic()
        self._unchanged = 0
        self._stop: Stop | None = None
        self._skills = skills or Skills(environment, memory)
        self._executor = Executor(environment, self._skills, reflexes)
        self._progress = Progress(0, 0, steps, 0, 0, (), (), None, 0.0)

    def run(self) -> Progress:
        """Lives until the steps or lives are spent, or until Ctrl-C; returns how it went.

        A Ctrl-C ends the open episode as interrupted, and the life; nothing is lost, and another run goes on.
        """
        self._environment.reset(seed=self._seed)  # says which world the seed is
        world = self._environment.world.world
        is_known = any(life.world == world for life in self._memory.lives())
        self._progress = replace(self._progress, earlier=self._reached_earlier(world) if is_known else frozenset())
        with Stop() as stop:
            self._stop, number = stop, 0
            while self._steps_left and number != self._lives and not stop.asked:
                number += 1
                self._live(stop)
            if stop.asked:
                self._tell(replace(self._progress, is_stopped=True))
        return self._progress

    @property
    def is_stopping(self) -> bool:
        """Whether a Ctrl-C asked it to stop; what waits within a turn gives up then."""
        return self._stop is not None and self._stop.asked

    def _reached_earlier(self, world: str) -> frozenset[str]:
        rows = self._memory.iterate(Query(tag="milestone", world=world, life=ALL_LIVES))
        said = {event.removeprefix(MILESTONE) for row in rows for event in row.events if event.startswith(MILESTONE)}
        return frozenset(said.intersection(self._environment.milestones))

    @property
    def _steps_left(self) -> int:
        return self._progress.steps - self._progress.step

    def _live(self, stop: Stop) -> None:
        life, number = begin(self._environment, self._memory, self._task, self._method, self._model.name)
        with life, evaluated(self._environment, self._memory, life):
            seen = awake(self._environment, life, number, self._seed)
            with life.episode(None, kind="initial", frame=seen.frame, state=seen.state) as first:
                recent: tuple[Row, ...] = (first.finish(),)
            health = seen.state.get("health")
            self._tell(replace(self._progress, life=life.number, episodes=self._progress.episodes + 1, health=health))
            self._unchanged = 0
            if self._workshop is not None and not stop.asked:
                self._workshop.hold(life, self._shown(life, 0, seen, recent))
            ending, turn = None, 0
            while ending is None:
                turn += 1
                seen, recent, ending = self._turn(life, turn, seen, recent, stop)
            if ending == "died":
                self._tell(replace(self._progress, deaths=(*self._progress.deaths, self._progress.step)))
            if self._consolidation is not None and not stop.asked:
                self._consolidation.at_end(life.number, ending)
            life.end(ending)

    def _turn(
        self, life: Life, number: int, seen: Seen, recent: tuple[Row, ...], stop: Stop
    ) -> tuple[Seen, tuple[Row, ...], str | None]:
        """One turn; returns what is seen after it, its episodes, and why the life ends with it, if it does."""
        first_step, before = life.step, self._progress
        plan = self._model.decide(self._shown(life, number, seen, recent))
        if not isinstance(plan, Plan):
            raise InvalidInput(
                f"plan: {self._model.name} decided {type(plan).__name__}; a scrubjay.models.contract.Plan was expected"
            )
        if not plan.entries:
            raise InvalidInput(f"plan: {self._model.name} handed in no entry; waiting is an action as well")
        done: list[Executed] = []
        for place, entry in enumerate(plan.entries, 1):
            if stop.asked or not self._steps_left:
                break
            position = {"text": plan.intention, "step": place, "of": len(plan.entries)}
            most = min(self._steps_left, MOST_STEPS - (life.step - first_step))
            if most < 1:
                break
            done.append(self._executor.execute(life, entry, seen, most, position, stop, number))
            seen = done[-1].seen
            self._count(life, done[-1], plan)
            if done[-1].is_cut:
                break
        self._unchanged = 0 if any(_changed(one.row) for one in done) else self._unchanged + 1
        row, rows = turn_rows.acted(number, first_step, life.step, plan, done), tuple(one.row for one in done)
        turn_rows.write(life, row)
        if self._consolidation is not None and not stop.asked:
            self._consolidation.after_turn(life.number, row, rows)
        self._tell(replace(self._progress, turns=before.turns + 1))
        return seen, rows, self._ending(done, stop)

    def _ending(self, done: list[Executed], stop: Stop) -> str | None:
        if done and done[-1].ending is not None:
            return done[-1].ending
        if stop.asked:
            return "interrupted"
        return None if self._steps_left else "budget spent"

    def _shown(self, life: Life, number: int, seen: Seen, recent: tuple[Row, ...]) -> Turn:
        return Turn(
            task=self._task,
            life=life.number,
            turn=number,
            step=life.step,
            steps_left=self._steps_left,
            world=life.world,
            frame=seen.frame,
            state=seen.state,
            milestones=seen.milestones,
            recent=recent,
            recall=self._recall(self._memory, life),
            actions=self._environment.actions,
            calls=self._skills.calls,
            known_milestones=self._environment.milestones,
            unchanged=self._unchanged,
        )

    def _count(self, life: Life, executed: Executed, plan: Plan) -> None:
        row, progress = executed.row, self._progress
        first, last = row.first_step or 0, row.last_step or 0
        known = {one.milestone for one in progress.reached}
        new = tuple(
            Reached(name, progress.step + step - first, life.number, row.id)
            for name, step in executed.new.items()
            if name not in known
        )
        self._progress = replace(
            progress,
            step=progress.step + last - first,
            episodes=progress.episodes + 1,
            reached=progress.reached + new,
            health=executed.seen.state.get("health"),
            intention=plan.intention,
        )

    def _tell(self, progress: Progress) -> None:
        self._progress = replace(progress, seconds=time.monotonic() - self._began)
        self._watch(self._progress)


_CHANGES = frozenset({"inventory_changed", "milestone", "broke", "opened", "died"})


def _changed(row: Row) -> bool:
    """True where the environment verifies that something is otherwise after an episode: place, things, milestones."""
    return bool(_CHANGES.intersection(row.tags)) or (row.position is not None and row.end != row.position)
