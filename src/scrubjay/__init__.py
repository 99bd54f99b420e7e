"""scrubjay: a multimodal filesystem memory for agents that act for hours.

    from scrubjay import Memory, Query

`Memory` is a folder of plain files; `Query` says what to look for in it. Importing this is cheap: no NumPy, no Pillow.
"""

from scrubjay.memory.layout import Reference
from scrubjay.memory.records import Row, Step, World
from scrubjay.public import Memory
from scrubjay.retrieval.query import Query
from scrubjay.version import __version__

__all__ = ["Memory", "Query", "Reference", "Row", "Step", "World", "__version__"]
