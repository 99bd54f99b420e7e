"""S-expressions as KiCad writes them: lists in parentheses, words, and texts in double quotes.

It knows the syntax alone; what a list means is the business of its readers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from scrubjay.errors import Damaged

__all__ = ["Node", "children", "head", "read", "text_of"]

Node = list["str | Node"]

_TOKEN = re.compile(r"""\s*(?:(?P<open>\()|(?P<close>\))|"(?P<text>(?:[^"\\]|\\.)*)"|(?P<word>[^\s()"]+))""", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}
_DEEPEST = 500


def read(text: str, file: str) -> Node:
    """The one list that `text` holds. Raises Damaged with the byte at which it is broken off or goes on too long."""
    stack: list[Node] = [[]]
    at = 0
    end = len(text.rstrip())
    while at < end:
        found = _TOKEN.match(text, at)
        if found is None:
            raise _damaged("a text is not closed", text, at, file)
        if found["open"]:
            stack.append([])
            if len(stack) > _DEEPEST:
                raise _damaged(f"more than {_DEEPEST} lists in each other", text, at, file)
        elif len(stack) == 1:
            raise _damaged("a list in parentheses was expected", text, at, file)
        elif found["close"]:
            done = stack.pop()
            stack[-1].append(done)
            if len(stack) == 1 and found.end() < end:
                raise _damaged("something follows the end", text, found.end(), file)
        elif found["text"] is not None:
            stack[-1].append(_ESCAPE.sub(lambda one: _ESCAPED.get(one[1], one[1]), found["text"]))
        else:
            stack[-1].append(found["word"])
        at = found.end()
    if len(stack) > 1:
        raise _damaged("it is broken off: a list is not closed", text, end, file)
    if not stack[0]:
        raise _damaged("it is empty", text, 0, file)
    whole = stack[0][0]
    assert isinstance(whole, list)
    return whole


def head(node: Node) -> str:
    """The first word of a list, which says what it is."""
    return node[0] if node and isinstance(node[0], str) else ""


def children(node: Node, name: str) -> Iterator[Node]:
    """The lists inside one that begin with `name`."""
    for one in node:
        if isinstance(one, list) and head(one) == name:
            yield one


def text_of(node: Node, name: str) -> str | None:
    """The text of `(name TEXT)` inside a list, or None where it has none."""
    for one in children(node, name):
        if len(one) > 1 and isinstance(one[1], str):
            return one[1]
    return None


def _damaged(message: str, text: str, at: int, file: str) -> Damaged:
    return Damaged(message, file=file, offset=len(text[:at].encode()))
