"""`scrubjay procedures`: what the agent wrote down as methods, how their calls went, and which are offered."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from scrubjay.surfaces.cli.plain import plain
from scrubjay.surfaces.cli.values import count, seed, setting

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrubjay.memory.jsonio import Json
    from scrubjay.memory.procedure_files import Kind
    from scrubjay.memory.procedures import Procedure, Procedures, Run

SUMMARY = """\
The procedures and reflexes of a memory: list them with the record of their calls, show one, see its calls, take one
out of use or back into it, and run one. Names are found however spelled: cut-step, cut_step, "Cut Step"."""

EXAMPLES = """\
examples:
  scrubjay procedures runs/diamond list
  scrubjay procedures runs/diamond show cut-step
  scrubjay procedures runs/diamond runs cut-step --limit 5
  scrubjay procedures runs/diamond disable cut-step "digs into lava [ep_000043]"
  scrubjay procedures runs/diamond enable cut-step
  scrubjay procedures runs/diamond run cut-step n=2 --env crafter --seed 7

They are written and edited as files: mine/procedures/<name>/SKILL.md and scripts/<name>.py, or with
`scrubjay memory`. They run when a plan of an agent calls them, or by `run`, as a life of one call.
"""

_LIMIT = 200


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the subcommands."""
    parser.add_argument("dir", metavar="DIR", help="folder of the memory")
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")

    def add(name: str, help_text: str) -> argparse.ArgumentParser:
        action = actions.add_parser(name, help=help_text, description=f"{help_text[0].upper()}{help_text[1:]}.")
        action.add_argument("--json", action="store_true", help="one JSON object a line")
        return action

    def add_named(name: str, help_text: str) -> argparse.ArgumentParser:
        action = add(name, help_text)
        action.add_argument("name", metavar="NAME")
        action.add_argument("--reflex", action="store_true", help="NAME is a reflex, not a procedure")
        return action

    add("list", "list procedures and reflexes with what they do and how their calls went")
    add_named("show", "show one: its text and its code")
    disable = add_named("disable", "offer it no longer")
    disable.add_argument("reason", metavar="REASON", help="why, citing an episode that shows it: [ep_000043]")
    enable = add_named("enable", "offer it again")
    for changing in (disable, enable):
        changing.add_argument("--author", choices=("agent", "person"), default="agent", help="who changes it")
    runs = add("runs", "list the calls of one, or of all, oldest first")
    runs.add_argument("name", metavar="NAME", nargs="?")
    runs.add_argument("--limit", type=int, default=_LIMIT, metavar="N", help=f"the newest N (default {_LIMIT})")
    _configure_run(add("run", "run a procedure in an environment, in the sandbox; it is recorded as a life"))


def _configure_run(action: argparse.ArgumentParser) -> None:
    action.add_argument("name", metavar="NAME")
    action.add_argument("values", type=setting, nargs="*", metavar="NAME=VALUE", help="its arguments, as JSON or text")
    action.add_argument("--env", required=True, metavar="ENV", help="crafter, or a path like my.module:Env")
    action.add_argument(
        "--set", action="append", default=[], type=setting, metavar="NAME=VALUE", dest="settings",
        help="an argument of the environment; may be given several times",
    )  # fmt: skip
    action.add_argument("--seed", type=seed, default=0, metavar="S", help="which world (default 0)")
    action.add_argument("--steps", type=count, default=400, metavar="N", help="at most so many steps (default 400)")


def run(arguments: argparse.Namespace) -> int:
    """Carries out one action and prints what it says; where a procedure that was run did not succeed 1, stopped 130."""
    if arguments.action == "run":
        return _run(arguments)
    from scrubjay.memory.procedures import Procedures
    from scrubjay.public import Memory

    changes = arguments.action in ("disable", "enable")
    with Memory.open(arguments.dir, read_only=not changes) as memory:
        text = _ACTIONS[arguments.action](Procedures(memory.layout, memory.documents, memory.read_only), arguments)
    text = text if arguments.json else plain(text)
    sys.stdout.buffer.write(text.encode(errors="replace"))
    sys.stdout.flush()
    return 0


def _run(arguments: argparse.Namespace) -> int:
    from scrubjay.agent.single_call import call
    from scrubjay.environments.named import make_environment
    from scrubjay.public import Memory

    environment = make_environment(arguments.env, **dict(arguments.settings))
    try:
        with Memory.open(arguments.dir) as memory:
            done = call(environment, memory, arguments.name, dict(arguments.values), arguments.seed, arguments.steps)
            # Others may call it at the same time; a procedure that was changed meanwhile was not called at all.
            called = [run for run in memory.procedures.runs(arguments.name) if done.row.id in run.episodes]
    finally:
        environment.close()
    returned = done.row.extra.get("returned")
    for one in called:
        row = one.to_json() if returned is None else {**one.to_json(), "returned": returned}
        print(_line(row).rstrip("\n") if arguments.json else plain(_call(one)))
    if returned is not None and not arguments.json:
        print(plain(f"returned {json.dumps(returned, ensure_ascii=False)}"))
    if done.row.note:
        print(plain(done.row.note), file=sys.stderr)
    if any(one.outcome == "stopped" for one in called):
        return 130  # as every command that Ctrl-C ended
    return 0 if any(one.outcome == "success" for one in called) else 1


