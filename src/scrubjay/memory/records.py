"""The records of a memory as Python objects, and their exact form on disk.

Each knows how to read itself from a decoded JSON object and how to become one again; keys it doesn't know are
kept in `extra` and written back. None of them touches a disk.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeGuard

from scrubjay.memory.jsonio import Json
from scrubjay.memory.light import dataclass, field

__all__ = [
    "CELL_KINDS",
    "REMOVED",
    "SEARCHED_KINDS",
    "GridRow",
    "LifeRow",
    "Row",
    "Step",
    "World",
    "check_row",
    "is_number",
]

REMOVED = "removed"
SEARCHED_KINDS = frozenset({"initial", "episode"})
CELL_KINDS = ("walked", "placed", "opened", "blocked", "hazard")


def is_number(value: Any) -> TypeGuard[int | float]:
    """True for a JSON number; false for booleans, text and null."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _need(row: Mapping[str, Any], key: str, test: Callable[[Any], bool], what: str) -> Any:
    value = row.get(key)
    if not test(value):
        raise ValueError(f"{key}: {what} was expected, found {value!r:.80}")
    return value


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _text_or_none(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _is_point(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 3 and all(map(is_number, value))


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


@dataclass(frozen=True, slots=True)
class Row:
    """The cues of one episode: its line in `index.jsonl`.

    x, y, z is the pose at the start, in the axes and unit of `world`; `end` the pose at the end. Steps are counted
    by life. Rows of a published MFM run have no life, world or times: life 1, no world.
    """

    id: str
    path: str
    kind: str = "episode"
    image: str | None = None
    action_kind: str | None = None
    first_step: int | None = None
    last_step: int | None = None
    x: float | None = None
    y: float | None = None
    z: float | None = None
    summary: str = ""
    tags: tuple[str, ...] = ()
    observation_hash: str | None = None
    events: tuple[str, ...] = ()
    note: str | None = None
    life: int = 1
    world: str | None = None
    place: str | None = None
    end: tuple[float, float, float] | None = None
    outcome: str | None = None
    started: str | None = None
    ended: str | None = None
    digest: str | None = None
    extra: Json = field(default_factory=dict)

    @property
    def number(self) -> int:
        """Position in the one order that a memory has: 43 for `ep_000043`."""
        return int(self.id[3:])

    @property
    def position(self) -> tuple[float, float, float] | None:
        """x, y, z at the start, or None where any of them is unknown."""
        if self.x is None or self.y is None or self.z is None:
            return None
        return (self.x, self.y, self.z)

    @classmethod
    def from_json(cls, row: Json) -> Row:
        """Reads a line of the index. Raises ValueError, naming the key, where it is not a row."""
        check_row(row)
        return cls.from_checked(row)

    @classmethod
    def from_checked(cls, row: Json) -> Row:
        """Reads a line that `check_row` has let pass."""
        values: Json = {}
        extra: Json = {}
        # One pass over what is there: an index of a million rows is read through here.
        for key, value in row.items():
            if key not in _ROW_NAMES:
                extra[key] = value
            elif value is not None:
                values[key] = tuple(value) if key in _ROW_LISTS else value
        return cls(**values, extra=extra)

    def to_json(self) -> Json:
        """The object that `index.jsonl` holds, keys in the order of the format."""
        row: Json = {name: getattr(self, name) for name in _ROW_ORDER}
        row["tags"] = list(self.tags)
        row["events"] = list(self.events)
        row["end"] = None if self.end is None else list(self.end)
        return {**row, **self.extra}


_ROW_ORDER = (
    "id", "kind", "path", "image", "action_kind", "first_step", "last_step", "x", "y", "z", "summary", "tags",
    "observation_hash", "events", "note", "life", "world", "place", "end", "outcome", "started", "ended", "digest",
)  # fmt: skip
_ROW_NAMES = frozenset(_ROW_ORDER)
_ROW_LISTS = frozenset({"tags", "events", "end"})
_ROW_TYPES: dict[str, tuple[tuple[type, ...], str]] = {
    **dict.fromkeys(
        (
            "kind", "image", "action_kind", "summary", "observation_hash", "note",
            "world", "place", "outcome", "started", "ended", "digest",
        ),
        ((str,), "text or null"),
    ),
    **dict.fromkeys(("first_step", "last_step"), ((int,), "a whole number or null")),
    **dict.fromkeys(("x", "y", "z"), ((int, float), "a number or null")),
    "life": ((int,), "a whole number above 0"),
}  # fmt: skip
_MOST_SHAPES = 1024
_right_shapes: set[tuple[Any, ...]] = set()


def check_row(row: Json) -> None:
    """Raises ValueError, naming the key, where this is no row of the index."""
    ident = _need(row, "id", _text, "text")
    if not (ident.startswith("ep_") and ident[3:].isascii() and ident[3:].isdigit() and len(ident) >= 9):
        raise ValueError(f"id: {ident!r:.80} is not an episode's id")
    # Rows have few shapes, and what a key and a type decide is looked at once for each.
    shape = (*row, *map(type, row.values()))
    if shape not in _right_shapes:
        _check_types(row)
        if len(_right_shapes) < _MOST_SHAPES:
            _right_shapes.add(shape)
    if row.get("tags"):
        _need(row, "tags", _texts, "a list of texts")
    if row.get("events"):
        _need(row, "events", _texts, "a list of texts")
    if row.get("life") is not None and row["life"] < 1:
        raise ValueError(f"life: a whole number above 0 was expected, found {row['life']!r:.80}")
    if row.get("end") is not None:
        _need(row, "end", _is_point, "x, y, z")


def _check_types(row: Json) -> None:
    _need(row, "path", _text, "text")
    for key, value in row.items():
        expected = _ROW_TYPES.get(key)
        if expected is not None and value is not None and type(value) not in expected[0]:
            raise ValueError(f"{key}: {expected[1]} was expected, found {value!r:.80}")
    for key in ("tags", "events"):
        if row.get(key) is not None:
            _need(row, key, _texts, "a list of texts")


@dataclass(frozen=True, slots=True)
class Step:
    """One observation of an episode, and the action taken from it.

    `state` is the structured part of the observation. `after` is the action that led here (None at the first),
    `action` the one taken from here (None at the last); `reward`, `terminated` and `truncated` came with the
    observation. `frames` maps a camera (`""` where there is one) to its frame's name, or to None where it is
    missing, with the reason in `missing`.
    """

    step: int
    time: str
    state: Json
    after: Any = None
    action: Any = None
    reward: float | None = None
    terminated: bool = False
    truncated: bool = False
    info: Json | None = None
    frames: dict[str, str | None] = field(default_factory=dict)
    missing: str | None = None
    extra: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class World:
    """The coordinate frame that positions belong to.

    `up` is the vertical axis (`x`, `y` or `z`); `near` and `radius` use the other two, in alphabetical order.
    `cell` is the edge of a grid cell in `unit`s. `yaw` says which way yaw 0 looks and turns.
    """

    world: str
    up: str = "y"
    unit: str = "unit"
    cell: float = 1.0
    yaw: str | None = None
    extra: Json = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.up not in ("x", "y", "z"):
            raise ValueError(f"up: an axis x, y or z was expected, found {self.up!r}")
        if not (is_number(self.cell) and self.cell > 0):
            raise ValueError(f"cell: a size above 0 was expected, found {self.cell!r}")

    @property
    def ground(self) -> tuple[int, int]:
        """Indices into (x, y, z) of the two axes that are not up: (0, 2) for y up."""
        first, second = (axis for axis in range(3) if "xyz"[axis] != self.up)
        return first, second

    @classmethod
    def from_json(cls, row: Json) -> World:
        """Reads a line of `worlds.jsonl`. Raises ValueError where it is not one."""
        _need(row, "world", _text, "text")
        return cls(**_known(cls, row))

    def to_json(self) -> Json:
        """The object that `worlds.jsonl` holds."""
        return {
            "world": self.world,
            "up": self.up,
            "unit": self.unit,
            "cell": self.cell,
            "yaw": self.yaw,
            **self.extra,
        }


@dataclass(frozen=True, slots=True)
class LifeRow:
    """What `lives.jsonl` says of one life, its start and its end joined. `ended` is None while it runs."""

    life: int
    task: str
    world: str | None
    started: str
    method: str | None = None
    model: str | None = None
    ended: str | None = None
    outcome: str | None = None
    extra: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GridRow:
    """One cell event: `kind` is one of CELL_KINDS, `cell` the floor of the position over the world's cell size."""

    cell: tuple[int, int, int]
    kind: str
    step: int
    episode: str
    world: str | None
    extra: Json = field(default_factory=dict)

    @classmethod
    def from_json(cls, row: Json) -> GridRow:
        """Reads a line of `grid.jsonl`. Raises ValueError where it is not one."""
        cell = _need(
            row,
            "cell",
            lambda v: isinstance(v, list) and len(v) == 3 and all(type(c) is int for c in v),
            "three integers",
        )
        known = {
            "kind": _need(row, "kind", _text, "text"),
            "step": _need(row, "step", lambda v: type(v) is int, "a whole number"),
            "episode": _need(row, "episode", _text, "text"),
            "world": _need({"world": None, **row}, "world", _text_or_none, "text or null"),
        }
        extra = {key: value for key, value in row.items() if key != "cell" and key not in known}
        return cls(cell=(cell[0], cell[1], cell[2]), extra=extra, **known)

    def to_json(self) -> Json:
        """The object that `grid.jsonl` holds: what is particular to the kind stands before step and episode."""
        return {
            "cell": list(self.cell), "kind": self.kind, **self.extra,
            "step": self.step, "episode": self.episode, "world": self.world,
        }  # fmt: skip


def _known(cls: type[Any], row: Json) -> Json:
    names = set(cls.__slots__) - {"extra"}
    known = {key: value for key, value in row.items() if key in names}
    return {**known, "extra": {key: value for key, value in row.items() if key not in names}}
