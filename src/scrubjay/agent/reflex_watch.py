"""Reflexes while plans are executed: asked after every step, their say carried out and recorded.

It knows the agent's reflexes and the steps of an entry. Why the entry runs it does not know.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING

from scrubjay.agent.planning import entries_of
from scrubjay.agent.skills import Skills
from scrubjay.agent.stepping import Halt, Stepper
from scrubjay.errors import InvalidInput
from scrubjay.memory.jsonio import Json
from scrubjay.memory.procedures import Procedure, Run
from scrubjay.sandbox.reflexes import Reflex, Reflexes, Verdict

if TYPE_CHECKING:
    from scrubjay.memory.lives import Life
    from scrubjay.models.contract import Entry
    from scrubjay.public import Memory

__all__ = ["ReflexWatch"]

_MOST_EVERY = 400
_MOST_SAID = 20  # notes and rows of one reflex for one entry; it is obeyed all the same


class ReflexWatch:
    """The reflexes of one memory, asked while entries of a life run.

    One that says stop ends the entry and the plan; a note is kept with the episode; raw actions and atoms that it acts
    with are taken at once, as further steps of the same episode, unwatched. One that fails, or asks for what can't be
    done, is told in the episode once and not asked again until its script changes.
    """

    def __init__(self, memory: Memory, skills: Skills) -> None:
        self._memory, self._skills = memory, skills
        self._reflexes = Reflexes()
        self._known: dict[str, Procedure] = {}
        self._states: deque[Json] = deque(maxlen=1)
        self._life: Life | None = None
        self._turn = 0
        self._is_acting = False
        self._said: Counter[str] = Counter()

    def begin(self, life: Life, turn: int, state: Json) -> None:
        """An entry begins in this state: what is written under `mine/reflexes/` now is asked from its first step on."""
        found = [one for one in self._memory.procedures.list("reflex") if one.status != "disabled"]
        self._known = {one.name: one for one in found}
        self._reflexes.use(_reflex(one) for one in found)
        goes_on = bool(self._states) and self._states[-1] is state
        self._states = deque(self._states if goes_on else (state,), maxlen=self._reflexes.furthest + 1)
        self._life, self._turn, self._said = life, turn, Counter()

    def after(self, stepper: Stepper) -> None:
        """A step was taken: asks those whose step it is, and does as they say."""
        if self._life is None or not self._known or self._is_acting:
            return
        self._states.append(stepper.seen.state)
        for verdict in self._reflexes.ask(stepper.episode.last_step, self._states):
            self._obey(verdict, stepper)

    def _obey(self, verdict: Verdict, stepper: Stepper) -> None:
        before, error = stepper.taken, verdict.error
        if error is None:
            try:
                self._act(verdict, stepper)
            except InvalidInput as wrong:
                error = f"act: {wrong}"
                self._reflexes.drop(verdict.reflex)
        self._said[verdict.reflex] += 1
        is_told = self._said[verdict.reflex] <= _MOST_SAID
        if error is not None:
            stepper.episode.note(f"reflex {verdict.reflex} is not asked any more: {error}")
        elif verdict.note and is_told:
            stepper.episode.note(f"reflex {verdict.reflex}: {verdict.note}")
        if verdict.stop and stepper.stopped_by is None:
            stepper.stopped_by = verdict.reflex
            stepper.episode.event(f"reflex {verdict.reflex} said stop")
        if is_told or error is not None:
            self._keep(verdict.reflex, error, stepper, stepper.taken - before)

    def _act(self, verdict: Verdict, stepper: Stepper) -> None:
        if not verdict.act:
            return
        entries = entries_of({"plan": list(verdict.act)}, self._skills.actions, self._skills.check_atom)
        if self._said[verdict.reflex] < _MOST_SAID:
            stepper.episode.event(f"reflex {verdict.reflex} acts: {', '.join(map(_told, entries))}")
        self._is_acting = True
        try:
            for entry in entries:
                self._take(entry, stepper)
        except Halt:
            pass  # the life or the steps are at their end: the entry that runs ends by that as well
        finally:
            self._is_acting = False

    def _take(self, entry: Entry, stepper: Stepper) -> None:
        if entry.arguments is not None:
            self._skills.run_atom(entry.action, entry.arguments, stepper)
            return
        for _ in range(entry.repeat):
            stepper.take(entry.action)

    def _keep(self, name: str, error: str | None, stepper: Stepper, steps: int) -> None:
        """A row for each time that one spoke or failed; one that has nothing to say leaves none."""
        assert self._life is not None
        self._memory.procedures.record(
            Run(
                name,
                "success" if error is None else "failure",
                kind="reflex",
                episodes=(stepper.episode.id,),
                error=error,
                steps=steps,
                life=self._life.number,
                step=stepper.episode.last_step,
                turn=self._turn,
                digest=self._known[name].digest,
            )
        )

    def close(self) -> None:
        """Ends the sandbox's process."""
        self._reflexes.close()


def _reflex(one: Procedure) -> Reflex:
    assert one.source is not None  # one without a script is a flaw, and not listed
    assert one.function is not None
    every = one.metadata.get("every", "1")
    number = int(every) if every.isdecimal() and len(every) < 6 else 1
    return Reflex(one.name, one.source, one.function, min(max(number, 1), _MOST_EVERY))


def _told(entry: Entry) -> str:
    if entry.arguments is None:
        return f"{entry.action} x{entry.repeat}"
    return f"{entry.action}({', '.join(f'{name}={value}' for name, value in entry.arguments.items())})"
