"""The memory tool of the Anthropic SDK, over a memory's documents.

    tool = MemoryTool(memory)
    client.beta.messages.tool_runner(model=…, messages=…, tools=[tool])

Needs `pip install 'scrubjay[anthropic]'`. It knows the SDK's class; the six commands are carried out elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import anyio.to_thread
from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError

from scrubjay.errors import ScrubjayError, StorageFailed, StorageFull
from scrubjay.memory.file_memory import FileMemory

if TYPE_CHECKING:
    from anthropic.types.beta import BetaCacheControlEphemeralParam

    from scrubjay.public import Memory

__all__ = ["AsyncMemoryTool", "MemoryTool"]


class MemoryTool(BetaAbstractMemoryTool):
    """What the model calls `/memories` is the memory's `mine/`: every change has a history and can be undone.

    What can't be done is told to the model; a disk that is full or fails raises StorageFull or StorageFailed.
    """

    def __init__(self, memory: Memory, *, cache_control: BetaCacheControlEphemeralParam | None = None) -> None:
        super().__init__(cache_control=cache_control)
        self._documents = FileMemory(memory.documents)

    def call(self, input: object) -> str:
        """Carries out what a model sent, whatever it is. Raises ToolError with the text for the model."""
        if not isinstance(input, Mapping):
            raise ToolError(f"A command was expected, found {type(input).__name__}")
        try:
            return self._documents.execute(input)
        except (StorageFull, StorageFailed):
            raise
        except ScrubjayError as error:
            raise ToolError(str(error)) from error

    def execute(self, command: Any) -> str:
        """Carries out a command in the SDK's own type."""
        return self.call(command.model_dump(warnings=False))

    view = create = str_replace = insert = delete = rename = execute


class AsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    """The same for `AsyncAnthropic`: commands are carried out in a thread."""

    def __init__(self, memory: Memory, *, cache_control: BetaCacheControlEphemeralParam | None = None) -> None:
        super().__init__(cache_control=cache_control)
        self._tool = MemoryTool(memory)

    async def call(self, input: object) -> str:
        """Carries out what a model sent, whatever it is. Raises ToolError with the text for the model."""
        return await anyio.to_thread.run_sync(self._tool.call, input)

    async def execute(self, command: Any) -> str:
        """Carries out a command in the SDK's own type."""
        return await anyio.to_thread.run_sync(self._tool.execute, command)

    view = create = str_replace = insert = delete = rename = execute
