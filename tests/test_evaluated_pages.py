"""What an evaluator saw a person sees, on the report and on the page of an episode, and no tool of a model does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mcp.types import CallToolResult
from starlette.testclient import TestClient

from mcp_clients import in_memory, text_of
from mcp_clients import run as carry_out
from scrubjay import Memory
from scrubjay.agent.block import block
from scrubjay.agent.offer import Offer
from scrubjay.agent.toolbox import Toolbox
from scrubjay.memory import journal
from scrubjay.models.chat import ToolCall
from scrubjay.surfaces.cli import main
from scrubjay.surfaces.evaluated import words
from scrubjay.surfaces.mcp.address import Address
from scrubjay.surfaces.web.application import application
from scrubjay.surfaces.web.reader import Reader
from test_conversation import turn_of
from web_memories import HOSTILE, hostile_memory

SAW = "net +5V: R1.1 -> R2.1"
ROWS = (
    {"event": "saved", "step": 4, "file": "a.kicad_sch", "changes": [SAW, HOSTILE]},
    {"event": "exported", "step": 5, "file": "a.net", "error": "it is broken off"},
    {"event": "score", "step": 18, "task": "supply", "score": 1.0, "floor": 2 / 3, "components": True, "nets": True,
     "net_names": False, "warnings": []},
    {"step": "no number"},
)  # fmt: skip


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A life of episodes of three steps each, and what an evaluator saw of it."""
    folder = hostile_memory(tmp_path_factory.mktemp("evaluated") / "memory")
    with Memory.open(folder) as memory:
        path = memory.layout.evaluation(1)
        journal.append(path, memory.layout.lock_of(path), ROWS)
    return folder


@pytest.fixture(scope="module")
def pages(root: str) -> Iterator[TestClient]:
    reader = Reader(root)
    yield TestClient(application(reader, Address("127.0.0.1", 8642), None), "http://127.0.0.1:8642")
    reader.close()


def page(pages: TestClient, episode: int) -> str:
    response = pages.get(f"/episodes/ep_{episode:06d}")
    assert response.status_code == 200
    return response.text


def test_the_page_of_an_episode_shows_what_was_noted_while_it_ran(pages: TestClient) -> None:
    during = page(pages, 1)  # steps 3 to 6
    assert "What the evaluator saw" in during
    assert "saved a.kicad_sch: net +5V: R1.1 -&gt; R2.1; &lt;script&gt;" in during
    assert "<script>window" not in during
    assert "exported a.net: it is broken off" in during
    assert "task supply: score" not in during
    assert "task supply: score 1.000 of 1, doing nothing 0.667" in page(pages, 5)
    for other in (0, 2, 3, 4):
        assert "evaluator" not in page(pages, other)


def test_the_report_shows_it_and_says_nothing_of_it_where_there_is_none(root: str, tmp_path: Path) -> None:
    assert main(["report", root, "--out", str(tmp_path / "report.html")]) == 0
    text = (tmp_path / "report.html").read_text()
    assert "What the evaluator saw" in text
    assert "life 1: saved a.kicad_sch: net +5V: R1.1 -&gt; R2.1" in text
    assert "components pass, nets pass, net names fail" in text
    assert "<script>" not in text
    bare = hostile_memory(tmp_path / "bare")
    assert main(["report", bare, "--out", str(tmp_path / "bare.html")]) == 0
    assert "evaluator" not in (tmp_path / "bare.html").read_text()


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"event": "saved", "file": "a", "changes": []}, "saved a: no change of the netlist"),
        ({"event": "score", "task": "a", "score": None, "error": "no text"}, "task a: not judged: no text"),
        ({"event": "score", "task": "a", "score": 0.5, "floor": None}, "task a: score 0.500 of 1"),
        ({}, "noted : no change of the netlist"),
    ],
)
def test_a_row_in_words(row: dict[str, Any], said: str) -> None:
    assert words(row) == said


_ASKED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("episodes", {"life": "all"}),
    ("episodes", {"grep": "R2.1", "life": "all"}),
    ("look", {"reference": "ep_000001"}),
    ("look", {"reference": "lives/0001/evaluation.jsonl"}),
    ("documents", {"command": "view", "path": "/memories"}),
    ("documents", {"command": "view", "path": "/memories/../lives/0001/evaluation.jsonl"}),
    ("documents", {"command": "view", "path": "/lives/0001/evaluation.jsonl"}),
)


def test_no_tool_of_a_player_and_no_block_shows_it(root: str) -> None:
    with Memory.open(root) as memory:
        box = Toolbox(memory, Offer(), np.zeros((4, 4, 3), np.uint8))
        for name, arguments in _ASKED:
            said = box.call(ToolCall("1", name, arguments, "")).parts
            assert not any("R2.1" in part for part in said if isinstance(part, str)), name
        assert "R2.1" not in block(turn_of(memory), Offer(), memory.grid(), [], "")


def test_no_tool_of_the_server_for_agents_shows_it(root: str) -> None:
    async def work() -> None:
        async with in_memory(root) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            for name, arguments in _ASKED:
                tool = "read_documents" if name == "documents" else name
                assert tool in names
                given = {key: value for key, value in arguments.items() if key != "command"}
                said = await client.call_tool(tool, given)
                assert isinstance(said, CallToolResult)
                assert "R2.1" not in text_of(said), name
            read = [str(one.uri) for one in (await client.list_resources()).resources]
            assert not [one for one in read if "evaluation" in one]

    carry_out(work)
