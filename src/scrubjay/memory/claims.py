"""Claiming numbers: of lives and of episodes. A number is taken by making its folder, which only one process can.

It knows names of folders; it does not know what goes into them. A number is never given twice.
"""

from __future__ import annotations

import os

from scrubjay.memory import journal
from scrubjay.memory.disk import make_folder, storage, sync_folder
from scrubjay.memory.layout import Layout, episode_id

__all__ = ["claim_episode", "claim_life", "episode_numbers", "life_numbers"]

_TRIES_BEFORE_LISTING = 32


def life_numbers(layout: Layout) -> list[int]:
    """The lives that have a folder, in order."""
    return sorted(int(name) for name in _names(layout.lives_folder) if _is_number(name))


def episode_numbers(layout: Layout) -> list[int]:
    """The episodes that have a folder, finished or not, in order."""
    buckets = sorted((name for name in _names(layout.episodes_folder) if _is_number(name)), key=int)
    return sorted(number for bucket in buckets for number in _in_bucket(layout, bucket))


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except FileNotFoundError:
        return []


def _in_bucket(layout: Layout, bucket: str) -> list[int]:
    names = _names(os.path.join(layout.episodes_folder, bucket))
    return [int(name[3:]) for name in names if name.startswith("ep_") and _is_number(name[3:])]


def claim_life(layout: Layout) -> int:
    """Makes the folder of a new life and returns its number."""
    make_folder(layout.lives_folder)
    # The journal counts as well: a life whose folder was lost keeps its number.
    said = (row.get("life") for row in journal.rows(layout.lives))
    number = max([*life_numbers(layout), *(life for life in said if type(life) is int)], default=0) + 1
    while True:
        path = layout.life(number)
        try:
            with storage(path):
                os.mkdir(path)
        except FileExistsError:
            number += 1
            continue
        sync_folder(layout.lives_folder)
        return number


def claim_episode(layout: Layout, after: int | None = None) -> int:
    """Makes the folder of a new episode and returns its number.

    `after` is the last number this process claimed, where there is one: it saves a listing.
    """
    number = (_highest(layout) if after is None else after) + 1
    tries = 0
    while True:
        path = layout.episode(episode_id(number))
        try:
            with storage(path):
                os.mkdir(path)
        except FileNotFoundError:
            make_folder(os.path.dirname(path))
            continue
        except FileExistsError:
            tries += 1
            # Another recorder was faster; after many, far faster.
            number = _highest(layout) + 1 if tries % _TRIES_BEFORE_LISTING == 0 else number + 1
            continue
        return number


def _highest(layout: Layout) -> int:
    buckets = [name for name in _names(layout.episodes_folder) if _is_number(name)]
    for bucket in sorted(buckets, key=int, reverse=True):
        numbers = _in_bucket(layout, bucket)
        if numbers:
            return max(numbers)
    # No folder at all, as in a memory whose evidence was left behind: the index still says what was given.
    with storage(layout.index):
        return max((_number(entry.row.get("id")) for entry in journal.read_backwards(layout.index)), default=-1)


def _number(ident: object) -> int:
    return int(ident[3:]) if isinstance(ident, str) and _is_number(ident[3:]) else -1


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()
