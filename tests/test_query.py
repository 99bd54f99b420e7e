"""A Query checks itself: what can't be looked for is refused, saying what was expected."""

from __future__ import annotations

from typing import Any

import pytest

from scrubjay import Query
from scrubjay.errors import InvalidInput


@pytest.mark.parametrize(
    "wrong",
    [
        {"near": "ab"},
        {"near": (1.0, float("nan"))},
        {"near": (1.0,)},
        {"radius": -1.0},
        {"below": float("inf")},
        {"steps": (1, "2")},
        {"last": -1},
        {"last": 10**30},
        {"limit": 0},
        {"since": 5},
        {"since": "yesterday"},
        {"grep": 5},
        {"grep": "  "},
        {"regex": "("},
        {"regex": "a{99999999999999999999}"},
        {"tag": (1,)},
        {"tag": 1},
        {"life": -1},
        {"life": "some"},
        {"life": 1, "previous": True},
        {"place": 7},
    ],
)
def test_what_is_no_condition_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(wrong)) if "since" not in wrong else "time"):
        Query(**wrong)
