"""The tools of a memory as a toolset of pydantic-ai: locate, look, answer, write documents.

    agent = Agent(model, toolsets=[MemoryToolset(memory)])

Needs `pip install 'scrubjay[models]'`. The tools, what they say and how they are carried out are those of the agent
that ships; it only translates.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pydantic_ai import BinaryContent, RunContext
from pydantic_ai.exceptions import ToolFailed
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool
from pydantic_core import SchemaValidator, core_schema

from scrubjay.agent.offer import ALL_TOOLS, Offer
from scrubjay.agent.schemas import ACT
from scrubjay.agent.toolbox import Toolbox
from scrubjay.models.chat import Image, ToolCall

if TYPE_CHECKING:
    from scrubjay.public import Memory

__all__ = ["MemoryToolset"]

_ANY = SchemaValidator(core_schema.dict_schema())
_RETRIES = 3


class MemoryToolset(AbstractToolset[Any]):
    """Tools over one memory. `now` gives the current frame, for then_now; without it that tool is not offered.

    A frame is anything that `Memory.then_now` takes. What can't be done is told to the model; a disk that is full or
    fails raises StorageFull or StorageFailed.
    """

    def __init__(self, memory: Memory, *, now: Callable[[], Any] | None = None, id: str | None = None) -> None:
        self._memory, self._now, self._id = memory, now, id
        names = tuple(name for name in ALL_TOOLS if name != "then_now" or now is not None)
        self._offer = Offer(tools=names)

    @property
    def id(self) -> str | None:
        """The name that was given, for durable runs."""
        return self._id

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        """Every tool with its JSON Schema."""
        return {
            tool.name: ToolsetTool(
                toolset=self,
                tool_def=ToolDefinition(
                    name=tool.name, description=tool.description, parameters_json_schema=tool.parameters
                ),
                max_retries=_RETRIES,
                args_validator=_ANY,
            )
            for tool in Toolbox(self._memory, self._offer, None).tools
            if tool.name != ACT.name
        }

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:
        """Text, and pictures where there are any, as the result of the call.

        It is carried out in the caller's thread, whose memory it is; a look takes some 10 ms.
        """
        now = None if self._now is None else self._now()
        toolbox = Toolbox(self._memory, self._offer, now)
        call = ToolCall(ctx.tool_call_id or name, name, tool_args)
        result = toolbox.call(call)
        text = "\n".join(part for part in result.parts if isinstance(part, str))
        if result.is_error:
            raise ToolFailed(text)
        images = [part for part in result.parts if isinstance(part, Image)]
        return [text, *(BinaryContent(image.data, media_type=image.media_type) for image in images)] if images else text
