"""The memory of JARVIS-1: plans that worked, found by goal and by the look of the situation they were made in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.methods.contract import Traits
from scrubjay.methods.conversing import BARE
from scrubjay.methods.encoders.contract import cosines
from scrubjay.methods.prompted import Prompted
from scrubjay.methods.worked import goal_of, past_plans
from scrubjay.models.contract import Turn

if TYPE_CHECKING:
    from scrubjay.public import Memory

__all__ = ["Jarvis1"]

SHOWN = 5


class Jarvis1(Prompted):
    """Plans that worked."""

    traits = Traits(
        name="jarvis1",
        title="JARVIS-1: plans that worked",
        source="JARVIS-1 (2023), as Table 1 of the MFM paper lists it",
        store="plans in which a milestone was reached, with goal and first frame",
        carries="the plans of all lives",
        uses="nothing: what it recalls is put before a language model",
        offer=BARE,
        notes="A text and a frame encoder stand for the paper's CLIP; both likenesses count the same.",
        encodes=("text", "frames"),
    )

    def recalled(self, memory: Memory, turn: Turn) -> list[str]:
        """The plans most like the present goal and frame."""
        plans = [plan for plan in past_plans(memory) if plan.milestones and plan.episodes]
        if not plans:
            return []
        words = self.encoders.text.likeness(
            goal_of(turn), [f"{' '.join(plan.milestones)} {plan.intention}" for plan in plans]
        )
        frames = self.encoders.frames
        first = [frames.of_first(memory, memory.episode(plan.episodes[0]).row) for plan in plans]
        looks = cosines(frames.of_frame(turn.frame), first)
        ranked = sorted(
            zip(words, looks, plans, strict=True), key=lambda one: (-one[0] - one[1], -one[2].life, -one[2].turn)
        )
        return [plan.line() for _, _, plan in ranked[:SHOWN]]
