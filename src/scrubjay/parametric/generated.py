"""Reading a generated text: is it a procedure that can be run, and if not, why not.

It judges the text alone. The whole text must be a procedure: prose and fences around it are the base model's manner,
and an adapter that writes them has lost the form that the harness reads.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from scrubjay.parametric.backbone import Generation

__all__ = ["CUT", "NO_PROCEDURE", "Parsed", "parse"]

CUT = "max_new_tokens"  # it ended because its tokens were spent
NO_PROCEDURE = "no procedure"  # it is no Python, or defines no function that can be called without arguments


@dataclass(frozen=True, slots=True)
class Parsed:
    """A procedure: its source and the function to call. Where it is none, `failure` is a name and `reason` says why."""

    source: str = ""
    function: str | None = None
    failure: str | None = None
    reason: str = ""


def parse(generation: Generation) -> Parsed:
    """The procedure in a generation. A text that was cut is `max_new_tokens`, whatever it looks like."""
    text = generation.text.strip()
    if generation.is_cut:
        return Parsed(text, failure=CUT, reason=f"it was not done after {generation.new_tokens} tokens")
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return Parsed(text, failure=NO_PROCEDURE, reason=f"no Python: {error}")
    functions = [one for one in body if isinstance(one, ast.FunctionDef)]
    if not functions or not all(map(_is_of_a_procedure, body)):
        return Parsed(text, failure=NO_PROCEDURE, reason="functions were expected, and names for values; nothing else")
    callable_ones = [one.name for one in functions if not _needs_arguments(one)]
    if not callable_ones:
        return Parsed(text, failure=NO_PROCEDURE, reason=f"{functions[-1].name} needs arguments")
    return Parsed(text + "\n", "main" if "main" in callable_ones else callable_ones[-1])


def _is_of_a_procedure(statement: ast.stmt) -> bool:
    """A function, a name for a value, or a text that says what it is for."""
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant) and isinstance(statement.value.value, str)
    return isinstance(statement, ast.FunctionDef | ast.Assign | ast.AnnAssign)


def _needs_arguments(function: ast.FunctionDef) -> bool:
    given = function.args
    positional = len(given.posonlyargs) + len(given.args) - len(given.defaults)
    return positional > 0 or any(default is None for default in given.kw_defaults)
