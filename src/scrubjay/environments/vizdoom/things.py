"""What lies in a map, read from the wad: weapons, keys, armour, secrets. For milestones that the map can give.

It knows the file format of Doom (the Unofficial Doom Specs, chapter 4); it starts no game.
"""

from __future__ import annotations

import itertools
import struct
from dataclasses import dataclass
from typing import BinaryIO

from scrubjay.errors import InvalidInput

__all__ = ["Contents", "contents"]

_THINGS, _SECTORS = 1, 8  # lumps of a map, counted from its name
_THING, _SECTOR = struct.Struct("<hhhHH"), struct.Struct("<hh8s8shHH")
_MULTIPLAYER = 16
_SECRET = 9
# The game's numbers for things, and for the monsters that drop one.
_WEAPONS = {2005: "chainsaw", 2001: "shotgun", 82: "shotgun", 9: "shotgun", 2002: "chaingun", 65: "chaingun"}
_WEAPONS |= {2003: "rocket_launcher", 2004: "plasma_gun", 2006: "bfg"}
_KEYS = {5: "blue_key", 40: "blue_key", 13: "red_key", 38: "red_key", 6: "yellow_key", 39: "yellow_key"}
_ARMOR = (2015, 2018, 2019)


@dataclass(frozen=True, slots=True)
class Contents:
    """What a map holds at a skill, in the order of the game's own lists."""

    weapons: tuple[str, ...]
    keys: tuple[str, ...]
    has_armor: bool
    has_secrets: bool


def contents(path: str, doom_map: str, skill: int) -> Contents:
    """What `doom_map` (`MAP01`, `E1M1`) of a wad holds for one player. Raises InvalidInput where it is not in there."""
    with open(path, "rb") as wad:
        _, count, start = struct.unpack("<4sii", wad.read(12))
        wad.seek(start)
        lumps = [struct.unpack("<ii8s", wad.read(16)) for _ in range(count)]
        names = [name.rstrip(b"\0").decode("latin-1") for _, _, name in lumps]
        maps = [name for name, after in itertools.pairwise(names) if after == "THINGS"]
        if doom_map not in maps:
            raise InvalidInput(f"doom_map: {doom_map!r} is no map of this wad: {', '.join(maps)}")
        at = names.index(doom_map)
        things = _records(wad, lumps[at + _THINGS], _THING)
        sectors = _records(wad, lumps[at + _SECTORS], _SECTOR)
    shown = 1 << max(0, min(2, skill - 2))  # skills 1 and 2 share a flag, so do 4 and 5
    kinds = {kind for _, _, _, kind, flags in things if flags & shown and not flags & _MULTIPLAYER}
    return Contents(
        tuple(dict.fromkeys(name for kind, name in _WEAPONS.items() if kind in kinds)),
        tuple(dict.fromkeys(name for kind, name in _KEYS.items() if kind in kinds)),
        any(kind in kinds for kind in _ARMOR),
        any(sector[5] == _SECRET for sector in sectors),
    )


def _records(wad: BinaryIO, lump: tuple[int, int, bytes], form: struct.Struct) -> list[tuple[int, ...]]:
    wad.seek(lump[0])
    data = wad.read(lump[1])
    return list(form.iter_unpack(data[: len(data) // form.size * form.size]))
