"""What users need to test their own environment, model, method or frame codec.

Each `check_…` raises AssertionError that says what is wrong and what to do; it returns where all is well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrubjay.testing.codecs import check_codec
from scrubjay.testing.environments import check_environment
from scrubjay.testing.memories import check_memory

if TYPE_CHECKING:
    from scrubjay.testing.counting import CountingEnvironment

__all__ = ["CountingEnvironment", "check_codec", "check_environment", "check_memory"]


def __getattr__(name: str) -> Any:
    # It needs Gymnasium, which checks of codecs and memories do without.
    if name == "CountingEnvironment":
        from scrubjay.testing.counting import CountingEnvironment

        return CountingEnvironment
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
