"""The MCP server as a real process on a pipe, and two of them on one memory: what is lost when one dies, nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import anyio
import pytest

from mcp_clients import base64_png, call, images_of, in_memory, of_process, refused, run, text_of
from scrubjay import Memory, Query
from scrubjay.memory.checking import check
from scrubjay.memory.disk import exclusive
from scrubjay.surfaces.cli import main
from scrubjay.testing import check_memory


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_locates_looks_and_writes_through_a_pipe(lived: Memory, mode: str) -> None:
    async def work() -> None:
        async with of_process(lived.root, mode=mode) as client:
            found = await call(client, "episodes", last=2)
            assert found.structured_content is not None
            assert [row["id"] for row in found.structured_content["rows"]] == ["ep_000002", "ep_000003"]
            seen = await call(client, "look", reference="ep_000003", question="what?")
            assert images_of(seen)[0].size == (12, 8)
            assert seen.structured_content is not None
            await call(client, "answer", id=seen.structured_content["id"], text="nothing")
            await call(client, "write_documents", command="append", path="notes.md", text="East [ep_000003]")
            assert "ep_000077" in await refused(client, "look", reference="ep_000077")
            assert "sound" in text_of(await call(client, "check"))

    run(work)
    assert lived.documents.read("notes.md") == "East [ep_000003]\n"
    assert lived.questions()[0].answer == "nothing"


def test_two_clients_on_one_memory_lose_nothing(memory: Memory) -> None:
    """Each records ten episodes and writes twenty lines of the same document, both at once."""

    async def work() -> None:
        async with of_process(memory.root) as one, of_process(memory.root) as two, anyio.create_task_group() as tasks:
            tasks.start_soon(_live, one, "one")
            tasks.start_soon(_live, two, "two")

    run(work)
    rows = list(memory.iterate(Query(life="all")))
    assert len(rows) == 20
    assert {row.life for row in rows} == {1, 2}
    assert {(row.note, row.outcome) for row in rows} == {
        (f"{n} {k}", "success") for n in ("one", "two") for k in range(10)
    }
    lines = memory.documents.read("notes.md").splitlines()
    assert sorted(lines) == sorted(f"- {n} {k} (hypothesis)" for n in ("one", "two") for k in range(20))
    assert len(memory.questions()) == 2
    assert check(memory.layout).is_sound
    check_memory(memory.root)


async def _live(client: Any, name: str) -> None:
    life: dict[str, int] = {}
    for nth in range(10):
        begun = await call(client, "record", command="begin", action="go", image=base64_png(nth), **life)
        assert begun.structured_content is not None
        life = {"life": begun.structured_content["life"]}
        episode = begun.structured_content["episode"]
        await call(client, "record", command="step", episode=episode, action="east", image=base64_png(nth + 1))
        for half in (0, 1):
            line = f"- {name} {2 * nth + half} (hypothesis)"
            await call(client, "write_documents", command="append", path="notes.md", text=line)
        await call(client, "record", command="finish", episode=episode, outcome="success", note=f"{name} {nth}")
    seen = await call(client, "look", reference=episode, question=name)
    assert seen.structured_content is not None
    await call(client, "answer", id=seen.structured_content["id"], text="grass")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_server_that_is_killed_in_an_episode_keeps_its_steps(memory: Memory, number: signal.Signals) -> None:
    pids: list[int] = []

    async def work() -> None:
        async with of_process(memory.root) as client:
            begun = await call(client, "record", command="begin", action="walk", image=base64_png(1))
            assert begun.structured_content is not None
            episode = begun.structured_content["episode"]
            for nth in (2, 3):
                await call(client, "record", command="step", episode=episode, action="left", image=base64_png(nth))
            pids.append(_holder(memory.layout.life_lock(1)))
            os.kill(pids[0], number)
            while memory.lives()[0].ended is None and number != signal.SIGKILL:
                await anyio.sleep(0.01)

    run(work)
    with Memory.open(memory.root) as opened:
        (row,) = opened.find().rows
        assert (row.outcome, row.first_step, row.last_step) == ("interrupted", 0, 2)
        assert opened.lives()[0].ended is not None
    assert check(memory.layout).is_sound


def _holder(lock: str) -> int:
    """The process, other than this one, that has this file open."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if any(os.path.samefile(opened, lock) for opened in (entry / "fd").iterdir() if opened.exists()):
                    return int(entry.name)
            except OSError:
                continue
    raise AssertionError(f"nobody holds {lock}")


