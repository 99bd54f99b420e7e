"""`scrubjay consolidate`: what happened since the last time becomes what is known."""

from __future__ import annotations

import argparse
import contextlib
import shlex
import sys
from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput, ReadOnly
from scrubjay.surfaces.cli.plain import plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrubjay.agent.consolidation import Consolidation, Outcome
    from scrubjay.memory.jsonio import Json
    from scrubjay.models.consolidating import Consolidator
    from scrubjay.public import Memory

SUMMARY = """\
Turn what happened since the last consolidation into claims of notes.md and GUIDE.md that cite their episodes. The
episodes never change; every edit is kept in the history of the documents."""

EXAMPLES = """\
examples:
  scrubjay consolidate runs/first --dry-run               what would change, as a diff
  scrubjay consolidate runs/first                         by rules, without a language model
  scrubjay consolidate runs/first --model anthropic:NAME  by a language model
  scrubjay consolidate runs/first --model "driver:claude -p"  by a coding agent
  scrubjay consolidate runs/first --undo                  takes the last one back
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("dir", metavar="DIR", help="folder of the memory")
    parser.add_argument(
        "--model",
        default="scripted",
        metavar="M",
        help="scripted (default), provider:NAME, replay:PATH, or driver:COMMAND, a coding agent",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--dry-run", action="store_true", help="print a unified diff and change nothing")
    what.add_argument("--undo", action="store_true", help="take back the changes of the last consolidation")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Consolidates, shows what would be, or takes back; 0 also where nothing was to be done."""
    from scrubjay.agent.consolidation import Consolidation
    from scrubjay.public import Memory

    with Memory.open(arguments.dir, read_only=arguments.dry_run) as memory:
        if memory.format == 0:
            raise ReadOnly(f"{memory.root} is a published run, an index alone (format 0): nothing can be written to it")
        with _consolidator(arguments, memory) as consolidator:
            return _carry_out(Consolidation(memory, consolidator), memory, arguments)


def _carry_out(consolidation: Consolidation, memory: Memory, arguments: argparse.Namespace) -> int:
    if arguments.undo:
        return _undo(consolidation, arguments)
    if arguments.dry_run:
        return _preview(consolidation, arguments)
    outcome = consolidation.run("asked for")
    if outcome is None:
        return _tell("nothing came since the last consolidation", {"read": 0, "changes": []}, arguments)
    _tell(_summary(outcome, memory, arguments), {**outcome.done.to_json(), "read": outcome.read}, arguments)
    _refusals(outcome.refused)
    return 0


@contextlib.contextmanager
def _consolidator(arguments: argparse.Namespace, memory: Memory) -> Iterator[Consolidator]:
    from scrubjay.agent.driver import DRIVER

    choice: str = arguments.model
    if choice == "scripted":
        from scrubjay.models.scripted.consolidating import ScriptedConsolidator

        yield ScriptedConsolidator()
    elif choice.startswith(DRIVER):
        from scrubjay.agent.consolidating_driver import DriverConsolidator
        from scrubjay.agent.driver import Driver

        if arguments.dry_run:
            raise InvalidInput("--dry-run: a coding agent writes by itself; leave it out, --undo takes back")
        with Driver(choice.removeprefix(DRIVER), memory) as driver:
            yield DriverConsolidator(driver)
    else:
        from scrubjay.agent.consolidating_model import ModelConsolidator
        from scrubjay.models.named import make_chat_model

        yield ModelConsolidator(make_chat_model(choice), memory)


def _summary(outcome: Outcome, memory: Memory, arguments: argparse.Namespace) -> str:
    done = outcome.done
    changed = dict.fromkeys(change.path for change in memory.documents.history() if change.number in done.changes)
    cost = "" if done.usage.cost is None else f", ${done.usage.cost:.4f}"
    asked = f", {done.usage.requests} requests{cost}" if done.usage.requests else ""
    lines = [f"read {outcome.read} episodes, questions and calls up to {done.until}{asked}"]
    lines += [f"  changed {path}" for path in changed] or ["  nothing new to say"]
    lines += [] if outcome.is_all else ["  there is more: the same command goes on"]
    where = shlex.quote(arguments.dir)
    if changed:
        lines += ["", "Try next:", f"  scrubjay memory {where} view {next(iter(changed))}"]
        lines += [f"  scrubjay consolidate {where} --undo"]
    return "\n".join(lines)


def _preview(consolidation: Consolidation, arguments: argparse.Namespace) -> int:
    preview = consolidation.preview("asked for")
    if preview is None:
        return _tell("nothing came since the last consolidation", {"read": 0, "difference": ""}, arguments)
    _tell(preview.difference.rstrip("\n"), {"read": preview.read, "difference": preview.difference}, arguments)
    if not preview.difference:
        print(f"{preview.read} episodes, questions and calls say nothing new", file=sys.stderr)
    _refusals(preview.refused)
    return 0


def _undo(consolidation: Consolidation, arguments: argparse.Namespace) -> int:
    done, changes = consolidation.undo()
    lines = [f"took back the consolidation of {done.time} ({done.when})"]
    nothing = "its changes were taken back before" if done.changes else "it had changed nothing"
    lines += [f"  changed {change.path} back" for change in changes] or [f"  {nothing}"]
    return _tell("\n".join(lines), {"undone": done.time, "changes": [change.number for change in changes]}, arguments)


def _refusals(refused: tuple[str, ...]) -> None:
    for reason in refused:
        print(plain(f"refused: {reason}"), file=sys.stderr)


def _tell(text: str, row: Json, arguments: argparse.Namespace) -> int:
    if arguments.json:
        from scrubjay.memory.jsonio import dumps

        print(dumps(row).decode())
    elif text:
        print(plain(text))
    return 0
