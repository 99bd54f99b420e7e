"""What an observation of any Gymnasium environment shows (its frame) and says (its state).

It knows the usual shapes of observations and infos. It does not know steps, episodes or memories.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from scrubjay.errors import InvalidInput
from scrubjay.memory.jsonio import Json, clean

__all__ = ["NO_FRAME", "Seen", "as_frame", "see", "storable"]

NO_FRAME = "the observation is no image and the environment does not render rgb_array"
_SMALLEST_EDGE = 16  # below it, uint8 arrays are boards and codes, not pictures
_MOST_NUMBERS = 10_000
_DEEPEST = 100
_KNOWN = ("pos", "yaw", "pitch", "facing", "inventory", "health", "achievements", "milestones", "gui", "dead", "cells")


@dataclass(frozen=True, slots=True)
class Seen:
    """An observation taken apart: a frame (or several, by camera), or why there is none; state; what else was told."""

    frame: Any
    missing: str | None
    state: Json
    info: Json | None = None


def see(
    observation: Any, info: Mapping[str, Any], render: Callable[[], Any] | None = None, missing: str = NO_FRAME
) -> Seen:
    """Takes an observation apart.

    The frame is the image in the observation, else what `render` gives, else none. The state is `info["state"]`
    where there is one, else the rest of the observation with the scalars and the usual keys of `info`. What else
    `info` holds is told by its type alone. Frames are copies: an environment may reuse its buffers.
    """
    pictures, rest = _apart(observation)
    frame = pictures or (None if render is None else as_frame(render(), smallest=1))
    if isinstance(frame, dict) and len(frame) == 1:
        frame = next(iter(frame.values()))
    scalars = {key: value for key, value in info.items() if _is_scalar(value)}
    given = info.get("state")
    if isinstance(given, Mapping):
        state, taken = dict(given), {"state"}
        if "milestones" in info and not {"milestones", "achievements"} & state.keys():
            state["milestones"] = info["milestones"]
            taken.add("milestones")
        told = scalars
    else:
        state = {**scalars, **{key: _said(info[key]) for key in _KNOWN if key in info}, **rest}
        told, taken = {}, set(_KNOWN)
    told = {**told, **{key: _named_only(value) for key, value in info.items() if key not in {*scalars, *taken}}}
    return Seen(frame, None if frame is not None else missing, state, told or None)


def _named_only(value: Any) -> Json:
    """What was told and is not kept: environments put whole worlds into their infos."""
    return {"left_out": f"{value.dtype} {tuple(value.shape)}" if hasattr(value, "dtype") else type(value).__name__}


def storable(seen: Seen) -> Seen:
    """The same without what JSON can't hold: in its place stands what it was, `{"left_out": "Player"}`."""
    return replace(seen, state=_kept(seen.state, 0), info=None if seen.info is None else _kept(seen.info, 0))


def _kept(value: Any, depth: int) -> Any:
    if depth > _DEEPEST:
        return {"left_out": "what lies deeper"}
    if isinstance(value, Mapping):
        return {_named(key): _kept(inner, depth + 1) for key, inner in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray, memoryview)):
        return [_kept(inner, depth + 1) for inner in value]
    try:
        return clean(value)[0]
    except InvalidInput:
        return {"left_out": type(value).__name__}


def _named(key: Any) -> str:
    return str(key) if isinstance(key, (str, bool, int, float)) else f"({type(key).__name__})"


def as_frame(value: Any, smallest: int = _SMALLEST_EDGE) -> Any:
    """A copy of `value` as uint8 (H, W, 3) where it is an image in colour or grey, else None."""
    shape: tuple[int, ...] = getattr(value, "shape", ())
    if str(getattr(value, "dtype", "")) != "uint8" or len(shape) not in (2, 3) or min(shape[:2]) < smallest:
        return None
    if len(shape) == 3 and shape[2] not in (1, 3):
        return None
    import numpy

    pixels = numpy.asarray(value).reshape(shape[0], shape[1], -1)
    return numpy.repeat(pixels, 3, axis=2) if pixels.shape[2] == 1 else pixels.copy()


def _apart(observation: Any) -> tuple[dict[str, Any] | None, Json]:
    """The images of an observation by name, and what else it says."""
    parts = observation if isinstance(observation, Mapping) else {"observation": observation}
    pictures: dict[str, Any] = {}
    rest: Json = {}
    for key, value in parts.items():
        frame = as_frame(value)
        if frame is None:
            rest[str(key)] = _said(value)
        else:
            pictures[_camera(str(key))] = frame
    return pictures or None, rest


def _camera(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_]", "_", name)[:40] or "_"


def _said(value: Any) -> Any:
    # A stack of frames would be megabytes of digits in every step: what is left out is said.
    if math.prod(getattr(value, "shape", ())) > _MOST_NUMBERS:
        return _named_only(value)
    return value.tolist() if hasattr(value, "tolist") else value


def _is_scalar(value: Any) -> bool:
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()
    return value is None or isinstance(value, (bool, int, float, str))
