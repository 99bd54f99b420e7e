"""What the tests of the MCP server share: clients in memory and of a real process, and small answers read."""

from __future__ import annotations

import base64
import hashlib
import io
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from PIL import Image

from conftest import numbered
from scrubjay.surfaces.mcp.server import MemoryServer

Json = dict[str, Any]


def run(work: Callable[[], Awaitable[None]]) -> None:
    """Runs an asynchronous test to its end, within a minute; the error inside it is the error of the test."""

    async def limited() -> None:
        with anyio.fail_after(60):
            await work()

    try:
        anyio.run(limited)
    except BaseExceptionGroup as group:
        raise _innermost(group) from None


def _innermost(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


@asynccontextmanager
async def in_memory(root: str | Path, mode: str = "auto", **options: Any) -> AsyncIterator[Client]:
    """A client of a server in this process."""
    server = MemoryServer(root, **options)
    try:
        async with Client(server.protocol, mode=mode) as client:
            yield client
    finally:
        await anyio.to_thread.run_sync(server.close)


@asynccontextmanager
async def of_process(root: str | Path, *options: str, mode: str = "auto") -> AsyncIterator[Client]:
    """A client of a real server process on a pipe."""
    words = ["-W", "error::ResourceWarning", "-m", "scrubjay", "serve", "mcp", str(root), *options]
    async with Client(stdio_client(StdioServerParameters(command=sys.executable, args=words)), mode=mode) as client:
        yield client


async def call(client: Client, name: str, /, **arguments: Any) -> types.CallToolResult:
    """The result of a call that must succeed."""
    result = await client.call_tool(name, arguments)
    assert isinstance(result, types.CallToolResult)
    assert not result.is_error, text_of(result)
    return result


async def refused(client: Client, name: str, /, **arguments: Any) -> str:
    """What a call that must fail says."""
    result = await client.call_tool(name, arguments)
    assert isinstance(result, types.CallToolResult)
    assert result.is_error, text_of(result)
    assert result.structured_content is None
    return text_of(result)


def text_of(result: types.CallToolResult) -> str:
    """All text of a result."""
    return "\n".join(block.text for block in result.content if isinstance(block, types.TextContent))


def images_of(result: types.CallToolResult) -> list[Image.Image]:
    """The pictures of a result, decoded."""
    blocks = [block for block in result.content if isinstance(block, types.ImageContent)]
    return [Image.open(io.BytesIO(base64.b64decode(block.data))) for block in blocks]


def links_of(result: types.CallToolResult) -> list[str]:
    """The addresses that a result links to."""
    return [str(block.uri) for block in result.content if isinstance(block, types.ResourceLink)]


def png(value: int, height: int = 8, width: int = 12) -> bytes:
    """A small picture that no other number gives."""
    buffer = io.BytesIO()
    Image.fromarray(numbered(value, height, width)).save(buffer, "PNG")
    return buffer.getvalue()


def base64_png(value: int, height: int = 8, width: int = 12) -> str:
    """The same, as an argument of a call."""
    return base64.b64encode(png(value, height, width)).decode()


def digests(root: str | Path) -> dict[str, str]:
    """sha256 of every file of a memory except what is derived and locks."""
    found = {}
    for path in sorted(Path(root).rglob("*")):
        inside = path.relative_to(root)
        if path.is_file() and inside.parts[0] not in (".cache", ".locks"):
            found[str(inside)] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found
