"""The memory of Reflexion: after a life that failed, a lesson in words; the last lessons stand before each turn."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from scrubjay.agent.conversation import Conversation
from scrubjay.errors import NotFound
from scrubjay.methods.contract import Traits
from scrubjay.methods.conversing import BARE, converse
from scrubjay.methods.recalling import Given, OfTurn
from scrubjay.methods.worked import past_plans
from scrubjay.models.chat import ChatModel
from scrubjay.models.contract import Recall, Turn

if TYPE_CHECKING:
    from scrubjay.agent.skills import Skills
    from scrubjay.memory.lives import Life
    from scrubjay.public import Memory

__all__ = ["Reflexion"]

PATH = "lessons.md"
SHOWN = 3


class Reflexion:
    """Lessons after failures."""

    traits = Traits(
        name="reflexion",
        title="Reflexion: lessons after failures",
        source="Reflexion (2023), as Table 1 of the MFM paper lists it",
        store="lessons in words, one document",
        carries="the lessons",
        uses="nothing: what it recalls is put before a language model",
        offer=replace(BARE, tools=("documents",), files=(PATH,)),
        notes="The last three are shown, as in the paper; the model writes one when it begins the life after.",
    )

    def recall(self, memory: Memory, life: Life) -> Recall:
        """Documents that last for one turn, no episode and no cell: this memory is put before a model, not asked."""
        return Given(OfTurn())

    def conversation(self, model: ChatModel, memory: Memory, skills: Skills) -> Conversation:
        """A language model that lives with this method."""
        return converse(self.traits, model, memory, skills, recalled=lambda turn: self.recalled(memory, turn))

    def recalled(self, memory: Memory, turn: Turn) -> list[str]:
        """The last lessons, and after a life that ended without a lesson, the request for one."""
        try:
            lessons = [line for line in memory.documents.read(PATH).splitlines() if line.startswith("- ")]
        except NotFound:
            lessons = []
        told = [f"lesson {line}" for line in lessons[-SHOWN:]]
        ended = [life for life in memory.lives() if life.ended is not None and life.life < turn.life]
        missing = ended[-1] if ended and not any(f"life {ended[-1].life}:" in line for line in lessons) else None
        if missing is not None:
            reached = ", ".join(_reached(memory, missing.life)) or "nothing"
            told.append(
                f"life {missing.life} ended ({missing.outcome}) after reaching {reached}. Before you act, append to "
                f"/memories/{PATH}: '- life {missing.life}: what went wrong, and what to do otherwise'."
            )
        return told


def _reached(memory: Memory, life: int) -> list[str]:
    return [name for plan in past_plans(memory) if plan.life == life for name in plan.milestones]
