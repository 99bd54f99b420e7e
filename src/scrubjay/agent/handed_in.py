"""What a coding agent hands in by writing a file below `mine/`: `actions.json`, a plan; `updates.json`, what it would
change at a consolidation.

It knows those files and their form; what stands there is checked before anything is done with it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Sequence

from scrubjay.agent.planning import CheckCall, entries_of
from scrubjay.errors import InvalidInput
from scrubjay.memory.jsonio import Json, loads_object
from scrubjay.memory.layout import Layout
from scrubjay.models.contract import Entry

__all__ = ["UPDATES", "clear", "content", "read"]

UPDATES = "updates.json"
_LIMIT = 1 << 20


def clear(layout: Layout) -> None:
    """Removes what an earlier turn handed in, so that what is there afterwards is new."""
    for name in (Layout.ACTIONS, UPDATES):
        _clear(layout, name)


def _clear(layout: Layout, name: str) -> None:
    if not os.path.isdir(layout.mine) or os.path.islink(layout.mine):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(layout.mine)
        os.mkdir(layout.mine)
    path = os.path.join(layout.mine, name)
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def read(layout: Layout, turn: int, actions: Sequence[str], check: CheckCall) -> tuple[tuple[Entry, ...], str]:
    """The plan and its intention. Raises InvalidInput that tells the agent what is wrong."""
    given = content(layout, Layout.ACTIONS, '{"plan": [{"action": "noop"}]}')
    if given.get("turn", turn) != turn:
        raise InvalidInput(f"turn: this is turn {turn}, and the plan is for turn {given['turn']!r:.20}")
    intention = given.get("intention", "")
    return entries_of(given, actions, check), intention[:500] if isinstance(intention, str) else ""


def content(layout: Layout, name: str, example: str) -> Json:
    """The JSON object in a file that was handed in. Raises InvalidInput that tells the agent what is wrong."""
    path = os.path.join(layout.mine, name)
    try:
        # Neither a link nor a pipe: the one leads elsewhere, the other keeps us waiting.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        raise InvalidInput("it was not written") from None
    except OSError as error:
        raise InvalidInput(f"it can't be read: {error.strerror}") from None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise InvalidInput("it is no file")
        with open(descriptor, "rb", closefd=False) as file:
            data = file.read(_LIMIT + 1)
    finally:
        os.close(descriptor)
    if len(data) > _LIMIT:
        raise InvalidInput(f"it has more than {_LIMIT} bytes")
    try:
        return loads_object(data)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"no JSON object such as {example}: {error}"[:300]) from None
