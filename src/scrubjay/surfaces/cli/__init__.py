"""The `scrubjay` command: finds the file of a subcommand and runs it.

Each subcommand is a module beside this one with `SUMMARY`, `configure(parser)` and `run(arguments)`; only the one
that was asked for is imported, so that a query starts as fast as Python does.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import importlib
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from scrubjay.errors import ScrubjayError

if TYPE_CHECKING:
    from typing import Any

__all__ = ["COMMANDS", "help_of", "main"]

# In the order that `--help` shows them: what a person does first stands first.
COMMANDS = {
    "run": "an agent lives in an environment, with a memory",
    "episodes": "locate episodes by cues: when, where, what",
    "look": "see the stored frame of an episode or a step, or a region of it",
    "compare": "see several frames in one picture",
    "answer": "store the answer to a question asked of a frame",
    "map": "draw the grid: where it walked, what is in which cell",
    "stats": "what this memory holds, and its disk use",
    "report": "one page of it all, to open in a browser",
    "memory": "read, write and undo the agent's own documents",
    "procedures": "the agent's methods: how their calls went, which are offered",
    "consolidate": "turn new episodes into notes, guide and procedures that cite them",
    "adapters": "the parametric tier: what there is to learn from, cycles, adapters in place",
    "experiment": "runs of method x model x task x seed, and their report",
    "kicad": "judge a KiCad project by the netlist of a task; list tasks",
    "serve": "a memory for agents, over MCP, or for a person, in a browser",
    "install": "tell the coding agents of a project how to use a memory",
    "check": "verify every rule that a file can show, and repair",
    "forget": "remove an episode's evidence, as a person",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command line and returns its exit status: 0 done, 1 an error that is told, 2 wrong usage."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    name = arguments[0] if arguments and arguments[0] in COMMANDS else ""
    shown = f"scrubjay {name}".strip()
    try:
        status = _run(name, arguments)
        sys.stdout.flush()
        return status
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else 1
    except ScrubjayError as error:
        from scrubjay.surfaces.cli.plain import plain

        print(plain(f"{shown}: {error}"), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"\n{shown}: stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # `scrubjay episodes … | head` closed the pipe: nothing is wrong, and nothing more can be printed.
        _drop_output()
        return 0
    except OSError as error:
        _drop_output()
        print(f"{shown}: {error}", file=sys.stderr)
        return 1


def _run(name: str, arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help"):
        print(_overview())
        return 0
    if arguments[0] == "--version":
        from scrubjay import __version__

        print(f"scrubjay {__version__}")
        return 0
    if not name:
        print(f"scrubjay: {arguments[0]!r} is not a command; `scrubjay --help` lists them", file=sys.stderr)
        return 2
    module, parser = _parser_of(name)
    return int(module.run(parser.parse_args(arguments[1:])) or 0)


def help_of(name: str) -> str:
    """What `scrubjay NAME --help` prints."""
    return _parser_of(name)[1].format_help()


def _parser_of(name: str) -> tuple[Any, argparse.ArgumentParser]:
    module = importlib.import_module(f"scrubjay.surfaces.cli.{name}")
    parser = argparse.ArgumentParser(
        prog=f"scrubjay {name}",
        description=module.SUMMARY,
        formatter_class=_Help,
        epilog=getattr(module, "EXAMPLES", None),
    )
    module.configure(parser)
    return module, parser


def _drop_output() -> None:
    """What could not be printed is not tried again when Python ends."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _Help(argparse.RawDescriptionHelpFormatter):
    def __init__(self, prog: str) -> None:
        # Without a width, argparse loads shutil and its compressors to ask for it, for each option.
        super().__init__(prog, width=_terminal_width() - 2)


@functools.cache
def _terminal_width() -> int:
    text = os.environ.get("COLUMNS", "")
    if text.isdigit() and int(text) > 0:
        return int(text)
    try:
        return os.get_terminal_size().columns or 80
    except OSError:
        return 80


def _overview() -> str:
    width = max(len(name) for name in COMMANDS)  # `map` is a submodule of this package
    lines = [
        "usage: scrubjay COMMAND DIR [options]     DIR is the folder of a memory",
        "",
        "A multimodal filesystem memory for agents that act for hours.",
        "",
        *(f"  {name:<{width}}  {summary}" for name, summary in COMMANDS.items()),
        "",
        "`scrubjay COMMAND --help` shows its options with examples.",
    ]
    return "\n".join(lines)
