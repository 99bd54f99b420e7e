"""What a task of the cua-bench dataset says, read from its Python file without executing it.

The text stands in a call of `Task(description=…, metadata={…})`; only literals and names bound to literals count.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from scrubjay.errors import Damaged

__all__ = ["Told", "told_in"]


@dataclass(frozen=True, slots=True)
class Told:
    """What a task tells the agent, and how hard its author says it is."""

    description: str
    difficulty: str


def told_in(path: Path) -> Told:
    """What the first task of the file says. Raises Damaged where the file is no Python or holds no task."""
    source = path.read_bytes()
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Damaged(f"no Python: {error}", file=str(path)) from None
    known = {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _name(node.func) == "Task":
            given = {keyword.arg: keyword.value for keyword in node.keywords}
            description = _literal(given.get("description"), known)
            if isinstance(description, str) and description.strip():
                return Told(description, _difficulty(given.get("metadata"), known))
    raise Damaged("no Task(description=…) with a text in it was found", file=str(path))


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _literal(node: ast.expr | None, known: Mapping[str, object]) -> object:
    if isinstance(node, ast.Constant):
        return node.value
    return known.get(node.id) if isinstance(node, ast.Name) else None


def _difficulty(node: ast.expr | None, known: Mapping[str, object]) -> str:
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if _literal(key, known) == "difficulty":
                return str(_literal(value, known) or "")
    return ""
