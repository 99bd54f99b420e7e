"""`scrubjay serve mcp`: options, and the choice between standard input and a network address."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrubjay.surfaces.mcp.address import Address

SUMMARY = """\
Serve a memory over the Model Context Protocol: on standard input and output, for a client that starts it, or over
HTTP. Twelve tools; looking is kept apart from writing, and with --read-only nothing can be written."""

EXAMPLES = """\
examples:
  scrubjay serve mcp runs/diamond
  scrubjay serve mcp runs/diamond --read-only
  scrubjay serve mcp runs/diamond --http 127.0.0.1:8765 --token-env SCRUBJAY_TOKEN
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("dir", metavar="DIR", help="folder of the memory")
    parser.add_argument("--read-only", action="store_true", help="offer no tool that writes")
    parser.add_argument("--http", metavar="HOST:PORT", help="serve on this address, under /mcp, instead of a pipe")
    parser.add_argument("--token-env", metavar="NAME", help="variable with the bearer token that --http demands")
    parser.add_argument(
        "--allow-host",
        metavar="NAME",
        action="append",
        default=[],
        help="a further name by which clients of --http reach this machine; may be given several times",
    )


def run(arguments: argparse.Namespace) -> int:
    """Serves until the client goes or the process is told to end."""
    from scrubjay.errors import InvalidInput
    from scrubjay.memory.folder import open_folder

    address, token = _address(arguments)
    open_folder(arguments.dir, arguments.read_only)  # what is wrong is told before much is loaded
    try:
        import anyio

        from scrubjay.surfaces.mcp.server import MemoryServer
    except ImportError as error:
        raise InvalidInput(f"`pip install 'scrubjay[mcp]'` gives what this needs ({error})") from None
    server = MemoryServer(arguments.dir, read_only=arguments.read_only, one_client=address is None)
    try:
        if address is None:
            from scrubjay.surfaces.mcp.stdio import serve_stdio

            anyio.run(serve_stdio, server)
        else:
            from scrubjay.surfaces.mcp.http import serve_http

            def announce(url: str) -> None:
                print(f"serving {arguments.dir} at {url}", file=sys.stderr, flush=True)

            anyio.run(serve_http, server, address, token, announce)
    finally:
        server.close()
    return 0


def _address(arguments: argparse.Namespace) -> tuple[Address | None, str | None]:
    """Where to serve over HTTP, and the token; None for a pipe. Raises InvalidInput."""
    from scrubjay.errors import InvalidInput
    from scrubjay.surfaces.mcp.address import Address

    if arguments.http is None:
        if arguments.token_env is not None or arguments.allow_host:
            raise InvalidInput("--token-env and --allow-host are for --http")
        return None, None
    address = Address.parse(arguments.http, arguments.allow_host)
    token = None if arguments.token_env is None else os.environ.get(arguments.token_env)
    if arguments.token_env is not None and not token:
        raise InvalidInput(f"--token-env: the variable {arguments.token_env} is not set")
    address.need_token(token)
    return address, token
