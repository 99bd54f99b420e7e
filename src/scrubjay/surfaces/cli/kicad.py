"""`scrubjay kicad`: the score of a KiCad project in a task, and the list of tasks."""

from __future__ import annotations

import argparse
import sys

SUMMARY = "Judge a KiCad project by the netlist of a task, as the cua-bench KiCad set does."

EXAMPLES = """\
examples:
  scrubjay kicad tasks                                             the tasks that ship with scrubjay
  scrubjay kicad tasks --tasks cua-bench-kicad                     those of a folder
  scrubjay kicad score --tasks cua-bench-kicad --task 55f2eefb project/
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the actions and their options."""
    actions = parser.add_subparsers(dest="what", required=True, metavar="ACTION")
    score = actions.add_parser(
        "score", help="the three checks of a project, and their mean", description="Judges a project."
    )
    score.add_argument("project", metavar="PROJECT", help="folder with the schematic, or an exported netlist")
    score.add_argument("--task", required=True, metavar="ID", help="which task")
    listing = actions.add_parser("tasks", help="the tasks of a folder", description="Lists tasks.")
    for one in (score, listing):
        one.add_argument("--tasks", metavar="DIR", help="folder of tasks (default: those that ship with scrubjay)")
        one.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Prints the score or the tasks."""
    return _score(arguments) if arguments.what == "score" else _tasks(arguments)


def _score(arguments: argparse.Namespace) -> int:
    from scrubjay.environments.kicad.scoring import score
    from scrubjay.environments.kicad.tasks import find_task
    from scrubjay.surfaces.cli.plain import plain

    result = score(find_task(arguments.task, arguments.tasks), arguments.project)
    if arguments.json:
        _print_json(result.to_json())
        return 0
    for name, passed in result.checks.named():
        print(f"{name:<12} {'pass' if passed else 'fail'}")
    print(f"{'score':<12} {result.value:.3f}")
    print(plain(f"{'judged':<12} {result.source or 'nothing: there is neither a netlist nor a schematic'}"))
    for warning in result.warnings:
        print(plain(f"scrubjay kicad: {warning}"), file=sys.stderr)
    return 0


def _tasks(arguments: argparse.Namespace) -> int:
    from scrubjay.environments.kicad.tasks import read_tasks
    from scrubjay.surfaces.cli.plain import plain

    tasks = read_tasks(arguments.tasks)
    if arguments.json:
        for task in tasks:
            start = None if task.schematic is None else str(task.schematic.relative_to(task.initial))
            _print_json({"id": task.id, "difficulty": task.difficulty, "starts_from": start, "text": task.text})
        return 0
    for task in tasks:
        start = "blank" if task.schematic is None else "project"
        print(plain(f"{task.id}  {task.difficulty:<7} {start:<8} {' '.join(task.text.split())[:88]}"))
    return 0


def _print_json(row: dict[str, object]) -> None:
    import json

    print(json.dumps(row, ensure_ascii=False))
