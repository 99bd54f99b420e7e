"""The pages of a memory as a client gets them: what they show, whom they refuse, and hostile text that stays text."""

from __future__ import annotations

import base64
import json
import re
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from starlette.testclient import TestClient

from scrubjay import Memory
from scrubjay.errors import InvalidInput
from scrubjay.memory.forgetting import forget
from scrubjay.memory.procedure_runs import Run
from scrubjay.surfaces.cli import main
from scrubjay.surfaces.mcp.address import Address
from scrubjay.surfaces.web.application import application
from scrubjay.surfaces.web.reader import Reader
from web_memories import HOSTILE, WORLD, frame, hostile_memory, serving

PAGES = (
    "/", "/lives/1", "/episodes/ep_000001", "/episodes/ep_000001?step=4", "/search", "/search?grep=script",
    "/search?tag=milestone&life=1", "/map", "/documents", "/documents/notes.md", "/documents/GUIDE.md",
    "/documents/a%26b%20'%231'%20%25.txt",
    "/history/notes.md", "/procedures", "/procedures/procedure/cut-step", "/compare?ref=ep_000001+ep_000002%237",
    "/map/at?a=1&b=-1", "/episodes/ep_000001/steps/4",
)  # fmt: skip


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> str:
    return hostile_memory(tmp_path_factory.mktemp("web") / "memory")


def client_of(reader: Reader, token: str | None = None, **options: Any) -> TestClient:
    return TestClient(application(reader, Address("127.0.0.1", 8642), token), "http://127.0.0.1:8642", **options)


@pytest.fixture(scope="module")
def client(root: str) -> Iterator[TestClient]:
    reader = Reader(root)
    yield client_of(reader)
    reader.close()


