"""Resources: whole frames, records and documents by address, and no way out of `mine/` in any spelling."""

from __future__ import annotations

import json
import os
from pathlib import Path
from urllib.parse import quote

import mcp_types as types
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from mcp.shared.exceptions import MCPError

from mcp_clients import in_memory, run
from scrubjay import Memory
from scrubjay.errors import ScrubjayError
from scrubjay.surfaces.mcp.resources import read_resource
from scrubjay.surfaces.mcp.uris import DocumentAddress, EpisodeAddress, FrameAddress, parse

SECRET = "the secret beside the documents"


def test_documents_are_listed_and_read(lived: Memory) -> None:
    lived.documents.create("notes.md", "# East\n")
    lived.documents.create("a folder/é ü.md", "found\n")

    async def work() -> None:
        async with in_memory(lived.root) as client:
            listed = (await client.list_resources()).resources
            assert {one.name for one in listed} == {"notes.md", "a folder/é ü.md"}
            texts = set()
            for one in listed:
                (content,) = (await client.read_resource(one.uri)).contents
                assert isinstance(content, types.TextResourceContents)
                assert content.mime_type == "text/markdown"
                texts.add(content.text)
            assert texts == {"# East\n", "found\n"}
            templates = (await client.list_resource_templates()).resource_templates
            assert [one.uri_template for one in templates] == [
                "scrubjay://episodes/{id}",
                "scrubjay://episodes/{id}/frames/{step}{?camera}",
                "scrubjay://mine/{+path}",
            ]

    run(work)


def test_many_documents_are_listed_a_page_at_a_time(lived: Memory) -> None:
    for nth in range(130):
        lived.documents.create(f"n{nth:03d}.md", "x\n")

    async def work() -> None:
        async with in_memory(lived.root) as client:
            first = await client.list_resources()
            rest = await client.list_resources(cursor=first.next_cursor)
            names = [one.name for one in (*first.resources, *rest.resources)]
            assert names == [f"n{nth:03d}.md" for nth in range(130)]
            assert rest.next_cursor is None

    run(work)


def test_an_episode_is_read_with_the_addresses_of_its_frames(lived: Memory) -> None:
    content = read_resource(lived, "scrubjay://episodes/ep_000002")
    record = json.loads(content.data)
    assert record["arguments"] == {"x": 2}
    assert "evidence" not in record
    assert record["frames"] == [f"scrubjay://episodes/ep_000002/frames/{step}" for step in range(6, 10)]
    for uri in record["frames"]:
        assert read_resource(lived, uri).data == lived.episode("ep_000002").frame(int(uri.rpartition("/")[2])).data
    end = read_resource(lived, "scrubjay://episodes/ep_000002/frames/end")
    assert end.data == lived.episode("ep_000002").end_frame().data


@pytest.mark.parametrize(
    "uri",
    [
        "scrubjay://episodes/ep_000099",
        "scrubjay://episodes/ep_1",
        "scrubjay://episodes/ep_000001/frames/99",
        "scrubjay://episodes/ep_000001/frames/5?camera=left",
        "scrubjay://episodes/ep_000001/frames/../steps.jsonl",
        "scrubjay://episodes/ep_000001/steps.jsonl",
        "scrubjay://episodes/../mine/notes.md",
        "scrubjay://lives/0001/logs.txt",
        "scrubjay://mine/",
        "scrubjay://mine",
        "scrubjay://mine/none.md",
        "scrubjay://mine/%ff.md",
        "scrubjay://mine/%zz.md",
        "scrubjay://mine/notes.md?x=1",
        "scrubjay://mine/notes.md#x",
        "SCRUBJAY://mine/notes.md",
        "file:///etc/passwd",
        "",
    ],
)
def test_what_is_no_resource_is_told(lived: Memory, uri: str) -> None:
    lived.documents.create("notes.md", "x\n")

    async def work() -> None:
        async with in_memory(lived.root) as client:
            with pytest.raises(MCPError) as told:
                await client.read_resource(uri)
            assert len(told.value.message) < 1200

    run(work)


def test_addresses_go_there_and_back() -> None:
    for address in (
        EpisodeAddress("ep_000043"),
        FrameAddress("ep_000043", 2350),
        FrameAddress("ep_000043", "start", "left"),
        DocumentAddress("working/0001.md"),
        DocumentAddress("a b/é+#.md"),
    ):
        assert parse(str(address)) == address


DOTS = st.sampled_from(
    ["..", ".", "%2e%2e", "%2E.", ".%2e", "%252e%252e", "%25%32%65.", "%c0%ae%c0%ae", "．．", quote("．．"), "‥", "..."]
)  # fmt: skip
SLASHES = st.sampled_from(
    ["/", "//", "%2f", "%2F", "%252f", "\\", "%5c", "∕", "／", quote("／"), "%00/", "\x00/", "/./"]
)
NAMES = st.sampled_from(
    ["secret.txt", "index.jsonl", "memory.json", "link", "folder", ".hidden", "mine", "etc", "passwd"]
)
PIECES = st.lists(st.one_of(DOTS, SLASHES, NAMES, st.text(max_size=3)), max_size=9).map("".join)


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    """A memory with secrets beside, above and linked from its documents."""
    root = tmp_path_factory.mktemp("guarded")
    (root / "secret.txt").write_text(SECRET)
    with Memory.create(root / "memory") as memory:
        memory.documents.create("folder/notes.md", "public\n")
    for place in ("secret.txt", "index.jsonl.secret", "mine/.hidden"):
        (root / "memory" / place).write_text(SECRET)
    os.symlink(root / "secret.txt", root / "memory" / "mine" / "link")
    os.symlink(root, root / "memory" / "mine" / "up")
    return Memory.open(root / "memory", read_only=True)


@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=PIECES)
@example(path="../secret.txt")
@example(path="folder/../../secret.txt")
@example(path="%2e%2e/secret.txt")
@example(path="%252e%252e%252fsecret.txt")
@example(path="link")
@example(path="up/secret.txt")
@example(path=".hidden")
@example(path="/etc/passwd")
@example(path="%2fetc%2fpasswd")
def test_no_spelling_leads_out(guarded: Memory, path: str) -> None:
    for uri in (f"scrubjay://mine/{path}", f"scrubjay://mine/{quote(path)}", f"scrubjay://episodes/{path}"):
        try:
            content = read_resource(guarded, uri)
        except ScrubjayError:
            continue
        assert content.data == "public\n", uri


def test_a_document_that_is_not_text_is_told(lived: Memory) -> None:
    Path(lived.root, "mine", "picture.md").write_bytes(b"\xff\xfe")
    with pytest.raises(ScrubjayError, match="not UTF-8"):
        read_resource(lived, "scrubjay://mine/picture.md")
