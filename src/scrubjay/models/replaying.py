"""Conversations kept in a file and given again: a recorder around a model, and a model that is the recording.

A recording holds one row per answered request: digests of what was asked, and the reply. What was asked itself, its
pictures above all, is not kept: whoever replays asks the same again, and the digests say whether it was.
"""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import Any

from scrubjay.errors import Conflict, Damaged, NotFound
from scrubjay.memory import journal
from scrubjay.memory.jsonio import Json
from scrubjay.models.chat import ChatModel, Message, Reply, Tool, ToolCall, Usage
from scrubjay.models.digests import RequestDigest, digest_of

__all__ = ["Difference", "Recorder", "Replay"]


class Recorder:
    """A model that keeps the replies of another one in the file `path`, which is gone on with where it is there.

    A reply is durable before it is handed out.
    """

    def __init__(self, model: ChatModel, path: str) -> None:
        self._model, self._path = model, os.path.abspath(path)
        self._kept = sum(1 for _ in journal.rows(path))

    @property
    def name(self) -> str:
        """The name of the model that is recorded."""
        return self._model.name

    def request(self, system: str, messages: tuple[Message, ...], tools: tuple[Tool, ...]) -> Reply:
        """One request. Raises what the model raises, and StorageFull, StorageFailed or ReadOnly."""
        reply = self._model.request(system, messages, tools)
        asked = asdict(digest_of(system, messages, tools))
        row = {"request": self._kept + 1, "model": self.name, "asked": asked, "reply": asdict(reply)}
        journal.append(self._path, f"{self._path}.lock", [row])
        self._kept += 1
        return reply


@dataclass(frozen=True, slots=True)
class Difference:
    """Where a conversation first differs from its recording: at which request, from 1, and in what."""

    request: int
    what: str

    def __str__(self) -> str:
        return f"request {self.request} is not the one that was recorded: {self.what}"


class Replay:
    """A model that gives the replies of a recording, in order.

    A request other than the recorded one raises Conflict, which says in what it differs; with `is_strict` false it
    is answered all the same, and `difference` keeps the first. After the last reply comes NotFound.
    """

    def __init__(self, path: str, *, is_strict: bool = True) -> None:
        self._path, self._is_strict = path, is_strict
        self._rows = _rows(path)
        self._next = 0
        self.difference: Difference | None = None

    @property
    def name(self) -> str:
        """`replay:` and the model that was recorded."""
        return f"replay:{self._rows[0]['model']}"

    def request(self, system: str, messages: tuple[Message, ...], tools: tuple[Tool, ...]) -> Reply:
        """The next reply."""
        if self._next == len(self._rows):
            raise NotFound(f"{self._path} ends after {self._next} requests, and another was made")
        row = self._rows[self._next]
        what = _difference(_asked(row), digest_of(system, messages, tools))
        if what and self.difference is None:
            self.difference = Difference(self._next + 1, what)
        if what and self._is_strict:
            raise Conflict(f"{self._path}: {self.difference}")
        self._next += 1
        return _reply(row["reply"])


def _rows(path: str) -> list[Json]:
    found: list[Json] = []
    for line in journal.read(path):
        # A torn line is passed over: its reply was never handed out, and its number was given again.
        if isinstance(line, journal.Entry):
            _check(line, path, len(found) + 1)
            found.append(line.row)
    if not found:
        raise NotFound(f"{path} holds no recorded reply")
    return found


def _check(line: journal.Entry, path: str, number: int) -> None:
    row = line.row
    try:
        _asked(row)
        _reply(row["reply"])
        reason = None if row["request"] == number and isinstance(row["model"], str) else f"no reply {number} before it"
    except (KeyError, TypeError) as error:
        reason = f"not a recorded reply ({error!r})"
    if reason:
        raise Damaged(reason, file=path, offset=line.offset)


def _asked(row: Json) -> RequestDigest:
    asked: dict[str, Any] = row["asked"]
    return RequestDigest(asked["system"], asked["tools"], tuple(asked["messages"]))


def _reply(kept: dict[str, Any]) -> Reply:
    calls = tuple(ToolCall(**call) for call in kept["calls"])
    return Reply(**{**kept, "calls": calls, "usage": Usage(**kept["usage"])})


def _difference(recorded: RequestDigest, asked: RequestDigest) -> str | None:
    if recorded.system != asked.system:
        return "the system prompt"
    if recorded.tools != asked.tools:
        return "the tools"
    for number, (before, now) in enumerate(zip(recorded.messages, asked.messages, strict=False), start=1):
        if before != now:
            return f"message {number} of {len(asked.messages)}"
    if len(recorded.messages) != len(asked.messages):
        return f"{len(asked.messages)} messages, {len(recorded.messages)} were recorded"
    return None
