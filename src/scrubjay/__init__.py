"""scrubjay: a multimodal filesystem memory for agents that act for hours.

    from scrubjay import Memory, Query

`Memory` is a folder of plain files; `Query` says what to look for in it. Importing this is cheap: names are fetched
when they are first used, and neither NumPy nor Pillow before a frame is.
"""

from __future__ import annotations

TYPE_CHECKING = False  # what typing.TYPE_CHECKING is to a checker, without the import
if TYPE_CHECKING:
    from scrubjay.memory.layout import Reference
    from scrubjay.memory.records import Row, Step, World
    from scrubjay.public import Memory
    from scrubjay.retrieval.query import Query
    from scrubjay.version import __version__

__all__ = ["Memory", "Query", "Reference", "Row", "Step", "World", "__version__"]

_HOMES = {
    "Memory": "scrubjay.public",
    "Query": "scrubjay.retrieval.query",
    "Reference": "scrubjay.memory.layout",
    "Row": "scrubjay.memory.records",
    "Step": "scrubjay.memory.records",
    "World": "scrubjay.memory.records",
    "__version__": "scrubjay.version",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'scrubjay' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
