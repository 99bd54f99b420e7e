"""What the interpreter says, in our words: problems that stop a source before it runs, tracebacks of one that ran.

It knows the forms of pydantic-monty's errors, and decides nothing.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from scrubjay.sandbox.contract import Problem

if TYPE_CHECKING:
    from pydantic_monty import Frame, MontyError, MontyRuntimeError, MontySyntaxError

__all__ = ["is_out_of_memory", "is_out_of_time", "problems_of", "traceback_of"]

_MAX_PROBLEMS = 20
_MAX_FRAMES = 12
_MAX_MESSAGE = 2000
_MAX_LINE = 200
_COMMENT = re.compile(r"#[^\n]*")
_SOURCE = "<python-input-0>"  # the first text that a session is fed; the call is the second


def problems_of(error: MontyError, is_call: bool = False) -> list[Problem]:
    """What a type checker or parser found, at most twenty. Positions in the call that we wrote are 0."""
    found = [_problem(line, is_call) for line in _display(error).splitlines() if line.startswith("{")]
    if not found:
        frames = _frames(error)
        line = 0 if is_call or not frames else frames[-1].line
        found = [Problem(line, 0, _cut(_message(error), _MAX_MESSAGE))]
    more = [Problem(0, 0, f"{len(found) - _MAX_PROBLEMS} more")] if len(found) > _MAX_PROBLEMS else []
    return found[:_MAX_PROBLEMS] + more


def _problem(line: str, is_call: bool) -> Problem:
    try:
        row: dict[str, Any] = json.loads(line)
        where = {"row": 0, "column": 0} if is_call else row["location"]
        return Problem(int(where["row"]), int(where["column"]), _cut(str(row["message"]), _MAX_MESSAGE))
    except (ValueError, KeyError, TypeError):
        return Problem(0, 0, _cut(line, _MAX_MESSAGE))


def traceback_of(error: MontyRuntimeError) -> str:
    """The source's own traceback, without the call that we made and without ours."""
    lines = []
    for frame in [one for one in error.traceback() if one.filename == _SOURCE][-_MAX_FRAMES:]:
        lines.append(f"  line {frame.line}, in {_cut(frame.function_name or '<module>', _MAX_LINE)}")
        if frame.source_line:
            lines.append(f"    {_cut(frame.source_line.strip(), _MAX_LINE)}")
    head = ["Traceback (most recent call last):"] if lines else []
    return "\n".join([*head, *lines, _cut(error.display("type-msg"), _MAX_MESSAGE)])


def is_out_of_time(error: MontyRuntimeError) -> bool:
    """True where the interpreter's clock ended it; what a source raises itself has a place where it was raised."""
    return error.display("type-msg").startswith("TimeoutError: ") and not error.traceback()


def is_out_of_memory(error: MontyRuntimeError, source: str) -> bool:
    """True where the interpreter's heap ended it, and not a `raise` of the source that says the same."""
    if not error.display("type-msg").startswith("MemoryError: "):
        return False
    frames = error.traceback()
    if not frames or frames[-1].filename != _SOURCE:
        return not frames
    lines = source.split("\n")[: frames[-1].line]
    lines[-1] = lines[-1][: frames[-1].column - 1]
    # The place of an error that was raised is the expression behind `raise`.
    before = "".join(_COMMENT.sub("", line) for line in lines[-20:]).rstrip(" \t\\(")
    return not before.endswith("raise")


def _display(error: MontyError) -> str:
    display = getattr(error, "display", None)
    return str(display() if display else error)


def _message(error: MontyError | MontySyntaxError) -> str:
    display = getattr(error, "display", None)
    return str(display("type-msg") if display else error)


def _frames(error: MontyError) -> list[Frame]:
    traceback = getattr(error, "traceback", None)
    return list(traceback()) if traceback else []


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}… ({len(text) - most} more characters)"
