"""What a finished run's memory says: lives, what its turns used, what it weighs, and what the environment's own scorer
adds. All of it follows from the stored files, so that a run can be scored again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from statistics import fmean
from typing import TYPE_CHECKING

from scrubjay.agent.consolidations import CONSOLIDATION
from scrubjay.agent.turn_rows import WORKSHOP
from scrubjay.environments.named import load
from scrubjay.experiments.inspecting import inspection_counts
from scrubjay.memory import journal
from scrubjay.memory.jsonio import Json
from scrubjay.retrieval.contents import contents

if TYPE_CHECKING:
    from scrubjay.public import Memory

__all__ = ["SCORERS", "score"]

# What only one environment's states can tell.
SCORERS = {
    "crafter": "scrubjay.experiments.crafter_scores:crafter_scores",
    "kicad": "scrubjay.experiments.kicad_scores:kicad_scores",
}
_SUMS = ("requests", "input_tokens", "output_tokens", "images", "tool_calls", "resets", "refusals", "seconds")


def score(memory: Memory, environment: str) -> Json:
    """Lives, use, storage, and under `scores` what the environment's scorer says, where it has one."""
    scorer: Callable[[Memory], Json] | None = load(environment, SCORERS, "scorer") if environment in SCORERS else None
    use = _use(memory)
    return {
        "lives": [_life(life.life, life.outcome, life.extra) for life in memory.lives()],
        "use": use,
        "storage": _storage(memory),
        "skills": _skills(memory),
        "inspection": inspection_counts(memory) if use["inspected"] else None,
        "scores": {} if scorer is None else scorer(memory),
    }


def _life(number: int, outcome: str | None, extra: Json) -> Json:
    return {"life": number, "outcome": outcome, "steps": extra.get("steps"), "episodes": extra.get("episodes")}


def _use(memory: Memory) -> Json:
    """Sums over all turns, workshops and consolidations, and the length of an acting turn in steps."""
    rows = [row for life in memory.lives() for row in journal.rows(memory.layout.turns(life.life))]
    steps = [row["last_step"] - row["first_step"] for row in rows if "kind" not in row and "last_step" in row]
    costs = [row["cost"] for row in rows if row.get("cost") is not None]
    return {
        **{name: round(sum(row.get(name) or 0 for row in rows), 3) for name in _SUMS},
        "cost": round(sum(costs), 6) if costs else None,
        "inspected": sum(len(row.get("inspected") or ()) for row in rows),
        "turns": len(steps),
        "workshops": sum(row.get("kind") == WORKSHOP for row in rows),
        "consolidations": sum(row.get("kind") == CONSOLIDATION for row in rows),
        "steps_per_turn": round(fmean(steps), 3) if steps else None,
        "turn_lengths": [list(both) for both in sorted(Counter(steps).items())],
    }


def _skills(memory: Memory) -> Json:
    """Procedures: how many there are, their calls, and how many were called again, in a later life among them."""
    lives: dict[str, list[int]] = {}
    runs = [run for run in memory.procedures.runs() if run.kind == "procedure"]
    for run in runs:
        lives.setdefault(run.procedure, []).append(run.life or 0)
    return {
        "written": len(memory.procedures.list()),
        "called": len(runs),
        "succeeded": sum(run.outcome == "success" for run in runs),
        "reused": sum(len(found) > 1 for found in lives.values()),
        "reused_in_later_lives": sum(max(found) > found[0] for found in lives.values()),
    }


def _storage(memory: Memory) -> Json:
    found = contents(memory.layout)
    parts = {part.name: {"count": part.count, "files": part.files, "bytes": part.bytes} for part in found.parts}
    return {"bytes": found.bytes, "parts": parts}
