"""Requests and memories that mean ill: each costs itself, and no other page."""

from __future__ import annotations

import json
import socket
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from scrubjay import Memory
from scrubjay.memory.records import World
from scrubjay.retrieval.query import Query
from scrubjay.surfaces.cli import main
from scrubjay.surfaces.mcp.address import Address
from scrubjay.surfaces.report.facts import gather
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


def test_a_memory_that_was_moved_away_is_not_shown_as_an_empty_one(tmp_path: Path) -> None:
    hostile_memory(tmp_path / "memory")
    reader = Reader(str(tmp_path / "memory"), "runs/here")
    client = TestClient(application(reader, Address("127.0.0.1", 8642)), "http://127.0.0.1:8642")
    assert client.get("/").status_code == 200
    (tmp_path / "memory").rename(tmp_path / "elsewhere")
    for path in ("/", "/search?last=3", "/episodes/ep_000001", "/live"):
        response = client.get(path)
        assert response.status_code == 404
        assert "runs/here is not there any more" in response.text
    (tmp_path / "elsewhere").rename(tmp_path / "memory")
    assert client.get("/search?last=3").status_code == 200
    reader.close()


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


def test_a_name_that_steers_text_has_a_map_and_a_long_note_a_short_card(tmp_path: Path) -> None:
    world = "w\u202e<b>"
    with Memory.create(tmp_path / "memory") as memory, memory.live("x", World(world)) as life:
        episode = life.episode("go", state={"pos": [0, 0, 0]})
        episode.step({}, state={"pos": [1, 0, 0]})
        episode.finish("success", note="long " * 5000)
    reader = Reader(str(tmp_path / "memory"))
    client = TestClient(application(reader, Address("127.0.0.1", 8642)), "http://127.0.0.1:8642")
    for path in ("/map", "/map/cells", "/map/path", "/map/at", "/map/picture"):
        for name in (world, "w\\u202e<b>"):
            assert client.get(path, params={"world": name, "life": 1}).status_code == 200, (path, name)
        assert client.get(path, params={"world": "w"}).status_code == 404
    assert len(client.get("/").text) < 12_000
    reader.close()


def test_a_document_too_long_to_render_is_shown_as_written(tmp_path: Path) -> None:
    with Memory.create(tmp_path / "memory"):
        (tmp_path / "memory" / "mine" / "long.md").write_text("![" * 60_000)
    reader = Reader(str(tmp_path / "memory"))
    client = TestClient(application(reader, Address("127.0.0.1", 8642)), "http://127.0.0.1:8642")
    page = client.get("/documents/long.md").text
    assert 'id="line-1"' in page
    assert "![" * 60_000 in page
    reader.close()


def test_an_address_that_is_taken_is_told_before_anything_is_promised(
    root: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["serve", "web", root, "--http", f"127.0.0.1:{port}"]) != 0
    told = capsys.readouterr().err
    assert f"127.0.0.1:{port}" in told
    assert "in use" in told
    assert "showing" not in told


@pytest.mark.parametrize(
    "broken",
    [
        {"tags": 5}, {"tags": {"a": 1}}, {"id": f"ep_{10**30}"}, {"life": 10**30}, {"life": -1}, {"first_step": 10**30},
        {"last_step": 1e300}, {"action_kind": []},
    ],
)  # fmt: skip
def test_a_row_that_no_one_of_us_wrote_costs_itself(tmp_path: Path, broken: dict[str, object]) -> None:
    with Memory.create(tmp_path / "memory") as memory, memory.live("x") as life:
        life.episode("go").finish("success", note="kept")
    with open(tmp_path / "memory" / "index.jsonl", "a") as file:
        file.write(json.dumps({"id": "ep_000007", "kind": "episode", "first_step": 1, "last_step": 2, **broken}) + "\n")
    reader = Reader(str(tmp_path / "memory"))
    client = TestClient(application(reader, Address("127.0.0.1", 8642)), "http://127.0.0.1:8642")
    for path in ("/", "/lives/1", "/search", "/live"):
        assert client.get(path).status_code == 200
    assert "kept" in client.get("/").text
    assert gather(reader)
    reader.close()
