"""Models of providers, over the providers' own packages, against servers on this machine that speak as they do."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_servers import (
    ANTHROPIC,
    GOOGLE,
    LOOK,
    NOW,
    OPENAI,
    STREAMED,
    TASK,
    WIRES,
    Answer,
    Server,
    Wire,
    ask,
    each_wire,
    openai_reply,
    serving,
    set_keys,
)
from scrubjay.errors import InvalidInput
from scrubjay.models.chat import Image, Message, ToolCall, ToolResult
from scrubjay.models.named import make_chat_model
from scrubjay.models.providers import PROVIDERS, Provider, is_provider, make_provider_model, parse_address

THEN = Image(b"\x89PNG then", "image/png", "ep_000043#2350")
AFTER = Image(b"RIFF after", "image/webp", "ep_000043#2351")
CALLED = Message("assistant", ("I look.",), (ToolCall("c1", "look", {"reference": "ep_000043"}),))
SEEN = Message("tool", results=(ToolResult("c1", "look", ("Two frames:", THEN, AFTER)),))


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    set_keys(monkeypatch)


@each_wire
def test_a_text_is_answered(wire: Wire) -> None:
    with serving(Answer(wire.reply("I dig down."))) as server:
        reply = ask(wire, server)
    assert (reply.text, reply.calls, reply.stop, reply.native) == ("I dig down.", (), "end", None)
    assert (reply.usage.requests, reply.usage.input_tokens, reply.usage.output_tokens) == (1, 11, 7)
    assert reply.usage.images == 1
    assert reply.usage.cost is None  # nobody knows what some-model, which answered, costs
    asked = server.asked[0]
    assert all(said in asked.text for said in ("Be brief.", "Mine a diamond.", "Shows a stored frame."))
    assert wire.model in asked.path + asked.text
    assert f"key-of-{wire.provider}" in "".join(asked.headers.values())
    assert wire.pictures(asked.body) == [NOW.data]
    assert asked.text.index("[now]") > asked.text.index("Mine a diamond.")


@each_wire
def test_a_call_is_read_and_its_result_goes_back_with_both_pictures(wire: Wire) -> None:
    call = ("c1", "look", {"reference": "ep_000043"})
    with serving(Answer(wire.reply("I look.", [call])), Answer(wire.reply("The same entrance."))) as server:
        first = ask(wire, server)
        assert first.stop == "calls"
        assert first.calls == (ToolCall("c1", "look", {"reference": "ep_000043"}),)
        second = ask(wire, server, TASK, first.message, SEEN)
    assert second.text == "The same entrance."
    assert second.usage.images == 3
    body, text = server.asked[1].body, server.asked[1].text
    assert wire.pictures(body) == [NOW.data, THEN.data, AFTER.data]
    assert text.index("Two frames:") < text.index("ep_000043#2350") < text.index("ep_000043#2351")
    assert "http://" not in text
    assert "https://" not in text


def test_where_a_result_takes_no_picture_they_follow_with_their_labels() -> None:
    with serving(Answer(OPENAI.reply("ok"))) as server:
        ask(OPENAI, server, TASK, CALLED, SEEN)
    *_, result, pictures = server.asked[0].body["messages"]
    assert (result["role"], result["tool_call_id"]) == ("tool", "c1")
    assert result["content"].startswith("Two frames:\n[picture 1, shown below: ep_000043#2350]")
    assert pictures["role"] == "user"
    assert [part.get("text") for part in pictures["content"]] == [
        "[look result, ep_000043#2350]", None, "[look result, ep_000043#2351]", None,
    ]  # fmt: skip


@pytest.mark.parametrize(("model", "inside"), [("gemini-3-pro", True), ("gemini-2.5-flash", False)])
def test_google_models_of_both_generations_see_pictures_of_results(model: str, inside: bool) -> None:
    with serving(Answer(GOOGLE.reply("ok"))) as server:
        choice = GOOGLE.choice(server).replace("some-model", model)
        make_provider_model(choice).request("", (TASK, CALLED, SEEN), (LOOK,))
    body = server.asked[0].body
    assert GOOGLE.pictures(body) == [NOW.data, THEN.data, AFTER.data]
    responses = [part for one in body["contents"] for part in one["parts"] if "functionResponse" in part]
    assert len(responses) == 1
    assert ("parts" in responses[0]["functionResponse"]) is inside


@each_wire
def test_a_failed_call_is_said_to_have_failed(wire: Wire) -> None:
    failed = Message("tool", results=(ToolResult("c1", "look", ("no such episode",), is_error=True),))
    with serving(Answer(wire.reply("ok"))) as server:
        ask(wire, server, TASK, CALLED, failed)
    assert "no such episode" in server.asked[0].text
    assert "error" in server.asked[0].text


@pytest.mark.parametrize("sent", ["not JSON", "[1, 2]", '"text"', '{"a": NaN}', '{"a": 1'])
def test_arguments_that_are_no_object_are_kept_as_text_and_can_be_sent_back(sent: str) -> None:
    with serving(Answer(OPENAI.reply("", [("c1", "look", sent)])), Answer(OPENAI.reply("ok"))) as server:
        reply = ask(OPENAI, server)
        assert reply.calls == (ToolCall("c1", "look", None, sent),)
        again = Message("tool", results=(ToolResult("c1", "look", ("arguments must be an object",), is_error=True),))
        assert ask(OPENAI, server, TASK, reply.message, again).text == "ok"


def test_a_call_without_arguments_has_none() -> None:
    with serving(Answer(OPENAI.reply("", [("c1", "look", "")]))) as server:
        assert ask(OPENAI, server).calls == (ToolCall("c1", "look", {}),)


@each_wire
def test_why_a_reply_ended_is_told(wire: Wire) -> None:
    with serving(Answer(wire.reply("half of", stop="max_tokens")), Answer(wire.reply("no", stop="refusal"))) as server:
        assert ask(wire, server).stop == "length"
        assert ask(wire, server).stop == "refused"


@each_wire
def test_a_reply_of_nothing_does_not_spoil_the_next_request(wire: Wire) -> None:
    with serving(Answer(wire.reply("")), Answer(wire.reply("ok"))) as server:
        first = ask(wire, server)
        assert (first.text, first.calls) == ("", ())
        assert ask(wire, server, TASK, first.message, Message("user", ("Go on.",))).text == "ok"


THOUGHTS = [
    (STREAMED, ("content", 0), {"type": "thinking", "thinking": "hm", "signature": "c2lnbmVk"}, "c2lnbmVk"),
    (ANTHROPIC, ("content", 0), {"type": "thinking", "thinking": "hm", "signature": "c2lnbmVk"}, "c2lnbmVk"),
    (GOOGLE, ("candidates", 0, "content", "parts", 0), {"text": "hm", "thought": True}, "c2lnbmVk"),
]


@pytest.mark.parametrize(("wire", "at", "thought", "mark"), THOUGHTS, ids=lambda value: getattr(value, "provider", ""))
def test_thoughts_go_back_to_the_provider_that_signed_them(wire: Wire, at: Any, thought: Any, mark: str) -> None:
    body = wire.reply("I look.", [("c1", "look", {"reference": "ep_000043"})])
    place: Any = body
    for key in at[:-1]:
        place = place[key]
    place.insert(0, thought)
    if wire is GOOGLE:
        place[-1]["thoughtSignature"] = mark
    with serving(Answer(body), Answer(wire.reply("ok"))) as server, serving(Answer(openai_reply("ok"))) as other:
        reply = ask(wire, server)
        assert reply.text == "I look."
        assert reply.native is not None
        ask(wire, server, TASK, reply.message, SEEN)
        ask(OPENAI, other, TASK, reply.message, SEEN)
    assert mark in server.asked[1].text
    assert mark not in other.asked[0].text
    assert "I look." in other.asked[0].text


@pytest.mark.parametrize(
    ("wire", "model"),
    [(STREAMED, STREAMED.model), (OPENAI, "gpt-4o"), (GOOGLE, "gemini-2.5-flash")],
    ids=lambda value: getattr(value, "provider", ""),
)
def test_a_known_model_has_a_price(wire: Wire, model: str) -> None:
    body = wire.reply("ok")
    body["modelVersion" if wire is GOOGLE else "model"] = model
    with serving(Answer(body)) as server:
        reply = make_provider_model(wire.choice(server).replace(wire.model, model)).request("", (TASK,), ())
    assert reply.usage.cost is not None
    assert 0 < reply.usage.cost < 0.01


def test_thoughts_that_another_version_kept_do_not_spoil_a_request() -> None:
    old = Message("assistant", ("I look.",), native={"provider": "openai", "response": {"kind": "of old"}})
    with serving(Answer(OPENAI.reply("ok"))) as server:
        assert ask(OPENAI, server, TASK, old, Message("user", ("Go on.",))).text == "ok"
    assert "I look." in server.asked[0].text


@each_wire
def test_what_no_request_can_hold_is_replaced_wherever_it_stands(wire: Wire) -> None:
    odd = "a\ud800b"
    called = Message(
        "assistant", (odd,), (ToolCall("c1", "look", {"reference": odd}), ToolCall("c2", "look", None, odd))
    )
    seen = Message(
        "tool",
        (odd, Image(b"x", "image/png", odd)),
        results=tuple(ToolResult(c.id, "look", (odd, Image(b"y", "image/png", odd))) for c in called.calls),
    )
    with serving(Answer(wire.reply("ok"))) as server:
        reply = make_provider_model(wire.choice(server)).request(odd, (Message("user", (odd,)), called, seen), (LOOK,))
    assert reply.text == "ok"
    assert server.asked[0].text.count("a?b") >= 8


@each_wire
def test_a_picture_that_not_every_model_can_see_is_refused(wire: Wire) -> None:
    with serving(Answer(wire.reply("ok"))) as server, pytest.raises(InvalidInput, match="image/bmp"):
        ask(wire, server, Message("user", (Image(b"BM", "image/bmp"),)))


def test_a_model_answers_where_an_event_loop_runs() -> None:
    async def notebook(server: Server) -> str:
        return ask(OPENAI, server).text

    with serving(Answer(OPENAI.reply("ok"))) as server:
        assert asyncio.run(notebook(server)) == "ok"


@pytest.mark.parametrize("provider", ["openai-compatible", "vllm", "ollama"])
def test_a_server_of_ones_own_needs_no_key_and_gets_none_of_openai(provider: str) -> None:
    priced = {**openai_reply("ok"), "model": "gpt-4o"}
    with serving(Answer(priced)) as server:
        model = make_provider_model(f"{provider}:qwen3-vl:8b@http://127.0.0.1:{server.port}/v1")
        reply = model.request("", (TASK,), (LOOK,))
    assert (reply.text, reply.usage.cost) == ("ok", None)
    assert model.name == f"{provider}:qwen3-vl:8b"
    assert server.asked[0].body["model"] == "qwen3-vl:8b"
    assert "key-of-openai" not in str(server.asked[0].headers)


def test_the_address_may_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(Answer(openai_reply("ok"))) as server:
        for choice, variable in [("openai:m", "OPENAI_BASE_URL"), ("vllm:org/m", "VLLM_BASE_URL")]:
            monkeypatch.setenv(variable, f"http://127.0.0.1:{server.port}/v1")
            assert make_provider_model(choice).request("", (TASK,), ()).text == "ok"


@pytest.mark.parametrize(
    ("choice", "says"),
    [
        ("anthropic:claude", "ANTHROPIC_API_KEY"),
        ("google:gemini", "GOOGLE_API_KEY or GEMINI_API_KEY"),
        ("openai:", "names no model"),
        ("vllm:qwen", "VLLM_BASE_URL"),
        ("scripted", "no language model"),
        ("my.module:Model", "no language model"),
    ],
)
def test_a_choice_that_lacks_something_says_what(choice: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for wire in WIRES:
        monkeypatch.delenv(wire.key, raising=False)
    with pytest.raises(InvalidInput, match=says):
        make_chat_model(choice)


def test_choices_are_read() -> None:
    address = parse_address("vllm:org/model@v2@http://host:8000/v1")
    assert (address.model, address.url) == ("org/model@v2", "http://host:8000/v1")
    assert is_provider("ollama:x")
    assert not is_provider("my.module:Model")
    assert not is_provider("openai")


def test_nothing_of_it_is_imported_before_a_model_is_used() -> None:
    code = (
        "import scrubjay.models.named, scrubjay.models.chat, sys;"
        "print([m for m in ('pydantic_ai', 'openai', 'anthropic', 'google.genai', 'httpx2') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


words = st.text(max_size=12)
pictures = st.builds(Image, st.binary(max_size=6), st.sampled_from(["image/png", "image/jpeg"]), words)
parts = st.lists(words | pictures, max_size=3).map(tuple)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | words, lambda v: st.lists(v, max_size=2), max_leaves=4
)
calls = st.builds(
    ToolCall, st.just("c"), st.just("look"), st.none() | st.dictionaries(words, values, max_size=2), words
)
said = st.builds(Message, st.just("user"), parts) | st.builds(
    Message, st.just("assistant"), parts, st.lists(calls, max_size=2).map(tuple)
)
results = st.builds(ToolResult, st.just("c"), st.just("look"), parts, st.booleans())
seen = st.builds(Message, st.just("tool"), results=st.lists(results, max_size=2).map(tuple))


@given(st.lists(said | seen, max_size=4).map(tuple), st.sampled_from(list(PROVIDERS.values())))
def test_any_conversation_can_be_said_to_any_provider(messages: tuple[Message, ...], provider: Provider) -> None:
    from pydantic_ai.messages import BinaryContent, ModelRequest, ToolReturnPart, UserPromptPart

    from scrubjay.models.translating import image_count, to_messages

    shown: list[bytes] = []
    for message in to_messages(messages, provider):
        for part in message.parts if isinstance(message, ModelRequest) else []:
            assert isinstance(part, (ToolReturnPart, UserPromptPart))
            pieces = part.content if isinstance(part.content, list) else [part.content]
            shown += [piece.data for piece in pieces if isinstance(piece, BinaryContent)]
    by_others = tuple(message for message in messages if message.role != "assistant")
    assert len(shown) == image_count(by_others)
