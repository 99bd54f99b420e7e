"""What the evaluator of KiCad's tasks noted in a run: the reward of every life, beside that of doing nothing.

Everything is read from the rows that were kept beside the lives; what a player wrote or claimed does not count.
"""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from scrubjay.agent.evaluating import evaluations
from scrubjay.memory.jsonio import Json

if TYPE_CHECKING:
    from scrubjay.public import Memory

__all__ = ["kicad_scores"]


def kicad_scores(memory: Memory) -> Json:
    """`reward` and `floor` (means over the lives that could be judged), `unjudged` (lives), and a row per life."""
    rows = [_of(life, noted) for life, noted in evaluations(memory).items()]
    judged = [row for row in rows if row["score"] is not None]
    return {
        "reward": fmean(row["score"] for row in judged) if judged else None,
        "floor": fmean(row["floor"] for row in judged) if judged else None,
        "unjudged": len(rows) - len(judged),
        "tasks": rows,
    }


def _of(life: int, noted: list[Json]) -> Json:
    last = next((row for row in reversed(noted) if row["event"] == "score"), {})
    kept = {name: last.get(name) for name in ("task", "score", "floor", "ending", "error")}
    return {"life": life, **kept, "steps": last.get("step"), "saves": sum(row["event"] != "score" for row in noted)}
