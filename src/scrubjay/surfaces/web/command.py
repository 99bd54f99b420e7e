"""`scrubjay serve web`: options, and the server that runs until it is told to end."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput

if TYPE_CHECKING:
    import socket

    from scrubjay.surfaces.mcp.address import Address

SUMMARY = """\
Show a memory in a browser: lives, episodes with their frames, search, map, documents, procedures. It reads and never
writes, needs no network, and listens on this machine alone unless told otherwise."""

EXAMPLES = """\
examples:
  scrubjay serve web runs/diamond
  scrubjay serve web runs/diamond --http 127.0.0.1:9000
  scrubjay serve web runs/diamond --http 0.0.0.0:8080 --token-env SCRUBJAY_TOKEN --allow-host lab.example
"""

_DEFAULT = "127.0.0.1:8642"


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("dir", metavar="DIR", help="folder of the memory")
    parser.add_argument("--http", metavar="HOST:PORT", default=_DEFAULT, help=f"where to listen (default {_DEFAULT})")
    parser.add_argument("--token-env", metavar="NAME", help="variable with the token that every request must carry")
    parser.add_argument(
        "--allow-host",
        metavar="NAME",
        action="append",
        default=[],
        help="a further name by which browsers reach this machine; may be given several times",
    )


def run(arguments: argparse.Namespace) -> int:
    """Serves until the process is told to end."""
    from scrubjay.memory.folder import open_folder
    from scrubjay.surfaces.mcp.address import Address

    address = Address.parse(arguments.http, arguments.allow_host)
    token = None if arguments.token_env is None else os.environ.get(arguments.token_env)
    if arguments.token_env is not None and not token:
        raise InvalidInput(f"--token-env: the variable {arguments.token_env} is not set")
    address.need_token(token)
    open_folder(arguments.dir, True)  # what is wrong is told before much is loaded
    try:
        import uvicorn

        from scrubjay.surfaces.web.application import application
        from scrubjay.surfaces.web.reader import Reader
    except ImportError as error:
        raise InvalidInput(f"`pip install 'scrubjay[web]'` gives what this needs ({error})") from None
    reader = Reader(arguments.dir)
    try:
        app = application(reader, address, token)
        with _listening(address) as listening, contextlib.suppress(KeyboardInterrupt):
            where = f"[{address.host}]" if ":" in address.host else address.host
            print(
                f"showing {arguments.dir} at http://{where}:{listening.getsockname()[1]}/", file=sys.stderr, flush=True
            )
            config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=2, lifespan="on")
            uvicorn.Server(config).run([listening])
    finally:
        reader.close()
    return 0


def _listening(address: Address) -> socket.socket:
    import socket

    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    try:
        return socket.create_server((address.host, address.port), family=family, backlog=2048)
    except OSError as error:
        raise InvalidInput(f"--http {address.host}:{address.port}: {error.strerror}; give another address") from None