def _list(procedures: Procedures, arguments: argparse.Namespace) -> str:
    found = [*procedures.list(), *procedures.list("reflex")]
    for flaw in procedures.flaws():
        print(plain(str(flaw)), file=sys.stderr)
    if arguments.json:
        return "".join(_line(_row(procedures, one)) for one in found)
    if not found:
        print("(no procedures)", file=sys.stderr)
    return "".join(f"{_told(procedures, one)}\n" for one in found)


def _told(procedures: Procedures, one: Procedure) -> str:
    what = one.status if one.kind == "procedure" else f"reflex, {one.status}"
    told = f"{one.signature}  [{what}]  {one.description}  ({procedures.statistics(one.name, one.kind)})"
    return f"{told}\n  disabled: {one.reason}" if one.status == "disabled" else told


def _row(procedures: Procedures, one: Procedure) -> Json:
    statistics = procedures.statistics(one.name, one.kind)
    return {
        "name": one.name, "kind": one.kind, "status": one.status, "reason": one.reason, "signature": one.signature,
        "description": one.description, "version": one.version, "category": one.category, "cites": one.cites,
        "path": f"mine/{one.folder}", "digest": one.digest, "called": statistics.called,
        "succeeded": statistics.succeeded, "failures_in_a_row": statistics.failures_in_a_row,
        "steps": statistics.steps, "error": statistics.error,
    }  # fmt: skip


def _show(procedures: Procedures, arguments: argparse.Namespace) -> str:
    one = procedures.get(arguments.name, _kind(arguments))
    if arguments.json:
        return _line({**_row(procedures, one), "text": one.text, "script": one.script, "source": one.source})
    lines = [_told(procedures, one), f"mine/{one.folder}  version {one.version}"]
    lines += [f"cites {one.cites}"] if one.cites else []
    lines += ["", one.text.rstrip("\n")] if one.text.strip() else []
    lines += ["", f"--- mine/{one.script}", (one.source or "").rstrip("\n")] if one.script else []
    return "\n".join(lines) + "\n"


def _kind(arguments: argparse.Namespace) -> Kind:
    return "reflex" if arguments.reflex else "procedure"


def _disable(procedures: Procedures, arguments: argparse.Namespace) -> str:
    one = procedures.disable(arguments.name, arguments.reason, kind=_kind(arguments), author=arguments.author)
    return _line(_row(procedures, one)) if arguments.json else f"{one.name} is disabled: {one.reason}\n"


def _enable(procedures: Procedures, arguments: argparse.Namespace) -> str:
    one = procedures.enable(arguments.name, kind=_kind(arguments), author=arguments.author)
    return _line(_row(procedures, one)) if arguments.json else f"{one.name} is active\n"


def _runs(procedures: Procedures, arguments: argparse.Namespace) -> str:
    limit = max(arguments.limit, 0)
    found = procedures.runs(arguments.name, last=limit + 1)
    if len(found) > limit:
        print(f"(there are earlier calls: --limit {limit * 2 or _LIMIT} shows more)", file=sys.stderr)
    if not found:
        print("(no calls)", file=sys.stderr)
    shown = found[-limit:] if limit else ()
    return "".join(_line(one.to_json()) if arguments.json else f"{_call(one)}\n" for one in shown)


def _call(one: Run) -> str:
    given = ", ".join(f"{name}={value}" for name, value in one.arguments.items())
    when = f"life {one.life if one.life is not None else '-'} step {one.step if one.step is not None else '-'}"
    episodes = f"  {' '.join(one.episodes)}" if one.episodes else ""
    error = f"  {one.error.strip().splitlines()[-1]}" if one.error and one.error.strip() else ""
    head = f"{(one.time or '-')[:19]}  {when}  {one.procedure}({given})  {one.outcome}"
    return f"{head}  {one.steps} steps{episodes}{error}"


def _line(row: Json) -> str:
    return json.dumps(row, ensure_ascii=False) + "\n"


_ACTIONS: dict[str, Callable[[Procedures, argparse.Namespace], str]] = {
    "list": _list,
    "show": _show,
    "disable": _disable,
    "enable": _enable,
    "runs": _runs,
}
