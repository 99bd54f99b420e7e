"""Tasks: a text, the project it starts from, the netlist it is judged by. Read from a folder, never executed.

A folder of tasks holds `tasks.json` and a folder for each (`reference.net`, `initial/`); a checkout of the cua-bench
dataset, where each folder has a `main.py` instead, is read as well.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scrubjay.environments.kicad.cua_bench import told_in
from scrubjay.environments.kicad.netlist import Netlist
from scrubjay.environments.kicad.project import SCHEMATIC
from scrubjay.errors import Damaged, InvalidInput, NotFound

__all__ = ["OWN_TASKS", "Task", "find_task", "read_tasks"]

OWN_TASKS = Path(__file__).parent / "own_tasks"
_LIST = "tasks.json"
_REFERENCE = "reference.net"
_INITIAL = "initial"
_NAME = re.compile(r"[\w+-][\w.+-]{0,59}")


@dataclass(frozen=True, slots=True)
class Task:
    """One task. `folder` holds its files; `schematic` is the starting one inside `initial`, None for a blank sheet."""

    id: str
    text: str
    difficulty: str
    folder: Path
    schematic: Path | None = None

    @property
    def initial(self) -> Path:
        """The folder of the project it starts from; it may not be there."""
        return self.folder / _INITIAL

    def reference(self) -> Netlist:
        """The netlist it is judged by. Raises NotFound where there is none, Damaged where it can't be read."""
        path = self.folder / _REFERENCE
        if not path.is_file():
            raise NotFound(f"task {self.id} can't be scored: there is no {path}")
        return Netlist.load(path)


def read_tasks(folder: str | os.PathLike[str] | None = None) -> tuple[Task, ...]:
    """The tasks in a folder, in its order; without one, those that ship with scrubjay.

    Raises NotFound where the folder holds no tasks, Damaged where its list can't be read.
    """
    root = OWN_TASKS if folder is None else Path(folder)
    if not root.is_dir():
        raise NotFound(f"there is no folder of tasks {root}")
    found = tuple(_listed(root) if (root / _LIST).is_file() else _checked_out(root))
    twice = next((ident for ident, count in Counter(task.id for task in found).items() if count > 1), None)
    if twice is not None:
        raise Damaged(f"there are two tasks with the id {twice}", file=str(root / _LIST))
    if not found:
        raise NotFound(f"{root} holds no tasks: a {_LIST} was expected, or a folder with main.py for each task")
    return found


def find_task(ident: str, folder: str | os.PathLike[str] | None = None) -> Task:
    """One task by its id. Raises NotFound that names those there are."""
    tasks = read_tasks(folder)
    for task in tasks:
        if task.id == ident:
            return task
    names = ", ".join(task.id for task in tasks)
    raise NotFound(f"there is no task {ident!r:.60} in {folder or 'the tasks that ship'}: there are {names}")


def _listed(root: Path) -> Iterator[Task]:
    path = root / _LIST
    try:
        rows = json.loads(path.read_bytes())
    except (ValueError, RecursionError, OSError) as error:
        raise Damaged(f"no list of tasks: {error}", file=str(path)) from None
    if not isinstance(rows, list):
        raise Damaged("a list of tasks was expected", file=str(path))
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            raise Damaged(f"entry {number}: an object was expected", file=str(path))
        ident, text = _word(row, "id", number, path), _word(row, "description", number, path)
        if os.path.basename(ident) != ident or ident.startswith("."):
            raise Damaged(f"entry {number}: {ident!r:.60} can't be the name of a folder", file=str(path))
        yield _task(root, ident, text, str(row.get("difficulty", "")))


def _word(row: dict[str, Any], name: str, number: int, path: Path) -> str:
    value = row.get(name)
    if not isinstance(value, str) or not value.strip():
        raise Damaged(f"entry {number}: {name}: some text was expected, found {value!r:.60}", file=str(path))
    return value


def _checked_out(root: Path) -> Iterator[Task]:
    for folder in sorted(one for one in root.iterdir() if (one / "main.py").is_file()):
        told = told_in(folder / "main.py")
        yield _task(root, folder.name, told.description, told.difficulty)


def _task(root: Path, ident: str, text: str, difficulty: str) -> Task:
    if not _NAME.fullmatch(ident) or ident == "all":
        raise Damaged(f"{ident!r:.60} can't be the id of a task: up to 60 letters, digits and -_.+", file=str(root))
    if not _is_text(text) or not _is_text(difficulty):
        raise Damaged(f"task {ident}: its text holds a lone surrogate, which is no character", file=str(root))
    folder = root / ident
    schematics = sorted(_schematics(folder / _INITIAL, os.path.realpath(root)))
    if len(schematics) > 1:
        schematics = [one for one in schematics if one.with_suffix(".kicad_pro").is_file()] or schematics
        if len(schematics) > 1:
            raise InvalidInput(f"task {ident}: {len(schematics)} projects in {folder / _INITIAL}; one was expected")
    return Task(ident, text, difficulty, folder, schematics[0] if schematics else None)


def _is_text(text: str) -> bool:
    return not any("\ud800" <= one <= "\udfff" for one in text)


def _schematics(initial: Path, root: str) -> Iterator[Path]:
    """Those of a starting project. Raises Damaged for a link that leads out of the tasks, or to a folder.

    What lies there is copied, shown on the screen and so to the model: it must be the task's own.
    """
    _refuse_if_outside(initial, root)
    for folder, folders, names in os.walk(initial):
        for path in (Path(folder, name) for name in (*folders, *names)):
            if path.is_symlink():
                _refuse_if_outside(path, root)
                if path.is_dir():
                    raise Damaged("a link to a folder is in a starting project", file=str(path))
            if path.suffix == SCHEMATIC and path.is_file():
                yield path


def _refuse_if_outside(path: Path, root: str) -> None:
    real = os.path.realpath(path)
    if os.path.commonpath((real, root)) != root:
        raise Damaged(f"it leads out of the folder of tasks, to {real}", file=str(path))
