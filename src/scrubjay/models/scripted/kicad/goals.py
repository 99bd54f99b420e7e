"""What is to be done in a schematic, piece by piece. Lengths are mils (thousandths of an inch), the editor's unit."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Change", "Check", "Export", "Goal", "Label", "Locate", "Place", "Save", "Wire"]


@dataclass(frozen=True, slots=True)
class Change:
    """Give the symbol that the editor's search finds by `find` another value."""

    find: str
    value: str


@dataclass(frozen=True, slots=True)
class Locate:
    """Find a label; later goals count their positions from its left end."""

    find: str


@dataclass(frozen=True, slots=True)
class Place:
    """Place a symbol with its centre at (x, y): of the sheet, or from what was located. `key` opens the chooser."""

    symbol: str
    x: int
    y: int
    value: str | None = None
    key: str = "a"


@dataclass(frozen=True, slots=True)
class Wire:
    """Draw a wire between two points; it ends at a pin or at a wire."""

    x: int
    y: int
    to_x: int
    to_y: int


@dataclass(frozen=True, slots=True)
class Label:
    """Name the net at a point by a global label: every pin with a label of this text is of the same net.

    The text stands right of the point, or left of it.
    """

    text: str
    x: int
    y: int
    is_left: bool = False


@dataclass(frozen=True, slots=True)
class Check:
    """Run the electrical rules checker and read its report."""


@dataclass(frozen=True, slots=True)
class Export:
    """Export the netlist in KiCad's format into the folder of the project."""


@dataclass(frozen=True, slots=True)
class Save:
    """Save, and see it in the title bar."""


Goal = Change | Locate | Place | Wire | Label | Check | Export | Save
