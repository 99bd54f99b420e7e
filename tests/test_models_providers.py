"""Models of providers, over the providers' own packages, against servers on this machine that speak as they do."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from model_servers import ANTHROPIC, GOOGLE, OPENAI, STREAMED, WIRES, Answer, Server, Wire, openai_reply, serving
from scrubjay.errors import InvalidInput, ModelUnavailable, RequestTooLarge
from scrubjay.models.chat import Image, Message, Reply, Tool, ToolCall, ToolResult
from scrubjay.models.named import make_chat_model
from scrubjay.models.providers import PROVIDERS, is_provider, make_provider_model, parse_address

LOOK = Tool(
    "look",
    "Shows a stored frame.",
    {"type": "object", "properties": {"reference": {"type": "string"}}, "required": ["reference"]},
)
NOW = Image(b"\x89PNG now", "image/png", "now")
THEN = Image(b"\x89PNG then", "image/png", "ep_000043#2350")
AFTER = Image(b"RIFF after", "image/webp", "ep_000043#2351")
TASK = Message("user", ("Mine a diamond.", NOW))
CALLED = Message("assistant", ("I look.",), (ToolCall("c1", "look", {"reference": "ep_000043"}),))
SEEN = Message("tool", results=(ToolResult("c1", "look", ("Two frames:", THEN, AFTER)),))


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for provider in PROVIDERS.values():
        monkeypatch.delenv(provider.url, raising=False)
        for key in provider.keys:
            monkeypatch.delenv(key, raising=False)
    for wire in WIRES:
        monkeypatch.setenv(wire.key, f"key-of-{wire.provider}")


each_wire = pytest.mark.parametrize("wire", WIRES, ids=lambda wire: f"{wire.provider}-{wire.model}")


def ask(wire: Wire, server: Server, *messages: Message, tools: tuple[Tool, ...] = (LOOK,)) -> Reply:
    return make_provider_model(wire.choice(server)).request("Be brief.", messages or (TASK,), tools)


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


@each_wire
def test_a_request_too_large_is_told_apart(wire: Wire) -> None:
    with serving(
        Answer(wire.error(400, wire.too_large), 400),
        Answer(wire.error(413, "Request Entity Too Large"), 413),
        Answer(b"<html>413</html>", 413),
    ) as server:
        for _ in range(3):
            with pytest.raises(RequestTooLarge, match=wire.model):
                ask(wire, server)


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "At most 1 image(s) may be provided in one request."),
        (400, "request (4390 tokens) exceeds the available context size (4096 tokens), try increasing it"),
        (500, "Context size has been exceeded."),
        (429, "Request too large for some-model on tokens per min (TPM): Limit 30000, Requested 40000."),
    ],
)
def test_wordings_of_other_servers_for_too_large(status: int, message: str) -> None:
    with serving(Answer(OPENAI.error(status, message), status)) as server, pytest.raises(RequestTooLarge):
        ask(OPENAI, server)


@each_wire
@pytest.mark.parametrize("status", [401, 403])
def test_a_key_that_is_refused_names_its_variable(wire: Wire, status: int) -> None:
    refused = Answer(wire.error(status, "bad key"), status)
    with serving(refused) as server, pytest.raises(InvalidInput, match=wire.key):
        ask(wire, server)


@each_wire
def test_a_model_that_is_not_there_and_a_bad_request_are_for_a_person(wire: Wire) -> None:
    answers = [Answer(wire.error(404, "no such thing"), 404), Answer(wire.error(400, "bad schema"), 400)]
    with serving(*answers) as server:
        with pytest.raises(InvalidInput, match="no such model"):
            ask(wire, server)
        with pytest.raises(InvalidInput, match="bad schema"):
            ask(wire, server)


@each_wire
@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 529])
def test_what_passes_is_an_outage(wire: Wire, status: int) -> None:
    busy, says = Answer(wire.error(status, "busy"), status, {"retry-after": "7"}), f"HTTP {status}: busy"
    with serving(busy) as server, pytest.raises(ModelUnavailable, match=says) as caught:
        ask(wire, server)
    assert caught.value.retry_after == 7
    assert not caught.value.is_garbled
    assert len(server.asked) == 1  # the package does not ask again by itself


@each_wire
@pytest.mark.parametrize("cut", [0, 1, 60, 150])
def test_an_answer_that_breaks_off_is_an_outage(wire: Wire, cut: int) -> None:
    broken = Answer(wire.reply("long " * 200), cut=cut)
    with serving(broken) as server, pytest.raises(ModelUnavailable):
        ask(wire, server)


@each_wire
@pytest.mark.parametrize(
    "body", [b"<html>proxy</html>", b"[]", b"null", b'{"choices": [], "content": 3, "candidates": 1}', b"{}"]
)
def test_an_answer_that_is_none_is_an_outage(wire: Wire, body: bytes) -> None:
    with serving(Answer(body)) as server, pytest.raises(ModelUnavailable):
        ask(wire, server)


@each_wire
def test_nobody_there_is_an_outage(wire: Wire) -> None:
    with serving(Answer(b"")) as server:
        choice = wire.choice(server)
    with pytest.raises(ModelUnavailable, match="does not answer"):
        make_provider_model(choice).request("", (TASK,), ())


def test_a_stream_that_ends_without_saying_why_is_an_outage() -> None:
    whole = Answer(STREAMED.reply("I dig down, and then")).encoded(is_stream=True)
    with serving(Answer(whole.partition(b"event: message_delta")[0])) as server, pytest.raises(ModelUnavailable):
        ask(STREAMED, server)


def test_a_stream_that_reports_an_overload_is_an_outage() -> None:
    overloaded = Answer(STREAMED.error(529, "Overloaded"))
    with serving(overloaded) as server, pytest.raises(ModelUnavailable, match="Overloaded"):
        ask(STREAMED, server)


def test_a_model_that_does_not_answer_in_time_is_an_outage() -> None:
    with serving(Answer(OPENAI.reply("late"), delay=1.0)) as server:
        model = make_provider_model(OPENAI.choice(server), timeout=0.2)
        with pytest.raises(ModelUnavailable, match="timed out"):
            model.request("", (TASK,), ())


@pytest.mark.parametrize("provider", ["openai-compatible", "vllm", "ollama"])
def test_a_server_of_ones_own_needs_no_key_and_gets_none_of_openai(provider: str) -> None:
    with serving(Answer(openai_reply("ok"))) as server:
        model = make_provider_model(f"{provider}:qwen3-vl:8b@http://127.0.0.1:{server.port}/v1")
        assert model.request("", (TASK,), (LOOK,)).text == "ok"
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
