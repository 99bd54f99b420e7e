"""A memory as tools of the Anthropic SDK and of pydantic-ai: against the real packages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from anthropic import Anthropic
from anthropic.lib.tools import ToolError
from anthropic.tools import BetaLocalFilesystemMemoryTool
from pydantic_ai import Agent, BinaryContent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from conftest import numbered
from scrubjay import Memory
from scrubjay.agent.schemas import TOOLS
from scrubjay.surfaces.tools.anthropic_memory import AsyncMemoryTool, MemoryTool
from scrubjay.surfaces.tools.pydantic_toolset import MemoryToolset

COMMANDS: list[dict[str, Any]] = [
    {"command": "view", "path": "/memories"},
    {"command": "create", "path": "/memories/notes.md", "file_text": "one\ntwo\n"},
    {"command": "view", "path": "/memories/notes.md"},
    {"command": "create", "path": "/memories/notes.md", "file_text": "x"},
    {"command": "str_replace", "path": "/memories/notes.md", "old_str": "one", "new_str": "1"},
    {"command": "str_replace", "path": "/memories/notes.md", "old_str": "seven", "new_str": "7"},
    {"command": "insert", "path": "/memories/notes.md", "insert_line": 1, "insert_text": "half\n"},
    {"command": "rename", "old_path": "/memories/notes.md", "new_path": "/memories/old.md"},
    {"command": "view", "path": "/memories/notes.md"},
    {"command": "delete", "path": "/memories/old.md"},
    {"command": "view", "path": "/etc/passwd"},
    {"command": "view", "path": "/memories/../secret"},
]


def said(tool: Any, command: dict[str, Any]) -> tuple[str, bool]:
    try:
        return str(tool.call(command)), True
    except ToolError as error:
        return str(error), False


def test_the_memory_tool_says_what_the_sdks_own_says(memory: Memory, tmp_path: Path) -> None:
    ours, theirs = MemoryTool(memory), BetaLocalFilesystemMemoryTool(str(tmp_path / "theirs"))
    assert ours.to_dict() == theirs.to_dict()
    for command in COMMANDS:
        assert said(ours, command) == said(theirs, command), command
    assert [change.operation for change in memory.documents.history()] == [
        "create", "str_replace", "insert", "rename", "delete",
    ]  # fmt: skip


def test_the_asynchronous_tool_says_the_same(memory: Memory, tmp_path: Path) -> None:
    with Memory.create(tmp_path / "other") as other:
        tool, same = AsyncMemoryTool(other), MemoryTool(memory)

        async def asked(command: dict[str, Any]) -> tuple[str, bool]:
            try:
                return str(await tool.call(command)), True
            except ToolError as error:
                return str(error), False

        for command in COMMANDS:
            assert anyio.run(asked, command) == said(same, command)


@pytest.mark.parametrize(
    "sent", [None, 3, [], {}, {"command": "fly"}, {"command": "view"}, {"command": "view", "path": 3}]
)
def test_whatever_a_model_sends_is_told(memory: Memory, sent: Any) -> None:
    with pytest.raises(ToolError):
        MemoryTool(memory).call(sent)


def test_the_sdks_runner_carries_out_what_a_model_asks(memory: Memory) -> None:
    """The provider is played by a transport; everything else is the real SDK."""
    asked: list[Any] = []
    replies: Iterator[list[dict[str, Any]]] = iter(
        [
            [{"type": "tool_use", "id": "t1", "name": "memory", "input": COMMANDS[1]}],
            [{"type": "tool_use", "id": "t2", "name": "memory", "input": COMMANDS[3]}],
            [{"type": "text", "text": "done"}],
        ]
    )

    def provider(request: httpx2.Request) -> httpx2.Response:
        asked.append(json.loads(request.content))
        content = next(replies)
        stop = "end_turn" if content[0]["type"] == "text" else "tool_use"
        body = {
            "id": "m", "type": "message", "role": "assistant", "model": "played", "content": content,
            "stop_reason": stop, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
        }  # fmt: skip
        return httpx2.Response(200, json=body)

    with Anthropic(api_key="none", http_client=_client(provider)) as client:
        runner = client.beta.messages.tool_runner(
            model="played",
            max_tokens=100,
            messages=[{"role": "user", "content": "note it"}],
            tools=[MemoryTool(memory)],
        )
        final = runner.until_done()
    assert final.content[0].type == "text"
    assert asked[0]["tools"] == [{"type": "memory_20250818", "name": "memory"}]
    results = [request["messages"][-1]["content"][0] for request in asked[1:]]
    assert results[0]["content"] == "File created successfully at: /memories/notes.md"
    assert results[1]["is_error"] is True
    assert "already exists" in results[1]["content"]
    assert memory.documents.read("notes.md") == "one\ntwo\n"


def _client(provider: Any) -> Any:
    return httpx2.Client(transport=httpx2.MockTransport(provider))


def test_the_toolset_gives_a_model_the_tools_of_the_harness(lived: Memory) -> None:
    calls: Iterator[tuple[str, dict[str, Any]]] = iter(
        [
            ("episodes", {"last": 1}),
            ("look", {"reference": "ep_000003", "question": "what?"}),
            ("then_now", {"reference": "ep_000003"}),
            ("answer", {"id": "q_000001", "text": "nothing"}),
            ("look", {"reference": "ep_000077"}),
            ("documents", {"command": "append", "path": "notes.md", "text": "East [ep_000003]"}),
        ]
    )
    offered: dict[str, dict[str, Any]] = {}

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        offered.update({tool.name: tool.parameters_json_schema for tool in info.function_tools})
        call = next(calls, None)
        return ModelResponse([TextPart("done") if call is None else ToolCallPart(*call)])

    agent = Agent(FunctionModel(model), toolsets=[MemoryToolset(lived, now=lambda: numbered(9))])
    result = agent.run_sync("where am I?")
    assert result.output == "done"
    assert offered == {name: tool.parameters for name, tool in TOOLS.items()}
    returns = [p for m in result.all_messages() for p in m.parts if isinstance(p, ToolReturnPart)]
    assert [part.tool_name for part in returns] == ["episodes", "look", "then_now", "answer", "look", "documents"]
    assert "ep_000003" in str(returns[0].content)
    seen: Any = returns[1].content
    text, image = seen
    assert "question q_000001" in text
    assert isinstance(image, BinaryContent)
    assert image.media_type == "image/webp"
    assert "ep_000077 is not in this memory" in str(returns[4].content)
    assert returns[4].outcome == "failed"
    assert lived.questions()[0].answer == "nothing"
    assert lived.documents.read("notes.md") == "East [ep_000003]\n"


def test_without_a_current_frame_then_now_is_not_offered(lived: Memory) -> None:
    names: list[str] = []

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        names.extend(tool.name for tool in info.function_tools)
        return ModelResponse([TextPart("done")])

    Agent(FunctionModel(model), toolsets=[MemoryToolset(lived)]).run_sync("hello")
    assert set(names) == set(TOOLS) - {"then_now"}
