"""What an update learns from, as text: a prompt, and one completion or a better and a worse one.

It knows no memory and no model. `scrubjay.parametric.staging` makes these from evidence.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Example", "Preference", "Prompt"]


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a policy is asked. `image` is an encoded frame (WebP, PNG or JPEG), for a base model that sees."""

    text: str
    image: bytes | None = None


@dataclass(frozen=True, slots=True)
class Example:
    """An element of D_succ: a verified success. `episodes` are the references that it rests on."""

    prompt: Prompt
    completion: str
    episodes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Preference:
    """An element of D_cpair: the corrected trajectory (`chosen`) and the failed one, in a matched context."""

    prompt: Prompt
    chosen: str
    rejected: str
    chosen_episodes: tuple[str, ...] = ()
    rejected_episodes: tuple[str, ...] = ()
