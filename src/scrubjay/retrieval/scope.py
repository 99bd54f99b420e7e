"""Which lives and which world a query covers.

Conditions on position compare within one world; the others cover the life in question: the one named, else that
of `$SCRUBJAY_LIFE`, else the one running, else the newest. It knows `lives.jsonl`, `worlds.jsonl` and the locks.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput
from scrubjay.memory import journal
from scrubjay.memory.folder import is_running, worlds
from scrubjay.memory.layout import Layout
from scrubjay.memory.light import dataclass
from scrubjay.memory.records import World
from scrubjay.retrieval.query import ALL_LIVES, Query

if TYPE_CHECKING:
    from scrubjay.retrieval.derived import Facts

__all__ = ["Scope", "Surroundings", "life_from_environment", "scope_of"]

_VARIABLE = "SCRUBJAY_LIFE"


@dataclass(frozen=True, slots=True)
class Scope:
    """Lives from `first` to `last`, and rows of `world` alone where `one_world` is true.

    `ground` and `up` index the axes of that world in (x, y, z); `cell` is the size of its cells.
    """

    first: int = 0
    last: int | None = None
    one_world: bool = False
    world: str | None = None
    ground: tuple[int, int] = (0, 2)
    up: int = 1
    cell: float = 1.0


class Surroundings:
    """What a memory's journals say of its lives and worlds, read again when these change."""

    def __init__(self, layout: Layout, *, bare: bool) -> None:
        self.bare = bare
        self._layout = layout
        self._lives: dict[int, str | None] = {}
        self._open: set[int] = set()
        self._worlds: dict[str, World] = {}
        self._seen: dict[str, tuple[int, int, int] | None] = {}

    def _changed(self, path: str) -> bool:
        try:
            status = os.stat(path)
            now = (status.st_ino, status.st_size, status.st_mtime_ns)
        except OSError:
            now = None
        changed = path not in self._seen or self._seen[path] != now
        self._seen[path] = now
        return changed

    def _read_lives(self) -> None:
        if self.bare or not self._changed(self._layout.lives):
            return
        self._lives, self._open = {}, set()
        for row in journal.rows(self._layout.lives):
            life, world = row.get("life"), row.get("world")
            if type(life) is not int or life < 1:
                continue
            if row.get("ended") is not None:
                self._open.discard(life)
            else:
                self._lives[life] = world if isinstance(world, str) else None
                self._open.add(life)

    def newest_life(self) -> int:
        """The highest life that began; 0 where none did."""
        self._read_lives()
        return max(self._lives, default=0)

    def running_life(self) -> int | None:
        """The highest life whose lock is held."""
        self._read_lives()
        for life in sorted(self._open, reverse=True):
            if is_running(self._layout, life):
                return life
        return None

    def world_at_start(self, life: int) -> str | None:
        """The world that a life began in."""
        self._read_lives()
        return self._lives.get(life)

    def world(self, name: str | None) -> World:
        """The axes of a world; one that was never described has y up."""
        if not self.bare and self._changed(self._layout.worlds):
            self._worlds = worlds(self._layout)
        return self._worlds.get(name or "", World(name or ""))


def life_from_environment() -> int | str | None:
    """The life that `$SCRUBJAY_LIFE` names, `all`, or None. Raises InvalidInput for anything else."""
    text = os.environ.get(_VARIABLE, "").strip()
    if text in ("", ALL_LIVES):
        return text or None
    if not (text.isascii() and text.isdigit()):
        raise InvalidInput(f"${_VARIABLE}: a life's number or {ALL_LIVES!r} was expected, found {text!r}")
    return int(text)


def scope_of(query: Query, surroundings: Surroundings, facts: Facts) -> Scope:
    """The lives and the world that `query` covers. Raises InvalidInput for a bad `$SCRUBJAY_LIFE`."""
    named = query.life
    if named is None and not surroundings.bare:
        named = life_from_environment()
    first, last = _lives(query, named, surroundings, facts)
    if not query.has_position:
        return Scope(first, last, query.world is not None, query.world)
    world = query.world
    if world is None:
        life = _in_question(named, surroundings, facts)
        has_row, world = facts.world_of(life)
        if not has_row:
            world = surroundings.world_at_start(life)
    axes = surroundings.world(world)
    return Scope(first, last, True, world, axes.ground, "xyz".index(axes.up), float(axes.cell))


def _lives(query: Query, named: int | str | None, surroundings: Surroundings, facts: Facts) -> tuple[int, int | None]:
    if query.previous:
        return (0, _in_question(named, surroundings, facts) - 1)
    if isinstance(query.life, int):
        return (query.life, query.life)
    if query.life == ALL_LIVES or query.has_position or query.world is not None or named == ALL_LIVES:
        return (0, None)
    life = _in_question(named, surroundings, facts)
    return (life, life)


def _in_question(named: int | str | None, surroundings: Surroundings, facts: Facts) -> int:
    if isinstance(named, int):
        return named
    running = surroundings.running_life()
    return running if running is not None else max(surroundings.newest_life(), facts.newest_life())
