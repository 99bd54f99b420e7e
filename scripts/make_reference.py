"""Writes docs/reference/: the commands from their own `--help`, the Python face from its docstrings.

    .venv/bin/python scripts/make_reference.py [--check]        --check: exits 1 where a page is not what it would write

Pages are plain Markdown, checked in; a test fails when one is behind the code.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent.parent / "docs" / "reference"
WIDTH = "100"

# What users hold in their hands, in the order in which they meet it: a title, then `module:name` each. Behind a space
# stand the members to show, where others are there for the rest of the package.
SECTIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("A memory", ("scrubjay.public:Memory",)),
    (
        "Recording",
        (
            "scrubjay.memory.lives:Life episode enter end is_running",
            "scrubjay.memory.recording:Recording step note event finish last_step is_open",
            "scrubjay.memory.records:World ground",
        ),
    ),
    (
        "Locating",
        (
            "scrubjay.retrieval.query:Query conditions",
            "scrubjay.retrieval.matches:Matches",
            "scrubjay.memory.records:Row number position",
        ),
    ),
    (
        "Looking",
        (
            "scrubjay.memory.evidence:Episode",
            "scrubjay.memory.records:Step",
            "scrubjay.memory.frames:Frame",
            "scrubjay.retrieval.views:View",
            "scrubjay.memory.grid:Grid",
        ),
    ),
    (
        "What the agent writes",
        (
            "scrubjay.memory.documents:Documents",
            "scrubjay.memory.file_memory:FileMemory",
            "scrubjay.memory.procedures:Procedures",
        ),
    ),
    (
        "Contracts to fill with your own",
        (
            "scrubjay.environments.contract:Environment",
            "scrubjay.environments.recording:RecordMemory",
            "scrubjay.models.contract:Model",
            "scrubjay.methods.contract:Method",
            "scrubjay.sandbox.contract:Sandbox",
            "scrubjay.memory.frames:FrameCodec",
        ),
    ),
    (
        "Testing your own",
        (
            "scrubjay.testing.codecs:check_codec",
            "scrubjay.testing.environments:check_environment",
            "scrubjay.testing.memories:check_memory",
        ),
    ),
)


def command_page() -> str:
    """Every command with its help, as a terminal of a hundred columns shows it."""
    os.environ["COLUMNS"] = WIDTH
    from scrubjay.surfaces.cli import COMMANDS, help_of

    parts = ["# Commands\n", "What `scrubjay COMMAND --help` prints. Every command that prints rows takes `--json`.\n"]
    parts += [f"- [`{name}`](#{name}): {summary}" for name, summary in COMMANDS.items()]
    for name in COMMANDS:
        parts.append(f"\n## {name}\n\n```text\n{help_of(name).rstrip()}\n```")
    return "\n".join(parts) + "\n"


def python_page() -> str:
    """Every public class and function with its signature and its docstring."""
    parts = [
        "# Python",
        "",
        "`from scrubjay import …` gives `Memory`, `Query`, `Row`, `Step`, `World` and `Reference`. The rest is",
        "got from these, or imported from the module named.",
    ]
    for title, names in SECTIONS:
        parts += ["", f"## {title}"]
        for name in names:
            parts += ["", *_entry(name)]
    errors = importlib.import_module("scrubjay.errors")
    tree = (errors.__doc__ or "").partition("\n\n")[2].strip()
    parts += ["", "## Errors", "", "One tree, in `scrubjay.errors`:", "", "```text", tree, "```"]
    return "\n".join(parts) + "\n"


def _entry(name: str) -> Iterator[str]:
    name, *members = name.split(" ")
    module, _, attribute = name.partition(":")
    thing = getattr(importlib.import_module(module), attribute)
    yield f"### {attribute}"
    yield ""
    yield f"`{module}.{attribute}`"
    yield ""
    yield _prose(thing)
    if not inspect.isclass(thing):
        yield ""
        yield _code(attribute, thing)
        return
    if fields := _fields(thing):
        yield ""
        yield fields
    for member, value in vars(thing).items():
        shown = member in members if members else not member.startswith("_")
        if shown and (line := _member(member, value)):
            yield ""
            yield line


def _fields(thing: Any) -> str:
    """The fields of a record with their types and defaults."""
    if not hasattr(thing, "__dataclass_fields__"):
        return ""
    lines = []
    for one in inspect.signature(thing).parameters.values():
        default = "" if one.default is inspect.Parameter.empty else f" = {re.sub('<[^>]*>', '…', repr(one.default))}"
        lines.append(f"{one.name}: {thing.__annotations__[one.name]}{default}")
    return "```text\n" + "\n".join(lines) + "\n```"


def _member(name: str, value: Any) -> str | None:
    if isinstance(value, property) or type(value).__name__ == "cached_property":
        getter = value.fget if isinstance(value, property) else value.func
        text = inspect.getdoc(getter)
        return None if not text else f"- **`{name}`**: {_indented(text)}"
    if isinstance(value, (classmethod, staticmethod)):
        value = value.__func__
    if not inspect.isfunction(value) or not inspect.getdoc(value):
        return None
    return f"- **`{name}{_signature(value)}`**: {_indented(inspect.getdoc(value) or '')}"


def _code(name: str, value: Any) -> str:
    return f"```text\n{name}{_signature(value)}\n```"


def _signature(value: Any) -> str:
    signature = inspect.signature(value)
    kept = [one for one in signature.parameters.values() if one.name not in ("self", "cls")]
    text = str(signature.replace(parameters=kept))
    # Annotations are text; what quotes and default objects would show says nothing to a reader.
    text = re.sub(r"<[^>]*>", "…", text)
    return re.sub(r": '([^']*)'|-> '([^']*)'", lambda found: f": {found[1]}" if found[1] else f"-> {found[2]}", text)


def _prose(thing: Any) -> str:
    return _unindented_blocks(inspect.getdoc(thing) or "")


def _indented(text: str) -> str:
    return _unindented_blocks(text).replace("\n", "\n    ").replace("\n    \n", "\n\n")


def _unindented_blocks(text: str) -> str:
    """Indented examples and tables of a docstring as fenced blocks."""
    text = re.sub(r"\n\n((?:[\w, ]+?  +\S[^\n]*(?:\n|$)){3,})", r"\n\n```text\n\1```\n", text.rstrip() + "\n")
    return re.sub(
        r"\n\n((?:    [^\n]*(?:\n|$)+)+)",
        lambda found: "\n\n```text\n" + inspect.cleandoc("\n" + found[1].rstrip()) + "\n```\n\n",
        text,
    ).rstrip()


PAGES = {"commands.md": command_page, "python.md": python_page}


def main() -> int:
    """Writes the pages, or says which are behind."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 where a page is behind the code")
    arguments = parser.parse_args()
    behind = []
    for name, make in PAGES.items():
        path, text = FOLDER / name, make()
        if not path.exists() or path.read_text() != text:
            behind.append(name)
            if not arguments.check:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
    for name in behind:
        print(f"docs/reference/{name}: {'behind the code' if arguments.check else 'written'}")
    return 1 if behind and arguments.check else 0


if __name__ == "__main__":
    sys.exit(main())
