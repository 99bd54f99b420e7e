"""What an environment's own evaluator said of the lives of a run, printed when the run is over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.surfaces.cli.plain import plain

if TYPE_CHECKING:
    from scrubjay.memory.jsonio import Json
    from scrubjay.public import Memory

__all__ = ["tell_scores"]


def tell_scores(memory: Memory, earlier: int, steps: int) -> None:
    """Prints the lives after the first `earlier` ones, where they were judged; `steps` is what each was given."""
    from scrubjay.agent.evaluating import evaluations

    told = [(life, rows) for life, rows in evaluations(memory).items() if life > earlier]
    for life, rows in told:
        for row in rows:
            print(plain(_score(life, row, steps) if row["event"] == "score" else _save(row)))
    scores = [rows[-1]["score"] for _, rows in told if rows[-1].get("score") is not None]
    if len(told) > 1 and scores:
        print(f"mean score {sum(scores) / len(scores):.3f} over {len(scores)} tasks, {steps} steps each")


def _save(row: Json) -> str:
    what = row.get("error") or "; ".join(row["changes"]) or "no change of the netlist"
    return f"  step {row['step']:>3} {row['event']} {row['file']}: {what}"


def _score(life: int, row: Json, steps: int) -> str:
    if row["score"] is None:
        return f"task {row['task']}: not judged: {row['error']}"
    floor = "not judged" if row["floor"] is None else f"{row['floor']:.3f}"
    checks = ", ".join(f"{name} {'pass' if row[name] else 'fail'}" for name in ("components", "nets", "net_names"))
    warnings = "".join(f"; {warning}" for warning in row["warnings"])
    return (
        f"task {row['task']}: score {row['score']:.3f} of 1, doing nothing {floor}; {checks}; {row['step']} of {steps} "
        f"steps, life {life}, {row['ending'] or 'cut off'}{warnings}"
    )
