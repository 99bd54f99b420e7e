"""What the tests of procedures share: one that can run, and a shell that writes files of `mine/`."""

from __future__ import annotations

from pathlib import Path

from scrubjay.memory.layout import Layout

CODE = "def cut_step(heading: float, n: int = 2) -> str:\n    return 'cut'\n"


def write(layout: Layout, path: str, text: str) -> None:
    """Writes a file of `mine/` as an agent with a shell does."""
    target = Path(layout.mine, path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)
