"""The agent's documents behind the six commands that models know as the file memory tool (`memory_20250818`).

What a command returns, and what its errors say, is what the ecosystem's own implementation returns and says; there
`mine/` is called `/memories`. It knows the commands; paths, edits and history are the documents'.
"""

from __future__ import annotations

import functools
import stat
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from scrubjay.errors import Conflict, InvalidInput, NotFound
from scrubjay.memory.documents import Documents
from scrubjay.memory.paths import given_path
from scrubjay.memory.text_edits import insert_after_line, replace_once

__all__ = ["ROOT", "FileMemory"]

ROOT = "/memories"
_MAX_LINES = 999_999
_WIDTH = len(str(_MAX_LINES))


class FileMemory:
    """Carries out commands of an agent. `author` is whom the history names."""

    def __init__(self, documents: Documents, *, author: str = "agent") -> None:
        self._documents = documents
        self._author = author

    def execute(self, command: Mapping[str, Any]) -> str:
        """The result of one command: `{"command": "view", "path": "/memories/notes.md"}`.

        What can't be done raises NotFound, Conflict or InvalidInput with the text that the model is to be given.
        """
        commands: dict[str, Callable[[Mapping[str, Any]], str]] = {
            "view": self._view,
            "create": self._create,
            "str_replace": self._str_replace,
            "insert": self._insert,
            "delete": self._delete,
            "rename": self._rename,
        }
        name = command.get("command")
        if name not in commands:
            raise InvalidInput(f"Unknown command: {name}. The commands are {', '.join(commands)}")
        return commands[name](command)

    # --- the six

    def _view(self, command: Mapping[str, Any]) -> str:
        shown = _text(command, "path")
        path = _inside(shown)
        status = self._documents.status(path)
        if not path or (status is not None and stat.S_ISDIR(status.st_mode)):
            return self._view_folder(path, shown, 0 if status is None else status.st_size)
        try:
            lines = self._documents.read(path).split("\n")
        except NotFound:
            raise NotFound(f"The path {shown} does not exist. Please provide a valid path.") from None
        if len(lines) > _MAX_LINES:
            raise InvalidInput(f"File {shown} exceeds maximum line limit of 999,999 lines.")
        first, last = _range(command.get("view_range"), len(lines))
        body = _numbered(lines[first - 1 : last], first)
        return f"Here's the content of {shown} with line numbers:\n{body}"

    def _view_folder(self, path: str, shown: str, size: int) -> str:
        found = self._documents.listing(path, depth=2)
        entries = {inner: status.st_size for inner, status in found.documents.items()}
        entries |= {f"{inner}/": status.st_size for inner, status in found.folders.items()}
        skip = len(path) + 1 if path else 0
        lines = [f"{_size(size)}\t{shown}"]
        lines += [f"{_size(entries[inner])}\t{shown}/{inner[skip:]}" for inner in sorted(entries, key=_by_names)]
        header = f"Here're the files and directories up to 2 levels deep in {shown}, excluding hidden items:"
        return "\n".join([header, *lines])

    def _create(self, command: Mapping[str, Any]) -> str:
        shown, text = _text(command, "path"), _text(command, "file_text")
        path = _inside(shown)
        try:
            if not path:
                raise Conflict
            self._documents.create(path, text, author=self._author)
        except Conflict:
            raise Conflict(f"File {shown} already exists") from None
        return f"File created successfully at: {shown}"

    def _str_replace(self, command: Mapping[str, Any]) -> str:
        shown, old, new = _text(command, "path"), _text(command, "old_str"), _text(command, "new_str", "")
        edit = self._edit(shown, functools.partial(replace_once, old=old, new=new, shown=shown), "str_replace")
        changed = edit.before[: edit.before.find(old)].count("\n")
        lines = edit.after.split("\n")
        first = max(0, changed - 2)
        snippet = _numbered(lines[first : changed + 3], first + 1)
        return (
            f"The memory file has been edited. Here is the snippet showing the change (with line numbers):\n{snippet}"
        )

    def _insert(self, command: Mapping[str, Any]) -> str:
        shown, text, line = _text(command, "path"), _text(command, "insert_text"), command.get("insert_line")
        if not isinstance(line, int) or isinstance(line, bool):
            raise InvalidInput(f"`insert_line` must be a whole number, found {line!r:.40}")
        self._edit(shown, functools.partial(insert_after_line, line=line, inserted=text), "insert")
        return f"The file {shown} has been edited."

    def _delete(self, command: Mapping[str, Any]) -> str:
        shown = _text(command, "path")
        path = _inside(shown)
        if not path:
            raise InvalidInput(f"Cannot delete the {ROOT} directory itself")
        try:
            self._documents.delete(path, author=self._author)
        except NotFound:
            raise NotFound(f"The path {shown} does not exist") from None
        return f"Successfully deleted {shown}"

    def _rename(self, command: Mapping[str, Any]) -> str:
        old_shown, new_shown = _text(command, "old_path"), _text(command, "new_path")
        old, new = _inside(old_shown), _inside(new_shown)
        if not old:
            raise InvalidInput(f"Cannot rename the {ROOT} directory itself")
        if not new or self._documents.status(new) is not None:
            raise Conflict(f"The destination {new_shown} already exists")
        try:
            self._documents.rename(old, new, author=self._author)
        except NotFound:
            raise NotFound(f"The path {old_shown} does not exist") from None
        return f"Successfully renamed {old_shown} to {new_shown}"

    # --- what they share

    def _edit(self, shown: str, change: Callable[[str], str], operation: str) -> _Edit:
        path = _inside(shown)
        status = self._documents.status(path)
        if not path or (status is not None and stat.S_ISDIR(status.st_mode)):
            raise InvalidInput(f"The path {shown} is not a file.")
        edit = _Edit(change)
        try:
            self._documents.edit(path, edit, operation=operation, author=self._author)
        except NotFound:
            raise NotFound(f"The path {shown} does not exist. Please provide a valid path.") from None
        return edit


