"""Documents, procedures and the check over MCP: what is written has a history, what takes long tells how far it is."""

from __future__ import annotations

import anyio
import mcp_types as types

from conftest import live_some
from mcp_clients import call, in_memory, refused, run, text_of
from scrubjay import Memory


def test_a_long_document_is_offered_in_parts(lived: Memory) -> None:
    lived.documents.create("long.md", "\n".join(f"line {n}" for n in range(5000)))

    async def work() -> None:
        async with in_memory(lived.root) as client:
            shown = text_of(await call(client, "read_documents", path="long.md"))
            assert len(shown) < 20_500
            assert "view_range" in shown
            assert "scrubjay://mine/long.md" in shown
            part = text_of(await call(client, "read_documents", path="long.md", view_range=[4999, -1]))
            assert part.endswith("5000\tline 4999")

    run(work)


def test_documents_are_written_and_removed_with_history(lived: Memory) -> None:
    async def work() -> None:
        async with in_memory(lived.root) as client:
            await call(client, "write_documents", command="create", path="notes.md", file_text="one\n")
            await call(client, "write_documents", command="append", path="/memories/notes.md", text="two [ep_000001]")
            first = {"path": "notes.md", "insert_line": 0, "insert_text": "zero\n"}
            await call(client, "write_documents", command="insert", **first)
            await call(client, "write_documents", command="str_replace", path="notes.md", old_str="one", new_str="1")
            assert "already exists" in await refused(
                client, "write_documents", command="create", path="notes.md", file_text="x"
            )
            shown = text_of(await call(client, "read_documents", path="notes.md"))
            assert [line.split("\t")[1] for line in shown.splitlines()[1:4]] == ["zero", "1", "two [ep_000001]"]
            await call(client, "remove_documents", command="rename", old_path="notes.md", new_path="old.md")
            await call(client, "remove_documents", command="delete", path="old.md")
            assert "does not exist" in await refused(client, "read_documents", path="old.md")

    run(work)
    changes = lived.documents.history()
    assert [change.operation for change in changes] == ["create", "append", "insert", "str_replace", "rename", "delete"]
    lived.documents.undo()
    assert lived.documents.read("old.md").startswith("zero\n1\n")


def test_a_check_tells_how_far_it_has_come(memory: Memory) -> None:
    live_some(memory, episodes=40, steps=1)
    told: list[tuple[float, float | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total))

    async def work() -> None:
        async with in_memory(memory.root, beat=0.001) as client:
            result = await client.call_tool("check", {}, progress_callback=hear)
            assert isinstance(result, types.CallToolResult)
            assert result.structured_content is not None
            assert result.structured_content["sound"] is True
            assert "sound: nothing is wrong" in text_of(result)

    run(work)
    assert told
    assert told == sorted(told)
    assert all(total == 40 for _, total in told)


def test_a_check_names_what_is_wrong(lived: Memory) -> None:
    lived.documents.create("notes.md", "- Lava in the east [ep_000077]\n")

    async def work() -> None:
        async with in_memory(lived.root) as client:
            result = await call(client, "check")
            assert result.structured_content is not None
            assert result.structured_content["problem_count"] == len(result.structured_content["problems"]) == 1
            assert "ep_000077" in text_of(result)

    run(work)


def test_a_check_says_how_much_it_does_not_show(lived: Memory) -> None:
    lived.documents.create("notes.md", "".join(f"- Lava in the east [ep_{n:06d}]\n" for n in range(900, 1030)))

    async def work() -> None:
        async with in_memory(lived.root) as client:
            result = await call(client, "check")
            assert result.structured_content is not None
            assert result.structured_content["problem_count"] == 130
            assert len(result.structured_content["problems"]) == 100
            assert "(30 more problems: `scrubjay check` in a shell shows them)" in text_of(result)

    run(work)


def test_a_cancelled_call_leaves_the_server_at_work(memory: Memory) -> None:
    live_some(memory, episodes=60, steps=1)

    async def work() -> None:
        async with in_memory(memory.root, beat=0.001) as client:
            begun = anyio.Event()

            async def hear(progress: float, total: float | None, message: str | None) -> None:
                begun.set()

            async with anyio.create_task_group() as tasks:

                async def checking() -> None:
                    await client.call_tool("check", {}, progress_callback=hear)

                tasks.start_soon(checking)
                await begun.wait()
                tasks.cancel_scope.cancel()
            assert (await call(client, "episodes", last=1)).structured_content is not None

    run(work)


def test_procedures_are_listed_shown_and_their_runs_told(lived: Memory) -> None:
    code = "def walk_east(n):\n    walk(n)\n"
    lived.procedures.create("walk-east", "Walks east.", code=code, cites=["ep_000001"])

    async def work() -> None:
        async with in_memory(lived.root) as client:
            listed = await call(client, "procedures", command="list")
            assert listed.structured_content is not None
            assert listed.structured_content["procedures"][0]["name"] == "walk-east"
            assert code in text_of(await call(client, "procedures", command="show", name="Walk East"))
            assert "no calls" in text_of(await call(client, "procedures", command="runs"))

    run(work)
