"""Conversations kept and given again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat_models import Canned
from scrubjay.errors import Conflict, Damaged, ModelUnavailable, NotFound
from scrubjay.models.chat import Image, Message, Reply, Tool, ToolCall, ToolResult, Usage
from scrubjay.models.digests import digest_of
from scrubjay.models.named import make_chat_model
from scrubjay.models.replaying import Recorder, Replay

LOOK = Tool("look", "Shows a stored frame.", {"type": "object"})
TASK = Message("user", ("Mine a diamond.", Image(b"pixels", "image/png", "now")))
FIRST = Reply(
    "I look.",
    (ToolCall("c1", "look", {"reference": "ep_000001"}), ToolCall("c2", "look", None, "not JSON \ud800")),
    Usage(1, 10, 20, 1, 0.25),
    "calls",
    {"provider": "anthropic", "response": {"parts": []}},
)
SEEN = Message("tool", results=(ToolResult("c1", "look", ("a cave", Image(b"cave", "image/webp", "ep_000001"))),))
SECOND = Reply("I dig.", stop="length", left_out=3)


def ask(model: Recorder | Replay, task: Message = TASK, system: str = "Be brief.") -> tuple[Reply, Reply]:
    first = model.request(system, (task,), (LOOK,))
    return first, model.request(system, (task, first.message, SEEN), (LOOK,))


@pytest.fixture
def path(tmp_path: Path) -> str:
    path = str(tmp_path / "replies.jsonl")
    assert ask(Recorder(Canned(FIRST, SECOND), path)) == (FIRST, SECOND)
    return path


def test_a_recording_gives_the_same_replies(path: str) -> None:
    replay = Replay(path)
    assert replay.name == "replay:canned"
    assert ask(replay) == (FIRST, SECOND)
    assert replay.difference is None
    with pytest.raises(NotFound, match="ends after 2 requests"):
        ask(replay)


def test_it_is_a_model_by_name(path: str) -> None:
    assert make_chat_model(f"replay:{path}").request("Be brief.", (TASK,), (LOOK,)) == FIRST


def test_a_recording_is_gone_on_with(path: str) -> None:
    ask(Recorder(Canned(SECOND, FIRST), path))
    replay = Replay(path)
    assert ask(replay) + ask(replay) == (FIRST, SECOND, SECOND, FIRST)


def test_a_failed_request_leaves_no_row(path: str) -> None:
    with pytest.raises(ModelUnavailable):
        Recorder(Canned(ModelUnavailable("out")), path).request("", (TASK,), ())
    replay = Replay(path)
    ask(replay)
    with pytest.raises(NotFound):
        replay.request("", (TASK,), ())


OTHER_PIXELS = replace(TASK, parts=("Mine a diamond.", Image(b"pixelz", "image/png", "now")))


@pytest.mark.parametrize(
    ("task", "system", "tools", "what"),
    [
        (OTHER_PIXELS, "Be brief.", (LOOK,), "request 1 is not the one that was recorded: message 1 of 1"),
        (TASK, "Be long.", (LOOK,), "the system prompt"),
        (TASK, "Be brief.", (), "the tools"),
    ],
)
def test_a_strict_replay_says_where_it_differs(
    path: str, task: Message, system: str, tools: tuple[Tool, ...], what: str
) -> None:
    replay = Replay(path)
    with pytest.raises(Conflict, match=what):
        replay.request(system, (task,), tools)


def test_a_lenient_replay_goes_on_and_keeps_the_first_difference(path: str) -> None:
    replay = Replay(path, is_strict=False)
    replay.request("Be brief.", (TASK,), (LOOK,))
    assert replay.request("Be brief.", (TASK, FIRST.message), (LOOK,)) == SECOND
    assert str(replay.difference) == "request 2 is not the one that was recorded: 2 messages, 3 were recorded"


def test_a_torn_row_was_never_handed_out(path: str) -> None:
    lines = Path(path).read_bytes().splitlines(keepends=True)
    Path(path).write_bytes(lines[0] + lines[1][:50])
    recorder = Recorder(Canned(SECOND), path)
    recorder.request("Be brief.", (TASK, FIRST.message, SEEN), (LOOK,))
    assert ask(Replay(path)) == (FIRST, SECOND)


@pytest.mark.parametrize("damage", [b"not a row\n", b'{"request": 1}\n', b""])
def test_a_damaged_recording_names_file_and_byte(path: str, damage: bytes) -> None:
    lines = Path(path).read_bytes().splitlines(keepends=True)
    Path(path).write_bytes(damage + lines[1])
    with pytest.raises(Damaged) as caught:
        Replay(path)
    assert caught.value.file == path
    assert caught.value.offset == (0 if damage.startswith(b"{") else len(damage))


def test_there_is_nothing_to_replay(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        Replay(str(tmp_path / "none.jsonl"))


words = st.text(max_size=20)
pieces = st.one_of(words, st.builds(Image, st.binary(max_size=8), st.just("image/png"), words))
messages = st.builds(Message, st.sampled_from(["user", "assistant"]), st.lists(pieces, max_size=3).map(tuple))


@given(words, st.lists(messages, max_size=3).map(tuple), st.lists(messages, max_size=3).map(tuple))
def test_digests_are_equal_exactly_where_the_messages_are(
    system: str, one: tuple[Message, ...], two: tuple[Message, ...]
) -> None:
    assert (digest_of(system, one, ()) == digest_of(system, two, ())) is (one == two)
    native = tuple(replace(message, native={"any": 1}) for message in one)
    assert digest_of(system, one, ()) == digest_of(system, native, ())
