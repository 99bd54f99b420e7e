"""Beginning a life in an environment: its number in the memory, the how many-th of its world it is, what it sees first.

It knows an environment and a memory; what is done in the life it does not know.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.agent.stepping import Seen
from scrubjay.environments.contract import Environment
from scrubjay.memory.disk import exclusive

if TYPE_CHECKING:
    from scrubjay.memory.lives import Life
    from scrubjay.public import Memory

__all__ = ["awake", "begin"]


def begin(environment: Environment, memory: Memory, task: str, method: str | None, model: str) -> tuple[Life, int]:
    """A life of the memory in the environment's present world, and the how many-th of that world it is.

    Of two that begin at once, in any two processes, one is later.
    """
    with exclusive(memory.layout.lock_of(memory.layout.lives_folder)):
        life = memory.live(
            task,
            environment.world,
            method=method,
            model=model,
            milestones=environment.milestones,
            deriver=getattr(environment, "deriver", "default"),
        )
        return life, sum(one.world == life.world.world for one in memory.lives() if one.life <= life.number)


def awake(environment: Environment, life: Life, number: int, seed: int) -> Seen:
    """The first observation of the `number`-th life of its world."""
    frame, info = environment.reset(seed=seed, options={"life": number})
    if environment.world.world != life.world.world:
        life.enter(environment.world)
    return Seen.of(frame, info)
