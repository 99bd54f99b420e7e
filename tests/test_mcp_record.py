"""Recording over MCP: whose a life is, what a broken call leaves, what is left when a client or a server dies."""

from __future__ import annotations

import base64
import io
from pathlib import Path

import anyio
import pytest
from mcp.client import Client
from PIL import Image

from mcp_clients import base64_png, call, digests, images_of, in_memory, png, refused, run
from scrubjay import Memory, Query
from scrubjay.memory.checking import check
from scrubjay.surfaces.mcp.recording import Recorder
from scrubjay.surfaces.mcp.server import MemoryServer
from scrubjay.testing import check_memory


def test_an_episode_is_begun_stepped_and_finished_and_then_found(memory: Memory) -> None:
    async def work() -> None:
        async with in_memory(memory.root) as client:
            begun = await call(
                client, "record", command="begin", task="make tea", world="kitchen", action="boil",
                arguments={"cups": 2}, image=base64_png(1), state={"pos": [0, 0, 0], "kettle": "cold"}, plan="tea",
            )  # fmt: skip
            assert begun.structured_content is not None
            episode, life = begun.structured_content["episode"], begun.structured_content["life"]
            assert begun.structured_content["step"] == 0
            step = await call(
                client, "record", command="step", episode=episode, action={"press": "switch"},
                image=f"data:image/png;base64,{base64_png(2)}", state={"pos": [1, 0, 0], "kettle": "hot"}, reward=1.5,
            )  # fmt: skip
            assert step.structured_content is not None
            assert step.structured_content["step"] == 1
            ended = await call(
                client, "record", command="finish", episode=episode, outcome="success", tags=["tea"],
                events=["whistle"], note="takes long",
            )  # fmt: skip
            assert ended.structured_content is not None
            assert ended.structured_content["row"]["tags"] == ["tea"]
            again = await call(client, "record", command="begin", life=life, action="pour")
            assert again.structured_content is not None
            assert again.structured_content["life"] == life
            assert again.structured_content["step"] == 1
            await call(client, "record", command="finish", episode=again.structured_content["episode"], end_life=True)
            assert "is finished" in await refused(client, "record", command="finish", episode=episode)
            assert f"life {life} is not running" in await refused(
                client, "record", command="begin", life=life, action="drink"
            )
            found = await call(client, "episodes", tag=["tea"], life=life)
            assert found.structured_content is not None
            assert [row["id"] for row in found.structured_content["rows"]] == [episode]
            assert images_of(await call(client, "look", reference=f"{episode}#1"))[0].size == (12, 8)

    run(work)
    first, second = memory.find().rows
    assert (first.outcome, first.events, first.note, first.action_kind) == (
        "success",
        ("whistle",),
        "takes long",
        "boil",
    )
    steps = list(memory.episode(first).steps())
    assert [step.action for step in steps] == [{"press": "switch"}, None]
    assert steps[1].reward == 1.5
    assert memory.episode(first).frame(0).data == png(1)
    # The second began with what was seen last.
    assert memory.episode(second).start_frame().data == png(2)
    (lived,) = memory.lives()
    assert (lived.task, lived.world, lived.outcome) == ("make tea", "kitchen", "ended")
    check_memory(memory.root)


def test_several_cameras_are_kept_apart(memory: Memory) -> None:
    async def work() -> None:
        async with in_memory(memory.root) as client:
            begun = await call(
                client, "record", command="begin", action="see", image={"left": base64_png(1), "right": base64_png(2)}
            )
            assert begun.structured_content is not None
            await call(client, "record", command="finish", episode=begun.structured_content["episode"])
            seen = await call(client, "look", reference="ep_000000", camera="right")
            assert seen.structured_content is not None
            uri = seen.structured_content["sources"][0]["frame"]
            assert uri.endswith("frames/start?camera=right")
            (content,) = (await client.read_resource(uri)).contents
            assert base64.b64decode(getattr(content, "blob", "")) == png(2)

    run(work)


