"""`adapters/` in a memory: which adapter each category has, and the folders of the cycles that made them.

    adapters/craft/current.json        {"cycle": 3}: the one file whose replacement puts an adapter in place
    adapters/craft/0003/               a cycle: data.jsonl, configuration.json, losses.jsonl, result.json, adapter/
    adapters/settings.json             the base model

A cycle that was killed leaves a folder without a result, and `current.json` as it was. It knows files, no model.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from scrubjay.errors import Damaged, InvalidInput, Locked
from scrubjay.memory import disk
from scrubjay.memory.jsonio import Json
from scrubjay.memory.layout import Layout

__all__ = ["CycleFolder", "Shelf"]

_CURRENT, _RESULT, _SETTINGS = "current.json", "result.json", "settings.json"


@dataclass(frozen=True, slots=True)
class CycleFolder:
    """The folder of one cycle of one category."""

    category: str
    number: int
    path: str

    @property
    def adapter(self) -> str:
        """A standard peft folder, where the cycle got as far."""
        return os.path.join(self.path, "adapter")

    def write_rows(self, name: str, rows: Iterable[Json]) -> None:
        """`data.jsonl`, `losses.jsonl`: whole and durable."""
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        disk.write_file(os.path.join(self.path, f"{name}.jsonl"), text.encode(errors="backslashreplace"))

    def write(self, name: str, value: Json) -> None:
        """`configuration.json`, `result.json`: whole and durable."""
        text = json.dumps(value, ensure_ascii=False, indent=1) + "\n"
        disk.write_file(os.path.join(self.path, f"{name}.json"), text.encode(errors="backslashreplace"))

    def read(self, name: str) -> Json | None:
        """The object in one of its files, or None where it is not there. Raises Damaged."""
        return _read(os.path.join(self.path, f"{name}.json"))

    def rows(self, name: str) -> list[Json]:
        """The rows of one of its files; none where it is not there. Raises Damaged."""
        path = os.path.join(self.path, f"{name}.jsonl")
        try:
            with open(path, encoding="utf-8") as file:
                return [json.loads(line) for line in file]
        except FileNotFoundError:
            return []
        except ValueError as error:
            raise Damaged(str(error), file=path) from None

    @property
    def is_finished(self) -> bool:
        """False for a cycle that runs, or was killed."""
        return os.path.exists(os.path.join(self.path, _RESULT))


class Shelf:
    """The adapters of a memory."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self.root = layout.adapters

    # --- the base

    @property
    def base(self) -> str | None:
        """The base model that the adapters are of, as `load_base` or `serving` takes it; None where none was chosen."""
        said = _read(os.path.join(self.root, _SETTINGS)) or {}
        base = said.get("base")
        return base if isinstance(base, str) else None

    def choose_base(self, base: str) -> None:
        """Keeps which base it is. Adapters of another one are then refused where they are read."""
        disk.make_folder(self.root)
        disk.write_file(os.path.join(self.root, _SETTINGS), json.dumps({"base": base}).encode() + b"\n")

    # --- adapters in place

    def current(self, category: str) -> CycleFolder | None:
        """The cycle whose adapter is in place. Raises Damaged where the file that says so is no such file."""
        path = os.path.join(self._of(category), _CURRENT)
        said = _read(path)
        if said is None:
            return None
        number = said.get("cycle")
        if type(number) is not int:
            raise Damaged('{"cycle": NUMBER} was expected', file=self._layout.relative(path))
        return self._folder(category, number)

    def lineage(self, category: str | None = None) -> Iterator[CycleFolder]:
        """The cycles whose learning is in the weights in use: those in place, and those that they went on from.

        Of a category, or of all. A cycle that was kept, and killed before its adapter was in place, is none of them.
        """
        for name in self.categories() if category is None else [category]:
            found = self.current(name)
            while found is not None:
                yield found
                before = (found.read("configuration") or {}).get("from_cycle")
                if not isinstance(before, int) or not 0 < before < found.number:
                    break
                found = self._folder(name, before)

    def all(self) -> dict[str, CycleFolder]:
        """The adapters in place, by category."""
        found = {}
        for category in self.categories():
            current = self.current(category)
            if current is not None:
                found[category] = current
        return found

    def categories(self) -> list[str]:
        """Those that have a folder, with an adapter in place or without."""
        try:
            return sorted(one.name for one in os.scandir(self.root) if one.is_dir() and not one.name.startswith("."))
        except FileNotFoundError:
            return []

    # --- cycles

    def cycles(self, category: str | None = None) -> Iterator[CycleFolder]:
        """Every cycle of a category, or of all, in order."""
        for name in self.categories() if category is None else [category]:
            try:
                numbers = sorted(int(one) for one in os.listdir(self._of(name)) if one.isdecimal())
            except FileNotFoundError:
                continue
            yield from (self._folder(name, number) for number in numbers)

    @contextmanager
    def cycle(self, category: str) -> Iterator[CycleFolder]:
        """A new cycle's folder, and nobody else's cycle of this category while the body runs. Raises Locked."""
        disk.make_folder(self._of(category))
        lock = disk.lock_exclusive(os.path.join(self._layout.locks, f"adapters-{category}"), wait=False)
        if lock is None:
            raise Locked(f"another cycle of {category} runs in {self._layout.root}: wait until it is done")
        try:
            number = max((one.number for one in self.cycles(category)), default=0) + 1
            folder = self._folder(category, number)
            disk.make_folder(folder.path)
            yield folder
        finally:
            disk.let_go(lock)

    def put_in_place(self, folder: CycleFolder) -> None:
        """Makes a cycle's adapter the one in use: one rename; a kill before it leaves the old one."""
        path = os.path.join(self._of(folder.category), _CURRENT)
        disk.write_file(path, json.dumps({"cycle": folder.number}).encode() + b"\n")

    def _folder(self, category: str, number: int) -> CycleFolder:
        return CycleFolder(category, number, os.path.join(self._of(category), f"{number:04d}"))

    def _of(self, category: str) -> str:
        if not category or category.startswith(".") or os.sep in category or "\0" in category:
            raise InvalidInput(f"category {category!r:.60}: a name like craft was expected")
        return os.path.join(self.root, category)


def _read(path: str) -> Json | None:
    try:
        with open(path, "rb") as file:
            value = json.loads(file.read())
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise Damaged(str(error), file=path) from None
    if not isinstance(value, dict):
        raise Damaged("an object was expected", file=path)
    return value
