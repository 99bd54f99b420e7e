"""`scrubjay memory`: the agent's own documents from a shell: read, edit, go back."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from scrubjay.memory.document_changes import Change
    from scrubjay.memory.documents import Documents
    from scrubjay.memory.layout import Layout

SUMMARY = """\
Read, write and undo the agent's own documents: everything under mine/. Each change is kept in documents.jsonl,
also what an editor does to the files. A PATH is notes.md or mine/notes.md; a TEXT that is - is read from standard
input. AT is the number of a change in `history`, or the first 8 characters of a content's sha256."""

EXAMPLES = """\
examples:
  scrubjay memory runs/diamond append notes.md "Iron at the north wall [ep_000043]."
  scrubjay memory runs/diamond view
  scrubjay memory runs/diamond str_replace notes.md "north wall" "west wall"
  scrubjay memory runs/diamond history notes.md
  scrubjay memory runs/diamond diff notes.md 12
  scrubjay memory runs/diamond undo
  scrubjay memory runs/diamond cites ep_000043
"""

_LIMIT = 200


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the subcommands."""
    parser.add_argument("dir", metavar="DIR", help="folder of the memory")
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")

    def add(name: str, help_text: str, *names: str, writes: bool = False) -> argparse.ArgumentParser:
        action = actions.add_parser(name, help=help_text, description=f"{help_text[0].upper()}{help_text[1:]}.")
        for each in names:
            action.add_argument(each.lower(), metavar=each)
        if writes:
            action.add_argument("--life", type=int, metavar="N", help="in which life (default: the one running)")
            action.add_argument("--author", choices=("agent", "person"), default="agent", help="who changes it")
        return action

    view = add("view", "show a document with line numbers, or list a folder")
    view.add_argument("path", metavar="PATH", nargs="?", default="mine", help="default: all of mine/")
    view.add_argument("--lines", type=int, nargs=2, metavar=("A", "B"), help="these lines alone; B = -1 is the end")
    add("create", "make a new document", "PATH", "TEXT", writes=True)
    add("str_replace", "replace the one place where OLD stands", "PATH", "OLD", "NEW", writes=True)
    insert = add("insert", "put lines after line LINE (0: at the beginning)", "PATH", writes=True)
    insert.add_argument("line", metavar="LINE", type=int)
    insert.add_argument("text", metavar="TEXT")
    add("delete", "remove a document or a folder; history keeps it", "PATH", writes=True)
    add("rename", "move a document or a folder to a free name", "OLD", "NEW", writes=True)
    add("append", "add an entry at the end, making the document where needed", "PATH", "TEXT", writes=True)
    history = add("history", "list the changes of all documents, or of one")
    history.add_argument("path", metavar="PATH", nargs="?")
    history.add_argument("--limit", type=int, default=_LIMIT, metavar="N", help=f"the newest N (default {_LIMIT})")
    history.add_argument("--before", type=int, metavar="NUMBER", help="those before this change")
    history.add_argument("--json", action="store_true", help="rows as documents.jsonl holds them, with their number")
    undo = add("undo", "take back the last N operations (default 1)", writes=True)
    undo.add_argument("n", metavar="N", nargs="?", type=int, default=1)
    undo.add_argument("--path", metavar="PATH", help="of this document alone")
    add("show", "print a document as it was after change AT", "PATH", "AT")
    diff = add("diff", "compare a document after change A with it after change B (default: now)", "PATH", "A")
    diff.add_argument("b", metavar="B", nargs="?")
    add("restore", "give a document the content it had after change AT", "PATH", "AT", writes=True)
    cites = add("cites", "list where documents cite episodes, or one episode")
    cites.add_argument("reference", metavar="REF", nargs="?")
    cites.add_argument("--json", action="store_true", help="one JSON object a line")


def run(arguments: argparse.Namespace) -> int:
    """Carries out one action and prints what it says."""
    from scrubjay.errors import ReadOnly
    from scrubjay.memory.documents import Documents
    from scrubjay.public import Memory
    from scrubjay.surfaces.cli.plain import plain

    reads = {"view", "show", "diff", "cites"}
    try:
        memory = Memory.open(arguments.dir, read_only=arguments.action in reads)
    except ReadOnly:
        if arguments.action != "history":
            raise
        memory = Memory.open(arguments.dir, read_only=True)
    with memory:
        context = _context(memory.layout, getattr(arguments, "life", None))
        documents = Documents(memory.layout, memory.read_only, lambda: context)
        text = _ACTIONS.get(arguments.action, _one_of_the_six)(documents, arguments)
    if not getattr(arguments, "json", False):
        text = plain(text)
    sys.stdout.buffer.write(text.encode(errors="replace"))
    sys.stdout.flush()
    return 0


def _context(layout: Layout, life: int | None) -> tuple[int | None, int | None]:
    """The life in which this change happens, and the step at which its last episode began."""
    from scrubjay.memory import journal
    from scrubjay.memory.folder import is_running, lives
    from scrubjay.retrieval.scope import life_from_environment

    named = life if life is not None else life_from_environment()
    if not isinstance(named, int):
        open_lives = [row.life for row in lives(layout) if row.ended is None]
        named = next((number for number in reversed(open_lives) if is_running(layout, number)), None)
    if named is None or not is_running(layout, named):
        return named, None
    begun = next(journal.read_backwards(layout.begun(named)), None)
    step = None if begun is None else begun.row.get("first_step")
    return named, step if isinstance(step, int) else None


def _text(given: str) -> str:
    if given != "-":
        return given
    from scrubjay.errors import InvalidInput

    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as error:
        raise InvalidInput(f"standard input is not UTF-8 at byte {error.start}") from None


def _one_of_the_six(documents: Documents, arguments: argparse.Namespace) -> str:
    from scrubjay.memory.file_memory import FileMemory

    command: dict[str, Any] = {"command": arguments.action, "path": getattr(arguments, "path", None)}
    if arguments.action == "view":
        command["view_range"] = arguments.lines
    elif arguments.action == "create":
        command["file_text"] = _text(arguments.text)
    elif arguments.action == "str_replace":
        command |= {"old_str": _text(arguments.old), "new_str": _text(arguments.new)}
    elif arguments.action == "insert":
        command |= {"insert_line": arguments.line, "insert_text": _text(arguments.text)}
    elif arguments.action == "rename":
        command |= {"old_path": arguments.old, "new_path": arguments.new}
    return FileMemory(documents, author=getattr(arguments, "author", "agent")).execute(command) + "\n"


def _append(documents: Documents, arguments: argparse.Namespace) -> str:
    change = documents.append(_path(arguments), _text(arguments.text), author=arguments.author)
    return f"The file {change.path} has been edited.\n"


def _history(documents: Documents, arguments: argparse.Namespace) -> str:
    changes = documents.history(_path(arguments) if arguments.path else None)
    if arguments.before is not None:
        changes = [change for change in changes if change.number < arguments.before]
    shown = changes[-arguments.limit :] if arguments.limit > 0 else []
    if len(shown) < len(changes):
        more = f": --before {shown[0].number}" if shown else ""
        print(f"({len(changes) - len(shown)} earlier changes{more})", file=sys.stderr)
    if not changes:
        print("(no changes)", file=sys.stderr)
    if arguments.json:
        return _json_lines({"number": change.number, **change.to_json()} for change in shown)
    return "".join(f"{_line(change)}\n" for change in shown)


def _line(change: Change) -> str:
    name = change.path if change.to is None else f"{change.path} -> {change.to}"
    when = (
        "life - step -"
        if change.life is None
        else f"life {change.life} step {change.step if change.step is not None else '-'}"
    )
    undone = "" if change.undoes is None else f"  (takes back {change.undoes})"
    size = f"+{len(change.inserted)} -{len(change.removed)}"
    return (
        f"{change.number:>5}  {change.time[:19]}  {when}  {change.author}  {change.operation}  {name}  {size}{undone}"
    )


def _undo(documents: Documents, arguments: argparse.Namespace) -> str:
    path = _path(arguments) if arguments.path else None
    made = documents.undo(arguments.n, path=path, author=arguments.author)
    return "".join(f"Took back change {change.undoes} of {change.to or change.path}.\n" for change in made)


def _show(documents: Documents, arguments: argparse.Namespace) -> str:
    return documents.show(_path(arguments), _at(arguments.at))


def _diff(documents: Documents, arguments: argparse.Namespace) -> str:
    return documents.diff(_path(arguments), _at(arguments.a), None if arguments.b is None else _at(arguments.b))


def _restore(documents: Documents, arguments: argparse.Namespace) -> str:
    change = documents.restore(_path(arguments), _at(arguments.at), author=arguments.author)
    return f"{change.path} is as it was after change {arguments.at}.\n"


def _cites(documents: Documents, arguments: argparse.Namespace) -> str:
    from scrubjay.memory.citations import back_links
    from scrubjay.memory.layout import parse_reference

    links = back_links(documents)
    if arguments.reference is not None:
        episode = parse_reference(arguments.reference).episode
        links = {episode: links.get(episode, [])}
    rows = [
        (episode, path, line) for episode in sorted(links, key=lambda e: int(e[3:])) for path, line in links[episode]
    ]
    if not rows:
        print("(no citations)", file=sys.stderr)
    if arguments.json:
        return _json_lines({"episode": episode, "path": path, "line": line} for episode, path, line in rows)
    return "".join(f"{episode}  {path}:{line}\n" for episode, path, line in rows)


def _path(arguments: argparse.Namespace) -> str:
    from scrubjay.memory.paths import given_path

    return given_path(arguments.path)


def _at(text: str) -> int | str:
    # Eight digits and more are a digest: no history is as long.
    return int(text) if text.isdigit() and len(text) < 8 else text


def _json_lines(rows: Iterable[dict[str, Any]]) -> str:
    from scrubjay.memory.jsonio import dumps

    return "".join(f"{dumps(row).decode()}\n" for row in rows)


_ACTIONS: dict[str, Callable[[Documents, argparse.Namespace], str]] = {
    "append": _append,
    "history": _history,
    "undo": _undo,
    "show": _show,
    "diff": _diff,
    "restore": _restore,
    "cites": _cites,
}
