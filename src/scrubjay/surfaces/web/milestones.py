"""Which milestones an episode reached, by its record.

Kept per episode as long as its file stays the same one, so that a removed episode says nothing any more.
"""

from __future__ import annotations

import os

from scrubjay.errors import ScrubjayError
from scrubjay.memory.deriving.default import milestones_of
from scrubjay.memory.evidence import read_record
from scrubjay.memory.layout import Layout, episode_id
from scrubjay.surfaces.web.fresh import state_of

__all__ = ["Milestones"]

_MOST = 20_000


class Milestones:
    """The names of the milestones of episodes of one memory."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._kept: dict[int, tuple[object, tuple[str, ...]]] = {}

    def of(self, number: int) -> tuple[str, ...]:
        """The milestones that the episode's last state says were reached and its first does not."""
        ident = episode_id(number)
        state = state_of([os.path.join(self._layout.episode(ident), Layout.EPISODE_RECORD)])
        kept = self._kept.get(number)
        if kept is None or kept[0] != state:
            if len(self._kept) >= _MOST:
                self._kept.clear()
            kept = self._kept[number] = (state, self._read(ident))
        return kept[1]

    def _read(self, ident: str) -> tuple[str, ...]:
        try:
            record = read_record(self._layout, ident)[0]
            before, after = (milestones_of(record[edge].get("state") or {}) for edge in ("start", "end"))
        except (ScrubjayError, AttributeError, TypeError):
            return ()
        return tuple(name for name in after if name not in before)
