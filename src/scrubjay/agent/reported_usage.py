"""What a coding agent's command says it used, where it prints that as JSON: tokens, requests, cost.

It reads the last object with a `usage` among the lines of the output: `claude -p --output-format json` and
`codex exec --json` print one. A command that says nothing has used requests that nobody counted but one.
"""

from __future__ import annotations

import json
from typing import Any

from scrubjay.models.chat import Usage

__all__ = ["usage_of"]

_INPUTS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def usage_of(out: bytes) -> Usage:
    """What the output of one run of a command says; one request where it says nothing."""
    for text in (out, *reversed(out.splitlines())):
        if b'"usage"' not in text:
            continue
        try:
            said = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(said, dict) and isinstance(said.get("usage"), dict):
            return _usage(said, said["usage"])
    return Usage(requests=1)


def _usage(said: dict[str, Any], used: dict[str, Any]) -> Usage:
    cost = said.get("total_cost_usd")
    return Usage(
        requests=_count(said.get("num_turns")) or 1,
        input_tokens=sum(_count(used.get(key)) for key in _INPUTS),
        output_tokens=_count(used.get("output_tokens")),
        cost=float(cost) if isinstance(cost, (int, float)) and not isinstance(cost, bool) else None,
    )


def _count(value: object) -> int:
    return value if type(value) is int and value > 0 else 0
