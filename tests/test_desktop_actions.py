"""What is no action of a desktop is refused in words, whatever a model or a program sends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from scrubjay.environments.desktop.actions import parse_action, parse_step
from scrubjay.errors import InvalidInput


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ({"click": {"x": 1001, "y": 3}}, "0 to 1000"),
        ({"click": {"x": float("nan"), "y": 3}}, "a number"),
        ({"click": {"x": float("inf"), "y": 3}}, "a number"),
        ({"click": {"x": 10**400, "y": 3}}, "0 to 1000"),
        ({"click": {"x": True, "y": 3}}, "a number"),
        ({"click": {"x": 1, "y": 2, "clicks": 10**400}}, "1 to 3"),
        ({"click": {"x": 1, "y": 2, "button": ["left"]}}, "left, middle, right"),
        ({"scroll": {"x": 1, "y": 2, "direction": {}}}, "up, down, left, right"),
        ({"click": {"x": 1}}, "y is missing"),
        ({"click": {"x": 1, "y": 2, "clicks": 4}}, "1 to 3"),
        ({"click": {"x": 1, "y": 2, "button": "fourth"}}, "left, middle, right"),
        ({"click": {"x": 1, "y": 2, "z": 3}}, "'z' is not known"),
        ({"press": {}}, "'press' is no action"),
        ({"click": 5}, "an object of arguments"),
        ({}, "one name"),
        ({"key": {"keys": "a; rm"}}, "joined by +"),
        ({"key": {"keys": "--window"}}, "joined by +"),
        ({"key": {"keys": "300"}}, "joined by +"),
        ({"key_down": {"keys": "ctrl+5x"}}, "joined by +"),
        ({"type": {"text": ""}}, "characters"),
        ({"type": {"text": "\0"}}, "no key types"),
        ({"type": {"text": "\ud800"}}, "no key types"),
        ({"type": {"text": "\x1b[2J"}}, "no key types"),
        ({"wait": {"seconds": 31}}, "0 to 30"),
    ],
    ids=repr,
)
def test_what_is_no_action_is_refused_in_words(raw: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said.replace("+", r"\+")):
        parse_action(raw)


@pytest.mark.parametrize("action", [2, -1, "done", 0.5, None, [0]], ids=repr)
def test_what_is_no_index_of_an_action_is_refused_in_words(action: Any) -> None:
    assert parse_step(np.int64(1), ("screenshot", "done")).name == "done"
    with pytest.raises(InvalidInput, match="an ind"):
        parse_step(action, ("screenshot", "done"))
