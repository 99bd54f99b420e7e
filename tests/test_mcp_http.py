"""The MCP server over HTTP: with and without the token, and what pages of other sites and rebound names get."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
import pytest
import uvicorn
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from mcp_clients import base64_png, call, images_of, run
from scrubjay import Memory, Query
from scrubjay.errors import InvalidInput
from scrubjay.memory.checking import check
from scrubjay.surfaces.cli import main
from scrubjay.surfaces.mcp.address import Address
from scrubjay.surfaces.mcp.http import Running, application
from scrubjay.surfaces.mcp.server import MemoryServer

TOKEN = "a long random text, ä too"
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


@asynccontextmanager
async def listening(root: str, token: str | None = None, **options: Any) -> AsyncIterator[str]:
    """The base address of a real HTTP server, on a free port of the loopback."""
    server = MemoryServer(root, **options)
    app = application(server, Address("127.0.0.1", 0), token)
    running = Running(uvicorn.Config(app, port=0, log_level="error", lifespan="on"))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(running.serve)
        while not running.started:
            await anyio.sleep(0.01)
        port = running.servers[0].sockets[0].getsockname()[1]
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            running.should_exit = True
    await anyio.to_thread.run_sync(server.close)


@asynccontextmanager
async def connected(base: str, headers: dict[str, str], mode: str = "auto") -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(headers=headers) as http,
        Client(streamable_http_client(f"{base}/mcp", http_client=http), mode=mode) as client,
    ):
        yield client


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("token", [None, "a-long-random-text"])
def test_a_client_locates_looks_and_records(lived: Memory, token: str | None, mode: str) -> None:
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}

    async def work() -> None:
        async with listening(lived.root, token) as base, connected(base, headers, mode) as client:
            assert len((await client.list_tools()).tools) == 12
            found = await call(client, "episodes", last=1)
            assert found.structured_content is not None
            assert found.structured_content["rows"][0]["id"] == "ep_000003"
            assert images_of(await call(client, "look", reference="ep_000003"))[0].size == (12, 8)
            begun = await call(client, "record", command="begin", action="go", image=base64_png(1, 900, 1600))
            assert begun.structured_content is not None
            await call(client, "record", command="finish", episode=begun.structured_content["episode"], end_life=True)

    run(work)
    assert [row.id for row in lived.find(Query(life=2))] == ["ep_000004"]
    assert check(lived.layout).is_sound


@pytest.mark.parametrize(
    "header",
    [
        None,
        "Bearer",
        "Bearer a-long-random-tex",
        "Bearer a-long-random-textt",
        "Bearer A-long-random-text",
        "Basic a-long-random-text",
        "a-long-random-text",
        "Bearer é",
    ],
)
def test_without_the_token_nothing_is_answered(lived: Memory, header: str | None) -> None:
    async def work() -> None:
        async with listening(lived.root, "a-long-random-text") as base, httpx2.AsyncClient() as http:
            headers = [] if header is None else [(b"authorization", header.encode())]
            for method in ("POST", "GET", "DELETE", "OPTIONS"):
                answer = await http.request(method, f"{base}/mcp", headers=headers, json=LIST)
                assert answer.status_code == 401
                assert answer.headers["www-authenticate"] == "Bearer"
                assert "episodes" not in answer.text
            answer = await http.get(f"{base}/anything", headers=headers)
            assert answer.status_code == 401

    run(work)


def test_two_tokens_in_one_request_are_none(lived: Memory) -> None:
    async def work() -> None:
        async with listening(lived.root, "right") as base, httpx2.AsyncClient() as http:
            headers = [(b"authorization", b"Bearer right"), (b"authorization", b"Bearer wrong")]
            assert (await http.post(f"{base}/mcp", headers=headers, json=LIST)).status_code == 401

    run(work)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 421),
        ({"host": "evil.example:80"}, 421),
        ({"host": "127.0.0.1.evil.example:80"}, 421),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://localhost.evil.example"}, 403),
    ],
)
def test_pages_of_others_and_rebound_names_are_refused(lived: Memory, headers: dict[str, str], status: int) -> None:
    accept = {"accept": "application/json, text/event-stream"}

    async def work() -> None:
        async with listening(lived.root) as base, httpx2.AsyncClient() as http:
            answer = await http.post(f"{base}/mcp", headers={**accept, **headers}, json=LIST)
            assert answer.status_code == status
            assert "episodes" not in answer.text

    run(work)


def test_a_token_of_any_characters_is_compared_by_its_bytes(lived: Memory) -> None:
    async def work() -> None:
        async with listening(lived.root, f"{TOKEN}\n") as base, httpx2.AsyncClient() as http:
            for token, status in ((TOKEN, 400), (f" {TOKEN} ".rstrip(), 400), (TOKEN[:-1], 401)):
                headers = [(b"authorization", f"Bearer {token}".encode())]
                answer = await http.post(f"{base}/mcp", headers=headers, content=b"{}")
                assert answer.status_code == status

    run(work)


def test_a_request_that_is_too_large_is_refused(lived: Memory) -> None:
    async def work() -> None:
        async with listening(lived.root) as base, httpx2.AsyncClient() as http:
            answer = await http.post(f"{base}/mcp", json={"x": "A" * 33_000_000})
            assert answer.status_code == 413

    run(work)


def test_an_address_that_others_reach_needs_a_token(lived: Memory) -> None:
    server = MemoryServer(lived.root, read_only=True)
    with pytest.raises(InvalidInput, match="other machines"):
        application(server, Address("0.0.0.0", 8765), None)
    with pytest.raises(InvalidInput, match="empty"):
        application(server, Address("127.0.0.1", 8765), " ")
    server.close()


@pytest.mark.parametrize("text", ["", "8765", "a", "a:", "a:b", "a:99999", "127.0.0.1:-1"])
def test_an_address_that_is_none_is_told(text: str) -> None:
    with pytest.raises(InvalidInput, match="HOST:PORT"):
        Address.parse(text)


def test_addresses_and_the_names_they_let_in() -> None:
    assert Address.parse(":8765") == Address("127.0.0.1", 8765)
    assert Address.parse("[::1]:80").is_loopback
    other = Address.parse("0.0.0.0:80", ["box.local"])
    assert not other.is_loopback
    assert "box.local:*" in other.security().allowed_hosts
    assert "http://box.local:*" in other.security().allowed_origins


def test_a_port_that_is_taken_is_told(lived: Memory, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["serve", "mcp", lived.root, "--http", f"127.0.0.1:{port}"]) == 1
    shown = capsys.readouterr().err
    assert f"127.0.0.1:{port} can't be listened on" in shown
    assert len(shown.splitlines()) == 1


def test_a_real_server_takes_its_token_from_a_variable_and_ends_lives_when_told_to_end(memory: Memory) -> None:
    async def work() -> None:
        words = [sys.executable, "-m", "scrubjay", "serve", "mcp", memory.root, "--http", ":0", "--token-env", "T"]
        async with await anyio.open_process(words, env={**os.environ, "T": "right"}) as process:
            assert process.stderr is not None
            line = (await process.stderr.receive()).decode()
            base = line.split(" at ")[1].strip().removesuffix("/mcp")
            async with httpx2.AsyncClient() as http:
                assert (await http.post(f"{base}/mcp", json=LIST)).status_code == 401
            async with connected(base, {"Authorization": "Bearer right"}) as client:
                begun = await call(client, "record", command="begin", action="go", image=base64_png(1))
                assert begun.structured_content is not None
                episode = begun.structured_content["episode"]
                await call(client, "record", command="step", episode=episode, action="go", image=base64_png(2))
            process.terminate()
            assert await process.wait() == 0

    run(work)
    (row,) = memory.find().rows
    assert (row.outcome, row.last_step) == ("interrupted", 1)
    assert memory.lives()[0].outcome == "interrupted"
