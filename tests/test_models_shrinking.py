"""A request that is too large: the oldest pictures go, then what the oldest calls gave back, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat_models import Canned, Small
from model_servers import Answer, Wire, each_wire, serving
from scrubjay.errors import RequestTooLarge
from scrubjay.models.chat import Image, Message, Part, Reply, ToolCall, ToolResult
from scrubjay.models.named import make_chat_model
from scrubjay.models.shrinking import Shrinking, without_oldest_pictures, without_oldest_results


def picture(number: int) -> Image:
    return Image(f"pixels of {number}".encode(), "image/png", f"ep_{number:06}#{number}")


def turn(number: int, body: str = "seen") -> tuple[Message, Message]:
    call = ToolCall(f"c{number}", "look", {"reference": f"ep_{number:06}"})
    return (
        Message("assistant", (), (call,)),
        Message("tool", results=(ToolResult(call.id, "look", (body, picture(number))),)),
    )


def conversation(turns: int, body: str = "seen") -> tuple[Message, ...]:
    task = Message("user", ("Mine a diamond.", picture(0)))
    return (task, *(message for number in range(1, turns + 1) for message in turn(number, body)))


def parts(messages: tuple[Message, ...]) -> list[Part]:
    return [part for m in messages for part in (*m.parts, *(p for r in m.results for p in r.parts))]


def shown(messages: tuple[Message, ...]) -> list[str]:
    return [part.label for part in parts(messages) if isinstance(part, Image)]


def test_what_is_taken_is_shown_whole() -> None:
    model = Small(pictures=9)
    reply = Shrinking(model).request("", conversation(3), ())
    assert (reply.text, reply.left_out) == ("4 pictures", 0)
    assert model.asked == [conversation(3)]


def test_the_oldest_pictures_go_and_a_line_says_which() -> None:
    model = Small(pictures=3)
    reply = Shrinking(model).request("", conversation(7), ())
    assert reply.left_out == 6
    assert len(model.asked) == 3  # half, and half again: 8, 4, 2
    assert shown(model.asked[-1]) == ["ep_000006#6", "ep_000007#7"]
    text = str(parts(model.asked[-1]))
    assert "[left out to make room: picture ep_000003#3]" in text
    assert "Mine a diamond." in text


def test_then_what_the_oldest_calls_gave_back() -> None:
    model = Small(pictures=9, characters=2500)
    reply = Shrinking(model).request("", conversation(6, "a long listing of ep_000123, ep_000124#7 " * 12), ())
    last = model.asked[-1]
    assert shown(last) == ["ep_000006#6"]
    bodies = [str(message.results[0].parts) for message in last if message.results]
    assert [body.startswith("('[left out") for body in bodies] == [
        True,
        True,
        True,
        False,
        False,
        False,
    ] or reply.left_out
    assert "the result of look, which showed ep_000123, ep_000124#7" in bodies[0]
    assert "a long listing" in bodies[-1]


def test_the_newest_observation_the_task_and_the_system_prompt_never_go() -> None:
    model = Small(pictures=0)
    with pytest.raises(RequestTooLarge):
        Shrinking(model).request("You live in a world.", conversation(5, "long " * 100), ())
    last = model.asked[-1]
    assert shown(last) == ["ep_000005#5"]
    assert last[0].parts[0] == "Mine a diamond."
    assert last[-1] == conversation(5, "long " * 100)[-1]


def test_an_observation_alone_is_never_made_smaller() -> None:
    alone = (Message("user", ("Mine a diamond.", picture(1), picture(2))),)
    model = Small(pictures=1)
    with pytest.raises(RequestTooLarge):
        Shrinking(model).request("", alone, ())
    assert model.asked == [alone]


def test_a_result_shorter_than_the_line_in_its_place_stays() -> None:
    messages, gone = without_oldest_results(conversation(3, "ok"))
    assert (messages, gone) == (conversation(3, "ok"), 0)


def test_other_faults_and_the_rest_of_the_reply_pass_through() -> None:
    with pytest.raises(RequestTooLarge, match="only one"):
        Shrinking(Canned(RequestTooLarge("only one"))).request("", conversation(0), ())
    reply = Reply("ok", left_out=2)
    assert Shrinking(Canned(RequestTooLarge("first"), reply)).request("", conversation(1), ()).left_out == 3


@given(st.integers(0, 12), st.text(max_size=300))
def test_shrinking_ends_keeps_order_and_never_touches_the_last(turns: int, body: str) -> None:
    messages = conversation(turns, body)
    for step in (without_oldest_pictures, without_oldest_results):
        gone = 1
        while gone:
            before = len(shown(messages))
            smaller, gone = step(messages)
            assert len(smaller) == len(messages)
            assert smaller[-1] == messages[-1]
            assert [m.role for m in smaller] == [m.role for m in messages]
            assert [[r.id for r in m.results] for m in smaller] == [[r.id for r in m.results] for m in messages]
            assert shown(smaller) == shown(messages)[before - len(shown(smaller)) :]
            messages = smaller


@each_wire
def test_a_server_that_refuses_is_asked_with_less(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(wire.key, "k")
    too_large = Answer(wire.error(400, wire.too_large), 400)
    with serving(too_large, Answer(wire.error(413, "too large"), 413), Answer(wire.reply("ok"))) as server:
        reply = make_chat_model(wire.choice(server)).request("Be brief.", conversation(4), ())
    assert (reply.text, reply.left_out) == ("ok", 3)
    assert [len(wire.pictures(asked.body)) for asked in server.asked] == [5, 3, 2]
    assert "left out to make room" in server.asked[-1].text
    assert "Mine a diamond." in server.asked[-1].text
