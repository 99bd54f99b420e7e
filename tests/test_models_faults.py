"""What goes wrong with a request is one of three: an outage, too large, or for a person."""

from __future__ import annotations

from typing import Any

import pytest

from model_servers import ANTHROPIC, GOOGLE, OPENAI, STREAMED, TASK, Answer, Wire, ask, each_wire, serving, set_keys
from scrubjay.errors import InvalidInput, ModelUnavailable, RequestTooLarge
from scrubjay.models.providers import make_provider_model


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    set_keys(monkeypatch)


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


def test_google_says_in_the_body_how_long_to_wait() -> None:
    body = GOOGLE.error(429, "quota")
    body["error"]["details"] = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "14s"}]
    with serving(Answer(body, 429)) as server, pytest.raises(ModelUnavailable) as caught:
        ask(GOOGLE, server)
    assert caught.value.retry_after == 14


@pytest.mark.parametrize(
    ("wire", "status", "body"),
    [
        (ANTHROPIC, 400, ANTHROPIC.error(400, "Your credit balance is too low to access the Anthropic API.")),
        (OPENAI, 429, {"error": {"message": "You exceeded your quota", "code": "insufficient_quota", "type": "x"}}),
        (OPENAI, 402, OPENAI.error(402, "Insufficient credits")),
    ],
)
def test_credit_that_is_used_up_is_waited_for_since_a_person_can_add_some(wire: Wire, status: int, body: Any) -> None:
    with serving(Answer(body, status)) as server, pytest.raises(ModelUnavailable, match="no quota or credit left"):
        ask(wire, server)


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
