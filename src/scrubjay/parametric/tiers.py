"""Two tiers in the agent's loop: a fast policy that writes procedures, before the slow model.

A task is routed to a category. Where that has an adapter, the fast policy writes a procedure, the sandbox checks it,
the loop runs it, and a verifier judges the episodes at the next turn. Else, or after a failure, the slow model acts;
its success or correction is recorded like everything, and so is there for the next cycle.
"""

from __future__ import annotations

import contextlib
import hashlib
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from scrubjay.errors import Conflict, Damaged, InvalidInput, ModelUnavailable, NotFound, ScrubjayError
from scrubjay.memory.evidence import read_record
from scrubjay.memory.jsonio import Json
from scrubjay.memory.procedure_files import Procedure, normal_name
from scrubjay.models.chat import Usage
from scrubjay.models.contract import Account, Entry, Model, Plan, Turn
from scrubjay.parametric.categories import Categories
from scrubjay.parametric.contexts import comparable, normal, prompt_of
from scrubjay.parametric.generated import Parsed, parse
from scrubjay.parametric.policy import Policy
from scrubjay.parametric.staging import stage
from scrubjay.parametric.verification import Verifiers, evidence_of

if TYPE_CHECKING:
    from scrubjay.agent.skills import Skills
    from scrubjay.public import Memory

__all__ = ["FAST", "FastTier", "Tally", "TwoTiers", "goal_by_memory"]

FAST = "fast tier"
_REST = 10  # turns in which what failed is not asked again: the same words give the same procedure
Goal = Callable[[Turn], str | None]


@dataclass(slots=True)
class Tally:
    """What the fast tier did: turns it took, of them verified; turns it left to the slow model, by reason."""

    taken: int = 0
    verified: int = 0
    left: dict[str, int] = field(default_factory=dict)

    def leave(self, why: str) -> None:
        """Counts a turn left to the slow model."""
        self.left[why] = self.left.get(why, 0) + 1


@dataclass(frozen=True, slots=True)
class _Tried:
    goal: str
    category: str
    life: int
    asked: str


class FastTier:
    """The fast policy of one memory, in one run."""

    def __init__(
        self,
        policy: Policy,
        memory: Memory,
        skills: Skills,
        categories: Categories,
        goal: Goal,
        verifiers: Verifiers | None = None,
    ) -> None:
        self._policy, self._memory, self._skills = policy, memory, skills
        self._categories, self._goal, self._verifiers = categories, goal, verifiers or Verifiers()
        self._tried: _Tried | None = None
        self._failed_at: dict[tuple[int, str], int] = {}  # by life and prompt: the turn
        self.tally = Tally()

    def plan(self, turn: Turn) -> Plan | None:
        """The plan of this turn, or None: the slow model acts."""
        if self._failed(turn):
            return self._leave("the fast attempt before failed")
        goal = self._goal(turn)
        category = None if goal is None else self._categories.of(goal)
        if goal is None or category is None:
            return self._leave("no category")
        try:
            if category not in self._policy.categories:
                return self._leave("no adapter")
        except Damaged as error:
            return self._unusable(category, error)
        return self._written(turn, goal, category)

    def _leave(self, why: str) -> Plan | None:
        self.tally.leave(why)
        return None

    def _unusable(self, category: str, error: ScrubjayError) -> Plan | None:
        """An adapter that is broken, of another base, or unknown to its server costs no life; a person is told."""
        warnings.warn(f"the fast tier leaves {category} to the slow model: {error}", RuntimeWarning, stacklevel=2)
        return self._leave("its adapter can't be used")

    def _failed(self, turn: Turn) -> bool:
        """Verifies the attempt of the turn before; true where it failed."""
        tried, self._tried = self._tried, None
        if tried is None or tried.life != turn.life or not turn.recent:
            return False
        try:
            records = [read_record(self._memory.layout, row.id)[0] for row in turn.recent]
        except (NotFound, Damaged):
            return True
        ok = self._verifiers.verify(tried.category, tried.goal, evidence_of(records)).ok
        self.tally.verified += ok
        if not ok:
            self._failed_at[(tried.life, tried.asked)] = turn.turn
        return not ok

    def _written(self, turn: Turn, goal: str, category: str) -> Plan | None:
        prompt = prompt_of(goal, turn.state, _picture(turn) if self._policy.sees else None)
        if turn.turn - self._failed_at.get((turn.life, prompt.text), -_REST) < _REST:
            return self._leave("it failed from such a state lately")
        try:
            generation = self._policy.generate(category, prompt)
        except ModelUnavailable:
            return self._leave("no answer from its server")
        except (InvalidInput, NotFound, Damaged) as error:
            return self._unusable(category, error)
        parsed = parse(generation)
        if parsed.failure is not None:
            return self._leave(parsed.failure)
        try:
            name = self._kept(parsed, goal, category)
        except (InvalidInput, Conflict):
            return self._leave("no procedure can be made of it")
        if self._skills.check(name, {}) is not None:
            return self._leave("refused by the sandbox")
        self._tried = _Tried(goal, category, turn.life, prompt.text)
        self.tally.taken += 1
        usage = Usage(requests=1, input_tokens=generation.prompt_tokens, output_tokens=generation.new_tokens)
        account = Account(usage, seconds=generation.seconds, events=(f"{FAST}: {category}",))
        return Plan((Entry(name, arguments={}),), goal, account)

    def _kept(self, parsed: Parsed, goal: str, category: str) -> str:
        """The name of the procedure with this very source; a new one where none has it.

        So a procedure that was internalised keeps its file and its citations: the adapter writes it, and it is called
        by its own name. Raises InvalidInput, Conflict.
        """
        name, code = _named(parsed, category)
        other, wrapped = _anonymous(parsed, category)
        texts = {one.strip() for one in (parsed.source, code, wrapped)}
        for one in self._candidates(name, other):
            if one.source is not None and one.source.strip() in texts:
                if one.status == "disabled":
                    raise InvalidInput(f"{one.name} is disabled: {one.reason}")
                return one.name
        try:
            self._memory.procedures.create(name, goal, code=code, category=category)
        except Conflict:  # another procedure has the name of this function
            self._memory.procedures.create(other, goal, code=wrapped, category=category)
            return other
        return name

    def _candidates(self, *names: str) -> Iterator[Procedure]:
        """Those of these names, then all: thousands are read in seconds, and a turn waits for it."""
        for name in names:
            with contextlib.suppress(NotFound, InvalidInput):
                yield self._memory.procedures.get(name)
        yield from self._memory.procedures.list()


