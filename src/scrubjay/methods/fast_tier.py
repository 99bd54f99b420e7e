"""The fast tier of a method: the adapters of its memory before whoever else decides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.agent.conversation import Conversation
from scrubjay.models.contract import Model
from scrubjay.parametric.categories import load_categories
from scrubjay.parametric.policy import policy_of
from scrubjay.parametric.tiers import FastTier, TwoTiers, goal_by_memory

if TYPE_CHECKING:
    from scrubjay.agent.skills import Skills
    from scrubjay.public import Memory

__all__ = ["put_before", "tier_of", "two_tiers"]


def tier_of(memory: Memory, skills: Skills) -> FastTier | None:
    """The fast tier over this memory's adapters; None where no base was chosen for it."""
    policy = policy_of(memory)
    if policy is None:
        return None
    categories = load_categories(memory.layout)
    return FastTier(policy, memory, skills, categories, goal_by_memory(memory, categories))


def put_before(conversation: Conversation, memory: Memory, skills: Skills) -> Conversation:
    """The conversation, whose language model is asked only where the fast tier leaves a turn to it."""
    tier = tier_of(memory, skills)
    if tier is not None:
        conversation.first = tier.plan
    return conversation


def two_tiers(slow: Model, memory: Memory, skills: Skills) -> Model:
    """A player of rules behind the fast tier."""
    tier = tier_of(memory, skills)
    return slow if tier is None else TwoTiers(tier, slow)
