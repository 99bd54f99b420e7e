"""One observation on its way into a memory: checked, copied, and said what is not finite in it.

It knows states, frames and times as callers give them; it does not know where they will lie.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from scrubjay.errors import InvalidInput
from scrubjay.memory.frames import FrameCodec, Picture, picture
from scrubjay.memory.jsonio import Json, clean

__all__ = ["Observation", "mapping", "number", "observe", "utc"]

_CAMERA = re.compile(r"[A-Za-z0-9_]{1,40}")  # a part of a file name on every system, and of a member of a tar


def utc(time: datetime | str | None) -> str:
    """ISO 8601 with offset, to the millisecond; now where nothing is given. A time without a zone is UTC."""
    if isinstance(time, str):
        try:
            time = datetime.fromisoformat(time)
        except ValueError:
            raise InvalidInput(f"time: ISO 8601 was expected, found {time!r}") from None
    moment = time or datetime.now(UTC)
    moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return moment.isoformat(timespec="milliseconds")


@dataclass(frozen=True, slots=True)
class Observation:
    """What was seen at one step: the state as JSON, a picture of each camera, and when."""

    state: Json
    pictures: Mapping[str | None, Picture]
    time: str
    not_finite: tuple[str, ...] = ()
    missing: str | None = None


def mapping(given: Any, name: str) -> tuple[Json, list[str]]:
    """A copy of a mapping as JSON (None: an empty one), and where in it a number is not finite. Raises InvalidInput."""
    if given is not None and not isinstance(given, Mapping):
        raise InvalidInput(f"{name}: a mapping was expected, found {type(given).__name__}")
    return clean(dict(given or {}))


def number(given: Any, name: str) -> tuple[float | None, list[str]]:
    """A number as JSON, and its name where it is not finite. Raises InvalidInput."""
    try:
        cleaned, bad = clean(float(given))
    except (TypeError, ValueError):
        raise InvalidInput(f"{name}: a number was expected, found {given!r:.80}") from None
    return cleaned, [name] if bad else []


def observe(frame: Any, state: Any, time: Any, missing: str | None, codec: FrameCodec) -> Observation:
    """Checks an observation and takes a copy of it. Raises InvalidInput that names what is wrong."""
    cleaned, not_finite = mapping(state, "state")
    given = frame if isinstance(frame, Mapping) else {None: frame}
    pictures = {camera: picture(shown, codec) for camera, shown in given.items() if shown is not None}
    for camera in given:
        if camera is not None and not (isinstance(camera, str) and _CAMERA.fullmatch(camera)):
            raise InvalidInput(f"frame: a camera's name is 1 to 40 of a-z, A-Z, 0-9 and _, found {camera!r}")
    if len({str(camera).lower() for camera in given}) < len(given):
        raise InvalidInput(f"frame: cameras must differ in more than capitals, found {', '.join(map(str, given))}")
    return Observation(
        cleaned, pictures, utc(time), tuple(f"state.{path}" for path in not_finite), missing if not pictures else None
    )
