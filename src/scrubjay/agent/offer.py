"""What a way of remembering lets a model see and do: which tools, which parts of the observation block.

Methods differ in this and in nothing else that is shared: model, actions, budgets, brief, context.
"""

from __future__ import annotations

from dataclasses import dataclass

from scrubjay.agent.scope import EVERYTHING

__all__ = ["ALL_TOOLS", "Offer"]

ALL_TOOLS = ("episodes", "look", "sheet", "then_now", "compare", "answer", "documents")


@dataclass(frozen=True, slots=True)
class Offer:
    """`tools` are names of retrieval and document tools; `act` is always there.

    `files` are patterns of the documents that `documents` may read and write, as `Scope` has them. `recent`, `map`,
    `own`, `working` say which parts of the block are shown; `frames` whether a stored frame can be opened;
    `consolidates` and `procedures` whether there are such turns and such calls.
    """

    tools: tuple[str, ...] = ALL_TOOLS
    files: tuple[str, ...] = EVERYTHING
    recent: bool = True
    map: bool = True
    own: bool = True
    working: bool = True
    frames: bool = True
    consolidates: bool = True
    procedures: bool = True
