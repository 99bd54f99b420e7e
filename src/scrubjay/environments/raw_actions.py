"""Raw actions: what one is called, and what is stored of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scrubjay.memory.jsonio import clean

__all__ = ["RawAction", "action_names", "raw_action"]


@dataclass(frozen=True, slots=True)
class RawAction:
    """One action of an environment: `kind` is the cue of its episode, `value` what each step stores."""

    kind: str
    value: Any


def action_names(source: Any, count: int | None) -> tuple[str, ...]:
    """Names of `count` discrete actions from what an environment says of them: texts, or an enum; else none."""
    try:
        names = tuple(str(getattr(name, "name", name)) for name in source)
    except TypeError:
        return ()
    return names if len(names) == count else ()


def raw_action(action: Any, names: Sequence[str] = ()) -> RawAction:
    """An action in the form in which the published runs have raw ones: `{"attack": 1}` of kind `attack`."""
    value = clean(action)[0]
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(names):
        return RawAction(names[value], {names[value]: 1})
    if isinstance(value, Mapping):
        pressed = [key for key, pressed in value.items() if pressed]
        return RawAction("+".join(pressed) or "none", value)
    return RawAction(f"action_{value}" if isinstance(value, int) else "action", value)