def test_a_cancelled_write_is_carried_to_its_end(memory: Memory) -> None:
    async def work() -> None:
        async with of_process(memory.root) as client:
            arguments = {"command": "append", "path": "notes.md", "text": "- Kept (hypothesis)"}
            with exclusive(memory.layout.lock_of(memory.layout.mine)):  # it waits for another's, and is given up
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(client.call_tool, "write_documents", arguments)
                    while not _waits(memory.layout.lock_of(memory.layout.mine)):
                        await anyio.sleep(0.01)
                    tasks.cancel_scope.cancel()
                assert text_of(await call(client, "episodes")) == "(no matching episodes)"
                assert memory.documents.list() == []
            await call(client, "write_documents", command="append", path="notes.md", text="- Next (hypothesis)")

    run(work)
    assert sorted(memory.documents.read("notes.md").splitlines()) == ["- Kept (hypothesis)", "- Next (hypothesis)"]
    assert len(memory.documents.history()) == 2
    assert check(memory.layout).is_sound


def _waits(path: str) -> bool:
    """True while somebody waits for the lock of this file."""
    waiting = [line for line in Path("/proc/locks").read_text().splitlines() if "->" in line]
    return any(f":{os.stat(path).st_ino} " in line for line in waiting)


def test_a_client_that_only_closes_the_pipe_ends_its_life(memory: Memory) -> None:
    async def work() -> None:
        async with of_process(memory.root) as client:
            await call(client, "record", command="begin", action="walk", image=base64_png(1))

    run(work)
    deadline = time.monotonic() + 30
    while memory.lives()[0].ended is None and time.monotonic() < deadline:
        time.sleep(0.01)
    (row,) = memory.find().rows
    assert (row.outcome, memory.lives()[0].outcome) == ("interrupted", "interrupted")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["{none}"], "is not a memory"),
        (["{root}", "--http", "here"], "HOST:PORT"),
        (["{root}", "--http", "0.0.0.0:0"], "token"),
        (["{root}", "--http", "127.0.0.1:0", "--token-env", "NO_SUCH_VARIABLE"], "NO_SUCH_VARIABLE"),
        (["{root}", "--token-env", "PATH"], "--http"),
    ],
)
def test_what_can_not_be_served_is_told_in_a_line(
    lived: Memory, words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    places = {"root": lived.root, "none": f"{lived.root}-none"}
    assert main(["serve", "mcp", *(word.format(**places) for word in words)]) == 1
    shown = capsys.readouterr()
    assert told in shown.err
    assert len(shown.err.splitlines()) == 1
    assert shown.out == ""


def test_only_known_ways_of_serving_are_taken(lived: Memory, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "fly", lived.root]) == 2
    assert "mcp" in capsys.readouterr().err


def test_without_the_sdk_it_is_said_what_to_install(lived: Memory) -> None:
    code = "import sys; sys.modules['mcp'] = None; import scrubjay.surfaces.cli as cli; "
    code += f"sys.exit(cli.main(['serve', 'mcp', {lived.root!r}]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 1
    assert "pip install 'scrubjay[mcp]'" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_published_run_is_served_read_only(capsys: pytest.CaptureFixture[str]) -> None:
    published = Path(__file__).parent / "data" / "mfm_published"
    assert main(["serve", "mcp", str(published)]) == 1
    assert "read-only" in capsys.readouterr().err

    async def work() -> None:
        async with in_memory(published, read_only=True) as client:
            found = await call(client, "episodes", last=2)
            assert found.structured_content is not None
            rows = found.structured_content["rows"]
            assert len(rows) == 2
            said = await refused(client, "look", reference=rows[0]["id"])
            assert "has no frame" in said
            assert "ep_" in await refused(client, "look", reference="ep_999999")

    run(work)
