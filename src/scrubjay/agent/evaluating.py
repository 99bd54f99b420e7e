"""The evaluator's view of a life, kept beside its episodes and never among them.

An episode's events are searched by the agent that lives, and a coding agent may read the whole folder of its memory.
So a row that comes while a life runs goes to a file of the user's, outside the memory; once the life is over, its rows
move into the memory, into a file that no tool of a model reads. Those of a life whose process was killed move when the
next one begins.
"""

from __future__ import annotations

import contextlib
import os
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from scrubjay.environments.contract import Environment
from scrubjay.environments.tasked import Tasked
from scrubjay.errors import ScrubjayError
from scrubjay.memory import journal
from scrubjay.memory.folder import is_running
from scrubjay.memory.jsonio import Json

if TYPE_CHECKING:
    from scrubjay.memory.lives import Life
    from scrubjay.public import Memory

__all__ = ["evaluated", "evaluation_of", "evaluations"]

_SUFFIX = ".jsonl"


@contextmanager
def evaluated(environment: Environment, memory: Memory, life: Life) -> Iterator[None]:
    """Keeps what the evaluator notes as it comes, and judges the life when it is left, however that happens."""
    if not isinstance(environment, Tasked):
        yield
        return
    _move_those_of_the_dead(memory)
    path = _waiting(memory, life.number)
    environment.tell_evaluator(lambda row: _keep(path, row))
    try:
        yield
    finally:
        try:
            environment.end_life(None)
        finally:
            environment.tell_evaluator(None)
            _move(memory, life.number, environment.evaluation())


def evaluations(memory: Memory) -> dict[int, list[Json]]:
    """The rows of every life that has any, by its number; of one that runs, those that there are."""
    rows = {life.life: evaluation_of(memory, life.life) for life in memory.lives()}
    return {life: found for life, found in rows.items() if found}


def evaluation_of(memory: Memory, life: int) -> list[Json]:
    """The rows of one life."""
    return list(journal.rows(memory.layout.evaluation(life))) or _read(_waiting(memory, life))


def _keep(path: str, row: Json) -> None:
    """Keeps a row for the case that this process is killed; a life does not fail for want of that."""
    with contextlib.suppress(OSError, ScrubjayError):
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        journal.append(path, f"{path}.lock", (row,))


def _read(path: str) -> list[Json]:
    try:
        return list(journal.rows(path))
    except OSError:
        return []


def _folder(memory: Memory) -> str:
    """Of this memory in this place: a copy elsewhere lives on its own."""
    base = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    name = f"{memory.uuid}-{zlib.crc32(os.fsencode(memory.layout.root)):08x}"
    return os.path.join(base, "scrubjay", "evaluations", name)


def _waiting(memory: Memory, life: int) -> str:
    return os.path.join(_folder(memory), f"{life:04d}{_SUFFIX}")


def _move_those_of_the_dead(memory: Memory) -> None:
    with contextlib.suppress(OSError):
        for name in sorted(os.listdir(_folder(memory))):
            number = name.removesuffix(_SUFFIX)
            if name.endswith(_SUFFIX) and number.isdigit() and not is_running(memory.layout, int(number)):
                _move(memory, int(number), _read(_waiting(memory, int(number))))


def _move(memory: Memory, life: int, made: Sequence[Json]) -> None:
    """Brings the rows of a life into the memory, once, also where an earlier move was cut off."""
    source, path = _waiting(memory, life), memory.layout.evaluation(life)
    if made:
        journal.append_made(path, memory.layout.lock_of(path), lambda: [] if any(journal.rows(path)) else made)
    for one in (source, f"{source}.lock"):
        with contextlib.suppress(OSError):
            os.unlink(one)
    with contextlib.suppress(OSError):
        os.rmdir(_folder(memory))
