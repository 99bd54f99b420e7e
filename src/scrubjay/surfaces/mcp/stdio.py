"""A memory's MCP server on standard input and output, for a client that starts it as its own process.

It ends when the client closes the pipe, or is told to end by a signal; what was recorded is kept either way.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
from mcp.server.stdio import stdio_server

if TYPE_CHECKING:
    from scrubjay.surfaces.mcp.server import MemoryServer

__all__ = ["serve_stdio"]


async def serve_stdio(server: MemoryServer) -> None:
    """Serves until the client closes the pipe. The caller closes the server."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_end_by_signal, server)
        async with stdio_server() as (incoming, outgoing):
            await server.protocol.run(incoming, outgoing, server.protocol.create_initialization_options())
        tasks.cancel_scope.cancel()


async def _end_by_signal(server: MemoryServer) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for number in signals:
            await anyio.to_thread.run_sync(server.close)
            sys.stderr.flush()
            # A thread waits for the next line of a pipe that nobody closes, and Python would wait for the thread.
            os._exit(128 + number)
