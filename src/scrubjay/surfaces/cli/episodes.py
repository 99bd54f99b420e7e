"""`scrubjay episodes`: locate episodes by cues, and look at what was found."""

from __future__ import annotations

import argparse
import os
import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scrubjay.memory.layout import Layout
    from scrubjay.retrieval.document_words import DocumentLine
    from scrubjay.retrieval.locate import Locator
    from scrubjay.retrieval.matches import Matches
    from scrubjay.retrieval.query import Query

SUMMARY = "Locate episodes by cues: when, where, what. All conditions must hold; rows come in order of time."

EXAMPLES = """\
examples:
  scrubjay episodes runs/diamond --last 10
  scrubjay episodes runs/diamond --near 3153 1401 --radius 12 --tag hazard
  scrubjay episodes runs/diamond --steps 2000 2500 --grep "iron ore" --sheet iron.png --q "Is there iron?"
  scrubjay episodes runs/diamond --then-now ep_000043 --now now.png --out pair.png --q "Same entrance?"
"""

_SLOW = 2.0  # seconds
_NO_QUESTION = "(no --q given: what question does this look answer?)"


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options of this command."""
    parser.add_argument("memory", metavar="DIR", help="folder of the memory")
    when = parser.add_argument_group("when and where")
    when.add_argument("--last", type=int, metavar="N", help="the newest N of what matches")
    when.add_argument("--steps", type=int, nargs=2, metavar=("A", "B"), help="steps overlap A..B, both included")
    when.add_argument("--since", metavar="T", help="ran at or after this ISO time (no zone: UTC)")
    when.add_argument("--until", metavar="T", help="ran at or before this ISO time")
    when.add_argument("--near", type=float, nargs=2, metavar=("X", "Z"), help="started within --radius of this point")
    when.add_argument("--through", type=float, nargs=2, metavar=("X", "Z"), help="walked the cell of this point")
    when.add_argument("--radius", type=float, metavar="R", help="for --near (default 6) and --through")
    when.add_argument("--below", type=float, metavar="Y", help="started at this height or lower")
    when.add_argument("--above", type=float, metavar="Y", help="started at this height or higher")
    when.add_argument("--place", metavar="P", help="exactly this place: a window, a document, a room, a level")
    what = parser.add_argument_group("what")
    what.add_argument("--tag", action="append", metavar="T", help="has this tag; may be given several times")
    what.add_argument("--action", metavar="K", help="exactly this kind of action")
    what.add_argument("--grep", metavar="TEXT", help="literal text in row, action, outcome or state, whatever its case")
    what.add_argument("--regex", metavar="RE", help="a Python regular expression in the same text")
    what.add_argument("--match", metavar="WORDS", help="any of these words, best first; in your documents too")
    what.add_argument("--same-screen", metavar="IMG", help="shows exactly this picture (a file or a reference)")
    what.add_argument("--like", metavar="IMG", help="looks like this picture (a file or a reference), best first")
    which = parser.add_argument_group("which lives (default: $SCRUBJAY_LIFE, else the running, else the newest)")
    which.add_argument("--life", type=_life, metavar="N", help="this life, or `all`")
    which.add_argument("--previous", action="store_true", help="the lives before the one in question")
    which.add_argument("--world", metavar="W", help="rows of this world")
    look = parser.add_argument_group("look")
    look.add_argument("--sheet", metavar="OUT", help="write the frames of what was found as one picture")
    look.add_argument("--then-now", metavar="REF", help="write this remembered frame beside the one of --now")
    look.add_argument("--now", metavar="IMG", help="the current frame, for --then-now")
    look.add_argument("--out", metavar="OUT", help="where --then-now writes")
    look.add_argument("--q", metavar="TEXT", help="the question that this look is to answer; kept with the answer")
    page = parser.add_argument_group("output")
    page.add_argument("--limit", type=int, metavar="N", help="at most N rows (default 200)")
    page.add_argument("--after", metavar="ID", help="go on after this episode")
    page.add_argument("--json", action="store_true", help="rows as the index holds them, one JSON object a line")


def _life(text: str) -> int | str:
    if text == "all" or text.isdigit():
        return text if text == "all" else int(text)
    raise argparse.ArgumentTypeError(f"a number above 0 or `all` was expected, found {text!r}")


def run(arguments: argparse.Namespace) -> int:
    """Prints the matching episodes, or writes the then-now picture."""
    from scrubjay.memory.folder import open_folder

    _check_usage(arguments)
    layout, _manifest = open_folder(arguments.memory, True)
    if arguments.then_now is not None:
        from scrubjay.surfaces.cli.pictures import then_now

        return then_now(arguments, arguments.q or _NO_QUESTION)
    from scrubjay.retrieval.locate import Locator

    with Locator(layout) as locator:
        begin = time.monotonic()
        matches = locator.find(_query(arguments, layout))
        _print_rows(arguments, locator, matches)
        if time.monotonic() - begin > _SLOW and not locator.is_derived and sys.stderr.isatty():
            print("(every row was looked at; an index is being built, the next query is faster)", file=sys.stderr)
    if arguments.sheet is not None and matches.rows:
        from scrubjay.surfaces.cli.pictures import sheet

        sheet(arguments, matches)
    return 0


def _check_usage(arguments: argparse.Namespace) -> None:
    if arguments.then_now is not None and (arguments.now is None or arguments.out is None):
        _usage("--then-now needs --now IMG and --out OUT")
    if arguments.then_now is None and (arguments.now is not None or arguments.out is not None):
        _usage("--now and --out are of --then-now REF; --sheet OUT writes what was found as a picture")
    if arguments.previous and arguments.life is not None:
        _usage("--previous and --life exclude each other")
    if arguments.radius is not None and arguments.near is None and arguments.through is None:
        _usage("--radius R is of --near X Z, or of --through X Z")
    if arguments.match is not None and arguments.like is not None:
        _usage("--match and --like both order the rows: give one of them")


def _usage(message: str) -> None:
    print(f"scrubjay episodes: {message}", file=sys.stderr)
    raise SystemExit(2)


def _query(arguments: argparse.Namespace, layout: Layout) -> Query:
    from scrubjay.errors import InvalidInput
    from scrubjay.retrieval.query import DEFAULT_LIMIT, Query

    # Whoever asks for the last 500 gets 500: the page is for what nobody counted.
    limit = arguments.limit if arguments.limit is not None else max(DEFAULT_LIMIT, arguments.last or 0)
    values: dict[str, Any] = {
        name: getattr(arguments, name)
        for name in (
            "radius", "below", "above", "place", "since", "until", "action", "grep", "regex", "match",
            "life", "previous", "world", "last", "after",
        )
    }  # fmt: skip
    values |= {name: _pair(getattr(arguments, name)) for name in ("steps", "near", "through")}
    try:
        query = Query(**values, limit=limit, tag=None if arguments.tag is None else tuple(arguments.tag))
    except InvalidInput as error:
        _usage(str(error))
        raise
    if arguments.same_screen is None and arguments.like is None:
        return query
    from scrubjay.surfaces.cli.pictures import with_pictures

    return with_pictures(query, arguments, layout)


def _pair(values: list[Any] | None) -> tuple[Any, Any] | None:
    return None if values is None else (values[0], values[1])


def _print_rows(arguments: argparse.Namespace, locator: Locator, matches: Matches) -> None:
    from scrubjay.retrieval.lines import line_of
    from scrubjay.surfaces.cli.plain import plain

    if not matches.rows:
        print("(no matching episodes)", file=sys.stderr)
        _say_why(arguments, locator.layout)
    if arguments.json:
        lines = list(matches.lines)
    else:
        lines = [plain(line_of(row, locator.surroundings.world(row.world).ground)) for row in matches.rows]
    if arguments.match is not None:
        lines += [_document_line(arguments, one) for one in matches.documents]
    sys.stdout.buffer.write("".join(f"{line}\n" for line in lines).encode(errors="replace"))
    sys.stdout.flush()
    if matches.more is not None:
        print(f"(more rows follow: --after {matches.more})", file=sys.stderr)


def _say_why(arguments: argparse.Namespace, layout: Layout) -> None:
    """What a newcomer does not expect where nothing was found."""
    first = os.path.join(layout.episode("ep_000000"), layout.EPISODE_RECORD)
    if not (os.path.isfile(layout.index) and os.path.getsize(layout.index)) and os.path.isfile(first):
        import shlex

        mending = f"scrubjay check {shlex.quote(arguments.memory)} --repair"
        print(f"(the index is gone, the episodes are here: {mending} makes its rows again)", file=sys.stderr)
    elif arguments.life is None and not arguments.previous and os.path.isdir(layout.life(2)):
        print("(one life was asked; --life all asks every one)", file=sys.stderr)


def _document_line(arguments: argparse.Namespace, found: DocumentLine) -> str:
    if not arguments.json:
        from scrubjay.surfaces.cli.plain import plain

        return plain(f"mine/{found.path}:{found.line}  {found.text}")
    import json

    return json.dumps({"document": found.path, "line": found.line, "text": found.text}, ensure_ascii=False)
