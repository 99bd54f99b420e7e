"""Values of options: what a person types, as what the rest takes, or an error that says what was expected."""

from __future__ import annotations

import argparse
import json

__all__ = ["count", "seed", "setting"]


def count(text: str) -> int:
    """A whole number above 0."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"a count above 0 was expected, found {text}")
    return value


def seed(text: str) -> int:
    """A whole number of 0 or more, as Gymnasium wants it."""
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"a whole number of 0 or more was expected, found {text}")
    return value


def setting(text: str) -> tuple[str, object]:
    """A name with its value: JSON where it is that, else the text itself."""
    name, is_given, value = text.partition("=")
    if not (is_given and name.isidentifier()):
        raise argparse.ArgumentTypeError(f"NAME=VALUE was expected, found {text!r}")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value
