"""Requests and memories that mean ill: each costs itself, and no other page."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from scrubjay import Memory
from scrubjay.retrieval.query import Query
from scrubjay.surfaces.mcp.address import Address
from scrubjay.surfaces.web.application import application
from scrubjay.surfaces.web.reader import Reader
from web_memories import hostile_memory, serving


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> str:
    return hostile_memory(tmp_path_factory.mktemp("hostile") / "memory")


@pytest.fixture(scope="module")
def client(root: str) -> Iterator[TestClient]:
    reader = Reader(root)
    yield TestClient(application(reader, Address("127.0.0.1", 8642)), "http://127.0.0.1:8642")
    reader.close()


DIGITS = "9" * 5000


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (f"/lives/{DIGITS}", 404), ("/lives/--1", 404), (f"/episodes/ep_000001/steps/{DIGITS}", 404),
        ("/episodes/ep_000001/steps/--1", 404), (f"/frames/ep_000001/{DIGITS}", 400), (f"/episodes/ep_{DIGITS}", 400),
        ("/episodes/ep_000001?step=--5", 200), ("/map?height=--5", 200), ("/map/at?a=--1&b=---2", 200),
        ("/map/path?life=--1", 200), ("/history/notes.md?page=--1", 200), ("/search?last=--5", 400),
        ("/search?life=--5", 400), ("/search?steps_from=--1&steps_to=2", 400), (f"/search?life={DIGITS}", 400),
    ],
)  # fmt: skip
def test_a_number_that_is_none_is_told(client: TestClient, path: str, status: int) -> None:
    response = client.get(path)
    assert response.status_code == status
    assert "see the terminal" not in response.text


def test_a_regular_expression_that_never_ends_holds_up_nobody(tmp_path: Path) -> None:
    with Memory.create(tmp_path / "memory") as memory, memory.live("x") as life:
        for text in ("a" * 60, "the door is open"):
            with life.episode("go") as episode:
                episode.finish("success", note=text)
    with serving(str(tmp_path / "memory")) as base:
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"{base}/search?regex=(a%2B)%2Bb&part=1", timeout=60)
        assert refused.value.code == 400
        assert "regex: given up" in refused.value.read().decode()
        with urllib.request.urlopen(f"{base}/search?regex=do%2Br&part=1", timeout=60) as answer:
            assert "the door is open" in answer.read().decode()
        with urllib.request.urlopen(f"{base}/live", timeout=60) as answer:
            assert json.loads(answer.read())["running"] == []


def test_a_search_apart_finds_what_a_search_finds(root: str) -> None:
    reader = Reader(root)
    with Memory.open(root, read_only=True) as memory:
        for query in (
            Query(regex="script.*pwned", life="all", limit=2),
            Query(regex="script", life="all", after="ep_000002", limit=2),
            Query(regex="script", match="iron", life="all"),
        ):
            matches, found = memory.find(query), reader.found(query)
            assert (found.rows, found.documents, found.more) == (matches.rows, matches.documents, matches.more)
    reader.close()
