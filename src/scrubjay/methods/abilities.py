"""What a method's recall can do, found by asking it: the columns of Table 1 of the MFM paper that code can check.

It asks a memory in which something small happened. Only tools, procedures and what is put before a model are read off
the method itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput, NotFound
from scrubjay.methods.contract import Method
from scrubjay.retrieval.query import Query

if TYPE_CHECKING:
    from scrubjay.memory.lives import Life
    from scrubjay.methods.encoders.contract import Frame
    from scrubjay.public import Memory

__all__ = ["Abilities", "abilities", "abilities_table"]

_NOTE, _ACTION = "abilities.md", "walk_somewhere"


@dataclass(frozen=True, slots=True)
class Abilities:
    """Whether episodes are found by words, by place, by the look of a picture, and those of earlier lives; whether a
    stored frame can be opened, cells are kept, a document is there in the next turn and in the next life, procedures
    can be called, and something is put before a model unasked.
    """

    by_words: bool
    by_place: bool
    by_picture: bool
    of_earlier_lives: bool
    opens_frames: bool
    cells: bool
    notes_next_turn: bool
    notes_next_life: bool
    procedures: bool
    unasked: bool


def abilities(method: Method, memory: Memory) -> Abilities:
    """What `method` can do, asked of a memory that is empty: two lives of an episode each are recorded in it."""
    import numpy as np

    from scrubjay.retrieval.places import describe

    frame = np.arange(48 * 64 * 3, dtype=np.uint32).reshape(48, 64, 3).astype(np.uint8)
    offer, picture = method.traits.offer, describe(frame)
    with memory.live("probe", "probe") as life:
        _record(life, frame)
        method.recall(memory, life).documents.append(_NOTE, "- kept\n")
        here = {
            "by_words": _finds(method, memory, life, Query(grep=_ACTION, life=life.number)),
            "by_place": _finds(method, memory, life, Query(near=(0, 0), radius=2.0, life=life.number)),
            "by_picture": _finds(method, memory, life, Query(like=picture, life=life.number)),
            "cells": bool(method.recall(memory, life).grid("probe").rows()),
            "notes_next_turn": _has_note(method, memory, life),
        }
    with memory.live("probe", "probe") as later:
        _record(later, frame)
        return Abilities(
            **here,
            of_earlier_lives=_finds(method, memory, later, Query(grep=_ACTION, previous=True)),
            opens_frames=offer.frames and bool({"look", "compare"} & set(offer.tools)),
            notes_next_life=_has_note(method, memory, later),
            procedures=offer.procedures,
            unasked=hasattr(method, "recalled"),
        )


def _record(life: Life, frame: Frame) -> None:
    with life.episode(_ACTION, frame=frame, state={"pos": [0, 0, 0], "yaw": 0}) as episode:
        episode.step(_ACTION, frame=frame, state={"pos": [1, 0, 0], "yaw": 0})
        episode.finish()


def _finds(method: Method, memory: Memory, life: Life, query: Query) -> bool:
    try:
        return bool(method.recall(memory, life).find(query).rows)
    except InvalidInput:
        return False


def _has_note(method: Method, memory: Memory, life: Life) -> bool:
    try:
        return bool(method.recall(memory, life).documents.read(_NOTE))
    except NotFound:
        return False


def abilities_table(found: Iterable[tuple[str, Abilities]]) -> str:
    """A row per method in Markdown."""
    names = [one.name for one in fields(Abilities)]
    lines = [
        "| method | " + " | ".join(name.replace("_", " ") for name in names) + " |",
        "| --- " * (len(names) + 1) + "|",
    ]
    for method, one in found:
        lines.append(f"| `{method}` | " + " | ".join("yes" if getattr(one, name) else "–" for name in names) + " |")
    return "\n".join(lines)
