"""Executing one entry of a plan as one episode: a raw action repeated, an atom, or a procedure.

It knows an environment, a life and what can be called; why the entry was chosen it does not know.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from scrubjay.agent.skills import Skills
from scrubjay.agent.stepping import Halt, Seen, Stepper
from scrubjay.agent.stopping import Stop
from scrubjay.environments.atoms import SUCCESS
from scrubjay.environments.contract import Environment
from scrubjay.errors import InvalidInput
from scrubjay.memory.jsonio import Json
from scrubjay.memory.records import Row
from scrubjay.models.contract import Entry
from scrubjay.sandbox.contract import Budget, Outcome

if TYPE_CHECKING:
    from scrubjay.agent.reflex_watch import ReflexWatch
    from scrubjay.memory.lives import Life
    from scrubjay.memory.recording import Recording

__all__ = ["Executed", "Executor"]

_MOST_RETURNED = 2000  # characters of JSON


@dataclass(frozen=True, slots=True)
class Executed:
    """How an entry went. `ending` is why the life ended with it (`died`, `truncated`), else None.

    `is_cut` says that the rest of the plan is out of date: the entry failed or was stopped, a milestone was reached,
    health was lost, a reflex said stop, or the life ended.
    """

    row: Row
    seen: Seen
    new: dict[str, int] = field(default_factory=dict)  # milestone -> step of the life
    is_cut: bool = False
    ending: str | None = None


class Executor:
    """Carries out entries in one environment, watched by reflexes where there are any."""

    def __init__(self, environment: Environment, skills: Skills, reflexes: ReflexWatch | None = None) -> None:
        self._environment, self._skills, self._reflexes = environment, skills, reflexes

    def execute(self, life: Life, entry: Entry, before: Seen, most: int, plan: Json, stop: Stop, turn: int) -> Executed:
        """Takes at most `most` steps, recorded as one episode.

        What a procedure returned is `returned` in its row. Raises InvalidInput, before the first step, for an entry
        that can't be carried out; a call of a procedure that was accepted before, and can't be any more, fails instead.
        """
        if self._reflexes is not None:
            self._reflexes.begin(life, turn, before.state)
        if entry.action in self._environment.actions and entry.arguments is None:
            return self._repeat(life, entry, before, most, plan, stop)
        if self._skills.is_procedure(entry.action):
            return self._call_procedure(life, entry, before, most, plan, stop, turn)
        problem = self._skills.check_atom(entry.action, entry.arguments or {})
        if problem is not None:
            raise self._impossible(entry, problem)
        return self._call_atom(life, entry, before, most, plan, stop)

    def _impossible(self, entry: Entry, problem: str) -> InvalidInput:
        known = ", ".join(self._environment.actions)
        return InvalidInput(f"plan: {entry.action}: {problem}; the raw actions are {known}")

    def _repeat(self, life: Life, entry: Entry, before: Seen, most: int, plan: Json, stop: Stop) -> Executed:
        if entry.repeat < 1:
            raise InvalidInput(f"plan: {entry.action} x{entry.repeat}: a count above 0 was expected")
        with life.episode(entry.action, plan=plan) as episode:
            stepper, done = self._stepper(episode, before, most, stop), 0
            while done < entry.repeat and not stepper.is_over and not stepper.calls_for_a_look:
                stepper.take(entry.action)
                done += 1
            is_cut = done < entry.repeat or stepper.ending is not None
            broken_off = "interrupted" if stop.asked else "stopped"
            row = episode.finish(stepper.ending or (broken_off if is_cut else None))
        return _executed(row, stepper, is_cut)

    def _call_atom(self, life: Life, entry: Entry, before: Seen, most: int, plan: Json, stop: Stop) -> Executed:
        arguments = entry.arguments or {}
        with life.episode(entry.action, arguments, plan=plan) as episode:
            stepper = self._stepper(episode, before, most, stop)
            try:
                outcome = self._skills.run_atom(entry.action, arguments, stepper)
            except Halt as halt:
                outcome = f"stopped: {halt}"
            row = episode.finish(stepper.ending or outcome)
        return _executed(row, stepper, outcome != SUCCESS)

    def _call_procedure(
        self, life: Life, entry: Entry, before: Seen, most: int, plan: Json, stop: Stop, turn: int
    ) -> Executed:
        arguments = entry.arguments or {}
        procedure = self._skills.procedure(entry.action, arguments)
        # The plan was accepted with another text of it: that costs the entry. Never accepted, it is a player's mistake.
        if isinstance(procedure, str) and not self._skills.forget(entry.action):
            raise self._impossible(entry, procedure)
        with life.episode(entry.action, arguments, plan=plan) as episode:
            stepper = self._stepper(episode, before, most, stop)
            if isinstance(procedure, str):
                ran = Outcome("failed", error=f"changed after the plan was accepted: {procedure}")
            else:
                ran = self._skills.run_procedure(procedure, arguments, stepper, _budget(most))
                self._skills.keep(procedure, arguments, ran, life, turn, episode.id)
            if ran.error:
                episode.note(ran.error)
            outcome = SUCCESS if ran.ok else ran.why
            row = episode.finish(stepper.ending or outcome, extra=_returned(ran.value))
        return _executed(row, stepper, not ran.ok)

    def _stepper(self, episode: Recording, before: Seen, most: int, stop: Stop) -> Stepper:
        if self._reflexes is None:
            return Stepper(self._environment, episode, before, most, stop)
        return Stepper(self._environment, episode, before, most, stop, self._reflexes.after)


def _budget(steps: int) -> Budget:
    """Ten seconds of its own, and a tenth of a second for each step that it may take: environments take their time."""
    return Budget(steps=steps, seconds=10 + steps / 10)


def _returned(value: Any) -> Json | None:
    """What a procedure returned, as a key of its episode's row; of a long value the beginning, as text."""
    if value is None:
        return None
    text = json.dumps(value, ensure_ascii=False)
    left_out = len(text) - _MOST_RETURNED
    return {"returned": value if left_out <= 0 else f"{text[:_MOST_RETURNED]}… ({left_out} characters more)"}


def _executed(row: Row, stepper: Stepper, is_cut: bool) -> Executed:
    return Executed(row, stepper.seen, stepper.new, is_cut or stepper.calls_for_a_look, stepper.ending)