class Elements(HTMLParser):
    """Every element of a page with its attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.mark.parametrize("page", PAGES)
def test_hostile_text_stays_text(client: TestClient, page: str) -> None:
    response = client.get(page)
    assert response.status_code == 200, response.text
    for tag, attributes in Elements(response.text).found:
        assert not any(name.startswith("on") or name == "style" for name in attributes), (tag, attributes)
        assert tag not in ("iframe", "object", "embed", "base", "meta") or "http-equiv" not in attributes
        if tag == "script":
            assert str(attributes["src"]).startswith("/static/")
        for name in ("src", "href", "action", "data-frame"):
            address = attributes.get(name)
            assert address is None or re.match(r"[/?#](?!/)", address), (tag, attributes)
    assert "49" not in re.findall(r"&amp;(\d+)", response.text)  # no template in a template


def test_what_the_browser_may_do_is_said_with_every_answer(client: TestClient) -> None:
    for page in ("/", "/nowhere", "/static/base.css", "/frames/ep_000001/start", "/live", "/episodes/nonsense"):
        headers = client.get(page).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8642", "127.0.0.1.evil.example", "", "[::1].evil", "127.0.0.1:x"]
)
def test_a_rebound_name_gets_nothing(client: TestClient, host: str) -> None:
    response = client.get("/", headers={"Host": host})
    assert response.status_code == 421
    assert "ep_" not in response.text


@pytest.mark.parametrize("host", ["localhost:8642", "127.0.0.1", "[::1]:8642", "LOCALHOST"])
def test_names_of_this_machine_are_served(client: TestClient, host: str) -> None:
    assert client.get("/live", headers={"Host": host}).status_code == 200


def test_pages_of_other_sites_get_no_frame(client: TestClient) -> None:
    embedded = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    assert client.get("/frames/ep_000001/start", headers=embedded).status_code == 403
    followed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert client.get("/", headers=followed).status_code == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_nothing_can_be_written(client: TestClient, method: str) -> None:
    assert client.request(method, "/documents/notes.md").status_code == 405


def test_other_machines_need_the_token(root: str) -> None:
    with pytest.raises(InvalidInput, match="token"):
        application(Reader(root), Address("0.0.0.0", 80))
    reader = Reader(root)
    guarded = client_of(reader, "sésame ouvre")
    assert guarded.get("/").status_code == 401
    assert guarded.get("/static/base.css").status_code == 401
    for wrong in ("Basic !", "Basic " + base64.b64encode(b"x:wrong").decode(), "Bearer wrong", "sésame"):
        assert guarded.get("/", headers={b"Authorization": wrong.encode()}).status_code == 401
    text = base64.b64encode("anybody:sésame ouvre".encode()).decode()
    assert guarded.get("/", headers={"Authorization": f"Basic {text}"}).status_code == 200
    reader.close()


@pytest.mark.parametrize(
    "path",
    [
        "/documents/../memory.json", "/documents/..%2fmemory.json", "/documents/%2e%2e/memory.json",
        "/documents//etc/passwd",
        "/documents/.hidden", "/documents/a%00b", "/documents/..%5cmemory.json", "/history/..%2findex.jsonl",
        "/static/..%2freader.py", "/static/%2e%2e/reader.py", "/static//etc/passwd", "/frames/..%2f..%2fetc/start",
        "/frames/ep_000001/..%2f..%2fmemory.json", "/thumbnails/ep_000001/..%2fx", "/episodes/..%2fmemory.json",
        "/documents/%EF%BC%8E%EF%BC%8E/memory.json",
    ],
)  # fmt: skip
def test_tricks_in_an_address_lead_nowhere(client: TestClient, path: str) -> None:
    response = client.get(path)
    assert response.status_code in (400, 404)
    assert "created_by" not in response.text
    assert "import" not in response.text


def test_a_frame_is_what_is_stored(client: TestClient, root: str) -> None:
    with Memory.open(root, read_only=True) as memory:
        stored = memory.episode("ep_000001").frame(5).data
    response = client.get("/frames/ep_000001/5")
    assert response.content == stored
    assert response.headers["content-type"] == "image/webp"
    again = client.get("/frames/ep_000001/5", headers={"If-None-Match": response.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client.get("/frames/ep_000001/99").status_code == 404
    assert "No frame of step 99" in client.get("/episodes/ep_000001/steps/99").text


def test_an_episode_shows_what_it_was(client: TestClient) -> None:
    text = client.get("/episodes/ep_000001").text
    assert "success" in text
    assert "notes.md" in text  # cited by
    assert "cut-step" in text
    assert 'href="/episodes/ep_000000"' in text
    assert 'href="/episodes/ep_000002"' in text
    assert "★ iron" in text
    assert re.search(r"Action \d+ \| Step 3 ", text)  # its section of the log
    assert client.get("/episodes?reference=1", follow_redirects=False).headers["location"] == "/episodes/ep_000001"


def test_claims_are_checked_and_history_shows_lines(client: TestClient) -> None:
    text = client.get("/documents/notes.md").text
    assert text.count('class="unsupported"') == 2  # the claim, and the paragraph of links
    assert "2 claims without evidence, 1 citation of what is not there" in re.sub(r"\s+", " ", text)
    assert 'href="/episodes/ep_000001?step=3" data-frame="/thumbnails/ep_000001/3"' in text
    assert 'href="/documents/GUIDE.md"' in text
    assert "elsewhere.example" in text  # told as text
    history = client.get("/history/notes.md").text
    assert history.count('class="panel" id="change-') == 2
    assert re.search(r'class="added">.*?Iron at the north wall', history, re.DOTALL)
    before = client.get("/documents/notes.md?at=1").text
    assert "As it was after change 1" in before


def test_a_broken_question_is_told(client: TestClient) -> None:
    for asked, told in (
        ("regex=(", "regex"), ("near_1=3", "both"), ("steps_from=a&steps_to=2", "whole number"), ("life=x", "whole"),
        ("same_screen=/etc/passwd", "not a reference"), ("like=ep_999999", "not in this memory"),
        ("since=soon", "time"),
    ):  # fmt: skip
        response = client.get(f"/search?{asked}")
        assert response.status_code == 400
        assert told in response.text


def test_pictures_are_conditions(client: TestClient) -> None:
    assert "ep_000002" in client.get("/search?same_screen=ep_000002&part=1").text
    assert "ep_000002" in client.get("/search?like=ep_000002%237&last=3&part=1").text


def test_a_map_gives_cells_a_path_and_their_episodes(client: TestClient) -> None:
    found = client.get("/map/cells", params={"world": WORLD}).json()
    cells = [tuple(found["cells"][at : at + 3]) for at in range(0, len(found["cells"]), 4)]
    assert (2, -2, found["kinds"].index("hazard")) in cells or (2, -2, found["kinds"].index("walked")) in cells
    path = client.get("/map/path", params={"world": WORLD, "life": 1}).json()["pieces"]
    assert path[0][:2] == [0, 0]
    assert "ep_000002" in client.get("/map/at", params={"world": WORLD, "a": 2, "b": -2}).text
    assert "Nothing is known" in client.get("/map/at", params={"world": WORLD, "a": 70, "b": 70}).text
    assert client.get("/map/picture").headers["content-type"] == "image/png"
    assert client.get("/map/cells?world=nowhere").status_code == 404


def test_what_a_person_forgot_is_gone_from_the_pages(tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    hostile_memory(folder)
    reader = Reader(str(folder))
    served = client_of(reader)
    assert served.get("/thumbnails/ep_000003/start").status_code == 200
    assert "ep_000003" in served.get("/lives/1").text
    forget(reader.layout, "ep_000003", "a password")
    for address in ("/thumbnails/ep_000003/start", "/frames/ep_000003/start", "/frames/ep_000003/10"):
        assert served.get(address).status_code == 404
    text = served.get("/episodes/ep_000003").text
    assert "Removed by a person" in text
    assert "a password" in text
    assert "note &lt;script" not in text
    reader.close()


def test_pages_follow_a_life_that_is_lived(tmp_path: Path) -> None:
    with Memory.create(tmp_path / "memory") as memory:
        reader = Reader(memory.root)
        served = client_of(reader)
        assert "No life was lived here yet" in served.get("/").text
        assert "The grid is empty" in served.get("/map").text
        before = served.get("/live").json()
        with memory.live(task="walk", world="w") as life:
            with life.episode("go", {}, state={"pos": [1, 2, 3]}) as episode:
                episode.step({}, state={"pos": [2, 2, 3]})
                episode.finish()
            after = served.get("/live").json()
            assert after["version"] != before["version"]
            assert after["running"] == [1]
            assert "ep_000000" in served.get("/").text
            assert "running" in served.get("/lives/1").text
            assert "2 cells, each" in served.get("/map").text
        assert served.get("/live").json()["running"] == []
        reader.close()


def test_many_look_while_a_life_is_lived(tmp_path: Path) -> None:
    root = hostile_memory(tmp_path / "memory")
    failed: list[tuple[int, str]] = []

    def look(base: str) -> None:
        for page in (*PAGES, "/lives/2", "/map/cells", "/map/path?life=2", "/live", "/search?regex=go|x"):
            try:
                with urllib.request.urlopen(base + page) as answer:
                    answer.read()
            except urllib.error.HTTPError as error:
                if error.code != 404 or page != "/lives/2":
                    failed.append((error.code, page))

    with serving(root) as base, Memory.open(root) as memory, memory.live(task="walk", world=WORLD) as life:
        threads = [threading.Thread(target=look, args=(base,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        number = 0
        while any(thread.is_alive() for thread in threads):
            number += 1
            with life.episode("go", {}, frame=frame(number), state={"pos": [number, 64, 0]}) as episode:
                episode.step({}, frame=frame(number + 1), state={"pos": [number + 1, 64, 0]})
                episode.finish()
            memory.documents.append("notes.md", f"- at {number} [{episode.id}]\n")
            memory.procedures.record(Run("cut-step", "success", episodes=(episode.id,), life=2, step=number))
    assert failed == []


def test_a_memory_that_can_not_be_written_is_shown(root: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    index = tmp_path / "published"
    index.mkdir()
    row = {"id": "ep_000000", "kind": "episode", "path": "episodes/ep_000000", "summary": HOSTILE, "tags": ["note"]}
    rows = [{**row, "image": "../x.png"}, {**row, "id": "ep_000001", "image": "x.png", "last_step": 2}]
    (index / "index.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    Image.fromarray(frame(3)).save(index / "x.png")
    reader = Reader(str(index))
    served = client_of(reader)
    for page in ("/", "/search?tag=note", "/documents", "/procedures", "/episodes/ep_000000"):
        assert served.get(page).status_code == 200, page
    assert 'src="/frames/ep_000001/start"' in served.get("/episodes/ep_000001").text
    assert served.get("/frames/ep_000001/start").headers["content-type"] == "image/png"
    nothing = served.get("/thumbnails/ep_000000/start")
    assert (nothing.status_code, nothing.headers["content-type"]) == (404, "image/svg+xml")
    assert sorted(path.name for path in index.iterdir()) == ["index.jsonl", "x.png"]
    reader.close()


def test_an_error_that_nobody_foresaw_says_little_and_keeps_its_headers(root: str) -> None:
    reader = Reader(root)
    served = client_of(reader, raise_server_exceptions=False)
    reader.close()
    response = served.get("/search")  # of a reader that is closed
    assert response.status_code == 500
    assert "default-src 'none'" in response.headers["content-security-policy"]
    assert "Traceback" not in response.text
    assert "shutdown" not in response.text


def test_what_is_missing_is_told_before_a_server_starts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "web", str(tmp_path)]) == 1
    assert "not a memory" in capsys.readouterr().err
    assert main(["serve", "web", str(tmp_path), "--http", "0.0.0.0:80"]) == 1
    assert "token" in capsys.readouterr().err
