"""What a life leaves to the next: milestones reached and places of death, each with the episode that shows it."""

from __future__ import annotations

import re

from scrubjay.errors import NotFound
from scrubjay.memory.records import Row
from scrubjay.models.contract import Turn
from scrubjay.models.scripted.crafter.rules import Cell
from scrubjay.retrieval.query import ALL_LIVES, Query

__all__ = ["Notes", "load_notes"]

_PATH = "notes.md"
_REACHED = re.compile(r"^- In (\S+), reached (\w+) in life \d+ \[ep_\d+\]$", re.MULTILINE)
_DIED = re.compile(r"^- In (\S+), died at \((\d+), (\d+)\) in life \d+ \[(ep_\d+)\]$", re.MULTILINE)


class Notes:
    """The notes on one world, as text and as what the player needs of them."""

    def __init__(self, world: str, text: str) -> None:
        self._world = world
        self._is_new = not text
        self.reached = {name for where, name in _REACHED.findall(text) if where == world}
        deaths = [found for found in _DIED.findall(text) if found[0] == world]
        self.deaths: list[Cell] = [(int(x), int(z)) for _, x, z, _ in deaths]
        self._cited = {citation for *_, citation in deaths}
        self._news: list[str] = []

    def learn(self, turn: Turn, citation: str) -> None:
        """Notes what this turn shows: milestones reached since, and at the start of a life how the last one ended."""
        for name in turn.milestones:
            if name not in self.reached:
                self.reached.add(name)
                self._news.append(f"- In {self._world}, reached {name} in life {turn.life} [{citation}]\n")
        if turn.turn == 1 and turn.life > 1:
            for row in turn.recall.find(Query(tag="died", life=ALL_LIVES, world=self._world)).rows:
                self._learn_death(row)

    def _learn_death(self, row: Row) -> None:
        if row.end is None or row.id in self._cited:
            return
        x, z = int(row.end[0]), int(row.end[2])
        self.deaths.append((x, z))
        self._news.append(f"- In {self._world}, died at ({x}, {z}) in life {row.life} [{row.id}]\n")

    def save(self, turn: Turn) -> None:
        """Appends what was learned."""
        if self._news:
            head = "# Notes\n\n" if self._is_new else ""
            turn.recall.documents.append(_PATH, head + "".join(self._news))


def load_notes(turn: Turn) -> Notes:
    """The notes on the world of this turn."""
    try:
        return Notes(turn.world.world, turn.recall.documents.read(_PATH))
    except NotFound:
        return Notes(turn.world.world, "")
