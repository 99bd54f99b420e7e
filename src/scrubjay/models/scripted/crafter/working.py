"""The player's working memory: a short document of one life, read at the start of a turn and written at its end."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from scrubjay.errors import NotFound
from scrubjay.models.contract import Documents
from scrubjay.models.scripted.crafter.rules import Cell

__all__ = ["Plant", "Working", "load_working"]

_LINE = re.compile(r"^- (\w+): (.*?)(?: \[(ep_\d+)\])?$", re.MULTILINE)
_PLANT = re.compile(r"\((\d+), (\d+)\), seen near for (\d+) steps(?:, near again since step (\d+))?")
_AVOID = re.compile(r"\((\d+), (\d+)\) until step (\d+)")


@dataclass(frozen=True, slots=True)
class Plant:
    """A sapling of mine. It grows only while I am near: `grew` steps so far, and on since step `since`."""

    cell: Cell
    grew: int = 0
    since: int | None = None

    def age(self, step: int) -> int:
        """Steps it has grown by now."""
        return self.grew + (0 if self.since is None else step - self.since)


@dataclass(slots=True)
class Working:
    """What I am doing, what is unresolved. `avoid` holds targets that led nowhere, until a step."""

    path: str
    title: str
    intention: str = ""
    plant: Plant | None = None
    avoid: dict[Cell, int] = field(default_factory=dict)
    stored: dict[str, tuple[str, str | None]] = field(default_factory=dict)

    def save(self, documents: Documents, citation: str) -> None:
        """Writes the document where a line changed; such a line cites `citation`, the others keep theirs."""
        lines = self._lines()
        if lines == {name: text for name, (text, _) in self.stored.items()}:
            return
        text = f"# {self.title}\n\n"
        for name, line in lines.items():
            before, cited = self.stored.get(name, ("", None))
            text += f"- {name}: {line} [{cited if cited and before == line else citation}]\n"
        documents.write(self.path, text)

    def _lines(self) -> dict[str, str]:
        lines = {"intention": self.intention} if self.intention else {}
        if self.plant is not None:
            since = "" if self.plant.since is None else f", near again since step {self.plant.since}"
            x, z = self.plant.cell
            lines["plant"] = f"({x}, {z}), seen near for {self.plant.grew} steps{since}"
        if self.avoid:
            lines["avoid"] = "; ".join(f"({x}, {z}) until step {step}" for (x, z), step in self.avoid.items())
        return lines


def load_working(documents: Documents, life: int) -> Working:
    """The working memory of a life; an empty one where it has none yet."""
    working = Working(f"working/{life:04d}.md", f"Working memory, life {life}")
    try:
        text = documents.read(working.path)
    except NotFound:
        return working
    for name, line, cited in _LINE.findall(text):
        working.stored[name] = (line, cited or None)
    working.intention = working.stored.get("intention", ("", None))[0]
    found = _PLANT.fullmatch(working.stored.get("plant", ("", None))[0])
    if found is not None:
        x, z, grew, since = found.groups()
        working.plant = Plant((int(x), int(z)), int(grew), None if since is None else int(since))
    for x, z, step in _AVOID.findall(working.stored.get("avoid", ("", None))[0]):
        working.avoid[(int(x), int(z))] = int(step)
    return working
