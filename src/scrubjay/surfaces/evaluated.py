"""What an environment's own evaluator noted of a life, as a person reads it on a page.

It is no tool of a model: what a model knows of its work it must have seen.
"""

from __future__ import annotations

from scrubjay.memory.jsonio import Json

__all__ = ["step_of", "words"]


def words(row: Json) -> str:
    """One row in words: `saved lamp.kicad_sch: net +5V: R1.1 -> R2.1`, `score 1.000, doing nothing 0.667`."""
    if row.get("event") == "score":
        return _score(row)
    changes = row.get("changes")
    said = "; ".join(map(str, changes)) if isinstance(changes, list) else ""
    what = row.get("error") or said or "no change of the netlist"
    return f"{row.get('event', 'noted')} {row.get('file', '')}: {what}"


def step_of(row: Json) -> int | None:
    """The step after which it was noted, None where the row does not say."""
    step = row.get("step")
    return step if type(step) is int else None


def _score(row: Json) -> str:
    task = f"task {row.get('task', '')}: "
    if not isinstance(row.get("score"), (int, float)):
        return f"{task}not judged: {row.get('error', 'no reason is given')}"
    floor = row.get("floor")
    beside = f", doing nothing {floor:.3f}" if isinstance(floor, (int, float)) else ""
    checks = [(name.replace("_", " "), row.get(name)) for name in ("components", "nets", "net_names")]
    said = "".join(f", {name} {'pass' if passed else 'fail'}" for name, passed in checks if isinstance(passed, bool))
    return f"{task}score {row['score']:.3f} of 1{beside}{said}"
