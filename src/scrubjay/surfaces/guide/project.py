"""Putting the guide into a project's folder, and taking it out: only what stands between our markers, only our skill.

It knows files of a project. What the guide says, it does not know.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from scrubjay.errors import Conflict, InvalidInput, NotFound, ReadOnly, ScrubjayError
from scrubjay.memory.disk import write_file
from scrubjay.memory.folder import create_folder, open_folder
from scrubjay.surfaces.guide import text
from scrubjay.version import __version__

__all__ = ["BEGIN", "END", "Project", "with_block", "without_block"]

BEGIN = "<!-- scrubjay: begin (`scrubjay install --remove` takes this block out) -->"
END = "<!-- scrubjay: end -->"
_BEGINS = "<!-- scrubjay: begin"
_AGENTS = "AGENTS.md"
_SKILL = (".agents", "skills", text.NAME, "SKILL.md")


class Project:
    """The folder of a project. Raises NotFound where there is none."""

    def __init__(self, folder: str) -> None:
        self.folder = os.path.abspath(os.path.expanduser(folder))
        if not os.path.isdir(self.folder):
            raise NotFound(f"{folder} is not a folder: --into names the project")
        self._agents = os.path.join(self.folder, _AGENTS)
        self._skill = os.path.join(self.folder, *_SKILL)

    def files(self, memory: str) -> dict[str, str]:
        """The whole text of each file as it would be written, by its path. Raises Conflict, InvalidInput, NotFound."""
        shown = self._named(memory)
        return {self._agents: with_block(self._read(self._agents), text.block(shown)), self._skill: text.skill(shown)}

    def write(self, memory: str) -> list[str]:
        """Writes both files, each whole or not at all, and makes the memory where there is none; their paths.

        A second time changes nothing. Raises Conflict, before anything is written, where the memory's folder or a
        file of that name holds something else.
        """
        files = self.files(memory)
        present = {path: self._read(path) for path in files}
        skill = present[self._skill]
        if skill and text.MARK not in skill:
            raise Conflict(f"{self._skill} was not written by `scrubjay install`: move it away, or keep using it")
        try:
            open_folder(memory, True)
        except NotFound:
            create_folder(memory, f"scrubjay {__version__}")
        written = []
        for path, content in files.items():
            if present[path] != content:
                self._put(path, content)
                written.append(path)
        return written or [f"{path} (as it was)" for path in files]

    def remove(self) -> list[str]:
        """Takes out what was written; the paths of what changed. The memory stays as it is."""
        changed = []
        present = self._read(self._agents)
        rest = without_block(present)
        if rest != present:
            if rest:
                self._put(self._agents, rest)
            else:
                _unlink(self._agents)
            changed.append(self._agents)
        if self._has_our_skill():
            _unlink(self._skill)
            changed.append(self._skill)
            self._drop_empty_folders()
        return changed

    def _has_our_skill(self) -> bool:
        """False where a link leads to it: then it is shared with other projects, and not only ours."""
        try:
            return text.MARK in self._read(self._skill)
        except (Conflict, ReadOnly):
            return False

    def _drop_empty_folders(self) -> None:
        for depth in range(len(_SKILL) - 1, 0, -1):
            try:
                os.rmdir(os.path.join(self.folder, *_SKILL[:depth]))
            except OSError:  # somebody else's skills are there
                return

    def _named(self, memory: str) -> str:
        """The memory's folder as the project's agents write it: relative where it lies inside the project."""
        at = os.path.abspath(os.path.expanduser(memory))
        inside = os.path.relpath(at, self.folder)
        name = at if inside.startswith("..") else inside.replace(os.sep, "/")
        if any(ord(character) < 32 or character == "`" for character in name):
            raise InvalidInput(f"{name!r}: a folder's name with such characters can't stand in a guide")
        return name

    def _read(self, path: str) -> str:
        for part in _on_the_way(self.folder, path):
            if os.path.islink(part):
                raise Conflict(f"{part} is a symbolic link: what it leads to is not changed")
        try:
            with open(path, encoding="utf-8", newline="") as file:
                return file.read()
        except FileNotFoundError:
            return ""
        except UnicodeDecodeError as error:
            raise Conflict(f"{path} is not UTF-8 at byte {error.start}: it is left as it is") from None
        except OSError as error:
            raise ReadOnly(f"{path} can't be read: {error.strerror}") from None

    def _put(self, path: str, content: str) -> None:
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            mode = stat.S_IMODE(os.stat(path).st_mode) if os.path.exists(path) else None
            write_file(path, content.encode())
            if mode is not None:
                os.chmod(path, mode)
        except OSError as error:
            if isinstance(error, ScrubjayError):
                raise
            raise ReadOnly(f"{path} can't be written: {error.strerror}") from None


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except OSError as error:
        raise ReadOnly(f"{path} can't be removed: {error.strerror}") from None


def _on_the_way(folder: str, path: str) -> Iterator[str]:
    at = folder
    for part in os.path.relpath(path, folder).split(os.sep):
        at = os.path.join(at, part)
        yield at


def _parts(present: str) -> tuple[str, str] | None:
    """What stands before and after our block, or None where there is none. Raises Conflict where it is torn."""
    count = present.count(_BEGINS)
    if count == 0 and END not in present:
        return None
    begin, end = present.find(_BEGINS), present.find(END)
    if count != 1 or present.count(END) != 1 or end < begin:
        raise Conflict(f"{_AGENTS}: the markers of our block are torn; take out what lies between them by hand")
    return present[:begin], present[end + len(END) :]


def without_block(present: str) -> str:
    """The text as it was before our block came. Raises Conflict where its markers are torn."""
    parts = _parts(present)
    return present if parts is None else parts[0].removesuffix("\n") + parts[1].removeprefix("\n")


def with_block(present: str, block: str) -> str:
    """The text with our block in its place, or at the end. Raises Conflict where its markers are torn."""
    whole = f"{BEGIN}\n{block}\n{END}"
    parts = _parts(present)
    if parts is not None:
        return parts[0] + whole + parts[1]
    # One newline before and one behind, which `remove` takes out again: the text around is as it was, to the byte.
    return f"{present}\n{whole}\n" if present else f"{whole}\n"
