"""One call of a procedure by a person: a life of its own, with one turn of one entry, recorded as any other.

It knows an environment and a memory. Whether the call is a good idea it does not know.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.agent import turn_rows
from scrubjay.agent.beginning import awake, begin
from scrubjay.agent.execution import Executed, Executor
from scrubjay.agent.skills import Skills
from scrubjay.agent.stopping import Stop
from scrubjay.environments.contract import Environment
from scrubjay.errors import InvalidInput
from scrubjay.memory.jsonio import Json
from scrubjay.models.contract import Entry, Plan

if TYPE_CHECKING:
    from scrubjay.public import Memory

__all__ = ["call"]

_WHO = "person"


def call(environment: Environment, memory: Memory, name: str, arguments: Json, seed: int, steps: int) -> Executed:
    """Runs a procedure of the memory in the sandbox, from the first observation of a new life, at most `steps` steps.

    Raises NotFound where there is none of this name, InvalidInput before a life begins where the call can't work.
    """
    name = memory.procedures.get(name).name
    skills = Skills(environment, memory)
    try:
        problem = skills.check(name, arguments)
        if problem is not None:
            raise InvalidInput(problem)
        return _lived(environment, memory, skills, Entry(name, 1, arguments), seed, steps)
    finally:
        skills.close()


def _lived(environment: Environment, memory: Memory, skills: Skills, entry: Entry, seed: int, steps: int) -> Executed:
    environment.reset(seed=seed)  # says which world the seed is
    life, number = begin(environment, memory, f"Run the procedure {entry.action}", None, _WHO)
    with life, Stop() as stop:
        seen = awake(environment, life, number, seed)
        with life.episode(None, kind="initial", frame=seen.frame, state=seen.state) as first:
            first.finish()
        plan = Plan((entry,), f"{entry.action}, called by a person")
        position: Json = {"text": plan.intention, "step": 1, "of": 1}
        done = Executor(environment, skills).execute(life, entry, seen, steps, position, stop, 1)
        turn_rows.write(life, turn_rows.acted(1, 0, life.step, plan, [done]))
        life.end(done.ending or ("interrupted" if stop.asked else "ended"))
    return done