def test_a_broken_step_costs_itself_alone(memory: Memory) -> None:
    bomb = io.BytesIO()
    Image.new("1", (10_000, 10_000)).save(bomb, "PNG")
    wrong: list[tuple[object, str]] = [
        ("%%%", "not base64"),
        (base64_png(3)[: len(base64_png(3)) // 8 * 4], "broken"),
        (base64.b64encode(b"GIF").decode(), "no PNG"),
        (base64.b64encode(bomb.getvalue()).decode(), "pixels"),
        ("A" * 22_000_000, "at most"),
        ({"a b": base64_png(1)}, "camera"),
        ({"a": base64_png(1), "A": base64_png(1)}, "capitals"),
    ]

    async def work() -> None:
        async with in_memory(memory.root) as client:
            begun = await call(client, "record", command="begin", action="dig", image=base64_png(1))
            assert begun.structured_content is not None
            episode = begun.structured_content["episode"]
            for image, told in wrong:
                said = await refused(client, "record", command="step", episode=episode, action="dig", image=image)
                assert told in said, said
                assert len(said) < 1200
            assert "action" in await refused(client, "record", command="step", episode=episode, image=base64_png(2))
            assert "open" in await refused(
                client, "record", command="begin", life=begun.structured_content["life"], action="dig"
            )
            await call(client, "record", command="step", episode=episode, action="dig", image=base64_png(2))
            await call(client, "record", command="finish", episode=episode)

    run(work)
    (row,) = memory.find().rows
    assert (row.first_step, row.last_step) == (0, 1)
    assert check(memory.layout).is_sound


def test_what_can_not_be_recorded_begins_no_life(memory: Memory) -> None:
    before = digests(memory.root)

    async def work() -> None:
        async with in_memory(memory.root) as client:
            await refused(client, "record", command="begin", action="x", image="AAAA")
            await refused(client, "record", command="begin", action="x", image={"a b": base64_png(1)})
            await refused(client, "record", command="begin", action=" ")

    run(work)
    assert digests(memory.root) == before


def test_two_clients_of_one_server_have_two_lives(memory: Memory) -> None:
    async def work() -> None:
        server = MemoryServer(memory.root)
        async with Client(server.protocol) as one, Client(server.protocol) as two:
            first = (await call(one, "record", command="begin", task="one", action="a")).structured_content
            second = (await call(two, "record", command="begin", task="two", action="b")).structured_content
            assert first is not None
            assert second is not None
            assert first["life"] != second["life"]

            async def several(client: Client, episode: str) -> None:
                for nth in range(5):
                    await call(client, "record", command="step", episode=episode, action="go", image=base64_png(nth))

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(several, one, first["episode"])
                tasks.start_soon(several, two, second["episode"])
            await call(one, "record", command="finish", episode=first["episode"])
            await call(two, "record", command="finish", episode=second["episode"])
        await anyio.to_thread.run_sync(server.close)

    run(work)
    lives = {row.life: row for row in memory.find(Query(life="all"))}
    assert sorted(lives) == [1, 2]
    assert all(row.last_step == 5 for row in lives.values())
    assert check(memory.layout).is_sound


def test_a_life_is_ended_when_nobody_calls_and_keeps_the_steps_it_had(memory: Memory) -> None:
    now = [0.0]
    recorder = Recorder(memory.root, lambda: now[0])
    begun = recorder.record({"command": "begin", "action": "wait", "image": base64_png(1)}).structured
    other = recorder.record({"command": "begin", "action": "work"}).structured
    recorder.record({"command": "step", "episode": begun["episode"], "action": "wait", "image": base64_png(2)})
    now[0] = 50.0
    recorder.record({"command": "step", "episode": other["episode"], "action": "work"})
    now[0] = 100.0
    assert recorder.end_idle(60.0) == [begun["life"]]
    with pytest.raises(LookupError, match="was ended as interrupted, with the steps it had: begin a new episode"):
        recorder.record({"command": "finish", "episode": begun["episode"]})
    recorder.record({"command": "finish", "episode": other["episode"]})
    recorder.close()
    row = memory.episode(begun["episode"]).row
    assert (row.outcome, row.last_step) == ("interrupted", 1)
    assert {life.life: life.outcome for life in memory.lives()} == {
        begun["life"]: "interrupted",
        other["life"]: "ended",
    }
    assert check(memory.layout).is_sound


def test_a_server_that_ends_keeps_the_open_episode(memory: Memory) -> None:
    async def work() -> None:
        async with in_memory(memory.root) as client:
            begun = await call(client, "record", command="begin", action="walk", image=base64_png(1))
            assert begun.structured_content is not None
            episode = begun.structured_content["episode"]
            await call(client, "record", command="step", episode=episode, action="left", image=base64_png(2))

    run(work)
    (row,) = memory.find().rows
    assert (row.outcome, row.first_step, row.last_step) == ("interrupted", 0, 1)
    assert check(memory.layout).is_sound


def test_what_one_client_writes_is_of_the_life_it_records(memory: Memory) -> None:
    async def work() -> None:
        async with in_memory(memory.root, one_client=True) as client:
            begun = await call(client, "record", command="begin", action="walk", image=base64_png(1))
            assert begun.structured_content is not None
            await call(client, "write_documents", command="append", path="notes.md", text="East (hypothesis)")
            await call(client, "record", command="finish", episode=begun.structured_content["episode"])
            seen = await call(client, "look", reference="ep_000000", question="what?")
            assert seen.structured_content is not None
            await call(client, "answer", id=seen.structured_content["id"], text="grass")

    run(work)
    (change,) = memory.documents.history()
    (asked,) = memory.questions()
    assert (change.life, change.step, asked.life) == (1, 0, 1)


def test_reading_records_no_episode(lived: Memory, tmp_path: Path) -> None:
    async def work() -> None:
        async with in_memory(lived.root) as client:
            await call(client, "episodes")
            seen = await call(client, "look", reference="ep_000000", question="what?")
            assert seen.structured_content is not None
            await call(client, "answer", id=seen.structured_content["id"], text="grass")
            await call(client, "write_documents", command="append", path="notes.md", text="x (hypothesis)")

    before = (Path(lived.root) / "index.jsonl").read_bytes(), len(lived.lives())
    run(work)
    assert ((Path(lived.root) / "index.jsonl").read_bytes(), len(lived.lives())) == before
