"""Recorded text for a terminal: what would steer it is shown, not sent."""

from __future__ import annotations

import re

__all__ = ["plain"]

# C0 without tab and newline, DEL, C1; marks and controls of the direction of writing.
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def plain(text: str) -> str:
    r"""`text` with control characters other than newline and tab as escapes: `\x1b`, `\u202e`."""
    return text if text.isprintable() else _STEERING.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
