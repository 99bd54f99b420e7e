"""Edits of a text, literal to the last character: no pattern, no escape, no guess.

It knows texts. What can't be done is told in the words that the file memory tool of the ecosystem uses.
"""

from __future__ import annotations

from scrubjay.errors import InvalidInput

__all__ = ["append_entry", "insert_after_line", "lines_of", "replace_once"]


def replace_once(text: str, old: str, new: str, shown: str) -> str:
    """`text` with its only `old` replaced. Raises InvalidInput where there is none, or naming the lines of several."""
    if not old:
        raise InvalidInput(f"No replacement was performed, old_str is empty: say which text of {shown} to replace.")
    found = text.count(old)
    if found == 0:
        raise InvalidInput(f"No replacement was performed, old_str `{old}` did not appear verbatim in {shown}.")
    if found > 1:
        lines = ", ".join(map(str, _lines_with(text, old)))
        raise InvalidInput(
            f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {lines}. "
            "Please ensure it is unique"
        )
    return text.replace(old, new)


def _lines_with(text: str, old: str) -> list[int]:
    lines, line, counted, at = [], 1, 0, text.find(old)
    while at >= 0:
        line += text.count("\n", counted, at)
        counted = at
        lines.append(line)
        at = text.find(old, at + 1)
    return lines


def lines_of(text: str) -> list[str]:
    """The lines between newlines; a newline at the end begins no further one, and a carriage return is kept."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


def insert_after_line(text: str, line: int, inserted: str) -> str:
    """`text` with whole lines put after line `line`, 0 for its beginning. Raises InvalidInput past the end."""
    lines = lines_of(text)
    if isinstance(line, bool) or not isinstance(line, int) or not 0 <= line <= len(lines):
        raise InvalidInput(f"Invalid `insert_line` parameter: {line}. It should be within the range [0, {len(lines)}].")
    lines.insert(line, inserted.rstrip("\n"))
    joined = "\n".join(lines)
    return joined if joined.endswith("\n") else joined + "\n"


def append_entry(text: str, entry: str) -> str:
    """`text` with `entry` on lines of its own at the end."""
    gap = "" if not text or text.endswith("\n") else "\n"
    return f"{text}{gap}{entry}" + ("" if entry.endswith("\n") else "\n")