def _named(parsed: Parsed, category: str) -> tuple[str, str]:
    """Name and code of the procedure: by its function, where that is a name of its own."""
    if parsed.function in (None, "main", "call", "plan"):
        return _anonymous(parsed, category)
    return normal_name(parsed.function), parsed.source


def _anonymous(parsed: Parsed, category: str) -> tuple[str, str]:
    """By what it is of, and its digest; such a procedure is called by `main`."""
    name = f"{category}-{hashlib.sha256(parsed.source.strip().encode()).hexdigest()[:8]}"
    if parsed.function == "main":
        return name, parsed.source
    return name, f"{parsed.source.rstrip()}\n\n\ndef main():\n    return {parsed.function}()\n"


def _picture(turn: Turn) -> bytes:
    import io

    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(turn.frame).save(buffer, "PNG")
    return buffer.getvalue()


class TwoTiers:
    """A Model: the fast tier first, then the slow model."""

    def __init__(self, tier: FastTier, slow: Model) -> None:
        self._tier, self._slow = tier, slow

    @property
    def name(self) -> str:
        """The slow model's name: lives and reports are of it, with the fast tier named by the method."""
        return self._slow.name

    def decide(self, turn: Turn) -> Plan:
        """The plan of the tier that acts."""
        return self._tier.plan(turn) or self._slow.decide(turn)


def goal_by_memory(memory: Memory, categories: Categories) -> Goal:
    """What to be at next: the task, where that is of a category; else the next milestone by the order of memory.

    That is the first, in the order in which they were first reached in any life, that this life has not reached and
    that was done before from a state comparable to the present one. What was done is read once, at the first turn.
    """
    done: dict[str, list[Json]] = {}
    order: list[str] | None = None

    def goal(turn: Turn) -> str | None:
        nonlocal order
        if categories.of(turn.task) is not None:
            return turn.task
        if order is None:
            order = _reached(memory)
            for one in stage(memory, categories).successes:
                done.setdefault(normal(one.context.task), []).append(one.context.state)
        for milestone in order:
            if milestone in turn.known_milestones and milestone not in turn.milestones:
                text = milestone.replace("_", " ")
                if any(comparable(state, turn.state) for state in done.get(normal(text), ())):
                    return text
        return None

    return goal


def _reached(memory: Memory) -> list[str]:
    from scrubjay.retrieval.query import ALL_LIVES, Query

    rows = memory.iterate(Query(tag="milestone", life=ALL_LIVES))
    named = (event.removeprefix("milestone ") for row in rows for event in row.events if event.startswith("milestone "))
    return list(dict.fromkeys(named))
