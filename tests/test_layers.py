"""The design's layers: each imports only those above it. And the public names are exactly `__all__`."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import scrubjay

SOURCE = Path(scrubjay.__file__).parent
LAYERS = [
    "version", "errors", "memory", "retrieval", "public", "statistics", "sandbox", "environments", "models", "agent",
    "parametric", "methods", "experiments", "interchange", "surfaces", "testing",
]  # fmt: skip


def imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("scrubjay."):
            found.add(node.module.split(".")[1])
        elif isinstance(node, ast.ImportFrom) and node.module == "scrubjay":
            found |= {"public" if alias.name[0].isupper() else alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {a.name.split(".")[1] for a in node.names if a.name.startswith("scrubjay.")}
    return found


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda p: str(p.relative_to(SOURCE)))
def test_a_layer_imports_only_those_above_it(path: Path) -> None:
    layer = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    if layer in ("__init__", "__main__"):
        return
    allowed = set(LAYERS[: LAYERS.index(layer) + 1]) | {"__version__"}
    assert imports(path) <= allowed, f"{path} reaches down into {imports(path) - allowed}"


def test_only_layout_spells_a_path_of_a_memory() -> None:
    """The names of a memory's files stand in one place."""
    names = {"index.jsonl", "grid.jsonl", "lives.jsonl", "worlds.jsonl", "inspections.jsonl", "begun.jsonl"}
    for path in sorted((SOURCE / "memory").rglob("*.py")):
        if path.name == "layout.py" or "checking" in path.parts:
            continue
        constants = {n.value for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Constant)}
        assert not names & {c for c in constants if isinstance(c, str)}, path


def test_public_names_are_all() -> None:
    for module in (scrubjay, importlib.import_module("scrubjay.errors")):
        for name in module.__all__:
            assert hasattr(module, name)
    assert dir(scrubjay) == sorted(scrubjay.__all__)
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        _ = scrubjay.nothing_of_the_kind


def test_importing_scrubjay_is_cheap() -> None:
    heavy = ("numpy", "PIL", "rich", "sqlite3", "gymnasium")
    code = f"import scrubjay, sys; scrubjay.Memory, scrubjay.Query; print([m for m in {heavy} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_every_error_is_in_the_tree_and_a_builtin() -> None:
    errors = importlib.import_module("scrubjay.errors")
    for name in errors.__all__:
        error = getattr(errors, name)
        assert issubclass(error, errors.ScrubjayError)
        assert name in (errors.__doc__ or "")
        if error is not errors.ScrubjayError:
            assert any(base.__module__ == "builtins" and base is not Exception for base in error.__mro__[2:-3])