class _Edit:
    """An edit that remembers both texts, for the answer shows the place."""

    def __init__(self, change: Callable[[str], str]) -> None:
        self._change = change
        self.before = self.after = ""

    def __call__(self, text: str) -> str:
        self.before, self.after = text, self._change(text)
        return self.after


def _inside(shown: str) -> str:
    if shown.startswith("/") and shown != ROOT and not shown.startswith(f"{ROOT}/"):
        raise InvalidInput(f"Path must start with {ROOT}, got: {shown}")
    if ".." in shown.split("/"):
        raise InvalidInput(f"Path {shown} would escape {ROOT} directory")
    return given_path(shown)


def _text(command: Mapping[str, Any], key: str, default: str | None = None) -> str:
    value = command.get(key, default)
    if not isinstance(value, str):
        raise InvalidInput(f"`{command['command']}` needs `{key}`, a text; found {value!r:.40}")
    return value


def _range(wanted: Any, count: int) -> tuple[int, int]:
    if not wanted:
        return 1, count
    if not (isinstance(wanted, Sequence) and len(wanted) == 2 and all(type(line) is int for line in wanted)):
        raise InvalidInput(f"`view_range` must be [first line, last line], -1 for the end; found {wanted!r:.40}")
    return max(1, wanted[0]), count if wanted[1] == -1 else wanted[1]


def _numbered(lines: list[str], first: int) -> str:
    return "\n".join(f"{number:>{_WIDTH}}\t{line}" for number, line in enumerate(lines, first))


def _by_names(path: str) -> list[str]:
    return path.rstrip("/").split("/")


def _size(size: int) -> str:
    power = min((size.bit_length() - 1) // 10, 3) if size else 0
    scaled = size / 1024**power
    return f"{int(scaled) if scaled == int(scaled) else f'{scaled:.1f}'}{'BKMG'[power]}"
