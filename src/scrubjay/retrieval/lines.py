"""The line that shows an episode to an agent, in the layout of the published MFM tool, so that a prompt written for
it works unchanged.
"""

from __future__ import annotations

from scrubjay.memory.records import Row
from scrubjay.retrieval.cues import coordinate

__all__ = ["line_of"]


def line_of(row: Row, ground: tuple[int, int] = (0, 2)) -> str:
    """One line of cues; positions show the two axes on the ground of the row's world."""
    steps = "?" if row.first_step is None or row.last_step is None else f"{row.first_step}-{row.last_step}"
    parts = [row.id, f"steps {steps}", f"tags={','.join(row.tags) or '-'}{_position(row, ground)}"]
    parts += [f"action={row.action_kind or '-'}", row.summary]
    for label, value in (("saw", row.extra.get("perception")), ("effect", row.extra.get("effect")), ("note", row.note)):
        if value:
            parts.append(f"{label}: {value}")
    # A line stays a line, whatever the agent wrote into its note.
    return " ".join("  ".join([*parts, f"-> {row.path.rstrip('/')}/"]).splitlines())


def _position(row: Row, ground: tuple[int, int]) -> str:
    one, two = (coordinate(getattr(row, "xyz"[axis])) for axis in ground)
    return "" if one is None or two is None else f" pos=({one:.1f},{two:.1f})"
