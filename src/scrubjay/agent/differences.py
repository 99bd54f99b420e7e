"""The difference between two states of an agent's documents, as a unified diff.

It knows paths and texts.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping

from scrubjay.errors import Damaged, InvalidInput, NotFound
from scrubjay.memory.documents import Documents

__all__ = ["between", "contents"]


def contents(documents: Documents) -> dict[str, str]:
    """The texts of all documents by their paths; what is no text is left out."""
    found = {}
    for path in documents.list():
        try:
            found[path] = documents.read(path)
        except (Damaged, InvalidInput, NotFound):
            continue
    return found


def between(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """Unified difference, document after document; empty where they are the same."""
    parts = []
    for path in sorted({*before, *after}):
        old, new = before.get(path, ""), after.get(path, "")
        names = (f"mine/{path}" if path in before else "/dev/null", f"mine/{path}" if path in after else "/dev/null")
        lines = difflib.unified_diff(old.splitlines(keepends=True), new.splitlines(keepends=True), *names)
        parts += [line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines]
    return "".join(parts)
