"""A model that is waited for: later and later, as long as it takes, and never in silence."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat_models import Canned, Clock
from model_servers import OPENAI, Answer, Wire, each_wire, serving
from scrubjay.errors import InvalidInput, ModelUnavailable
from scrubjay.models.chat import Message, Reply
from scrubjay.models.named import make_chat_model
from scrubjay.models.waiting import Outage, Patience, Waiting

TASK = Message("user", ("Mine a diamond.",))
OUT = ModelUnavailable("no answer")
GARBLED = ModelUnavailable("nonsense", is_garbled=True)


def waiting(
    model: Canned,
    clock: Clock,
    seen: list[Outage | None] | None = None,
    tries: int | None = None,
    garbled_tries: int = 5,
) -> Waiting:
    patience = Patience(tries=tries, garbled_tries=garbled_tries, sleep=clock.sleep, now=clock.now, chance=lambda: 0.0)
    return Waiting(model, patience, None if seen is None else seen.append)


def test_an_outage_is_outlasted_and_told_every_second() -> None:
    clock, seen = Clock(), list[Outage | None]()
    model = Canned(*[OUT] * 3, Reply("back"))
    assert waiting(model, clock, seen).request("", (TASK,), ()).text == "back"
    assert sum(clock.slept) == 1 + 2 + 4
    assert [(one.attempts, one.since, one.left) for one in seen if one] == [
        (1, 0, 1), (2, 1, 2), (2, 2, 1), (3, 3, 4), (3, 4, 3), (3, 5, 2), (3, 6, 1),
    ]  # fmt: skip
    assert seen[-1] is None
    assert seen[0] is not None
    assert (seen[0].model, seen[0].reason) == ("canned", "no answer")


def test_an_answer_at_once_is_no_news() -> None:
    seen: list[Outage | None] = []
    assert waiting(Canned(Reply("here")), Clock(), seen).request("", (TASK,), ()).text == "here"
    assert seen == []


def test_an_outage_of_a_day_is_outlasted_with_a_bounded_wait() -> None:
    clock = Clock()
    waiting(Canned(*[OUT] * 300, Reply("back")), clock).request("", (TASK,), ())
    assert sum(clock.slept) > 24 * 3600
    assert max(clock.slept) <= 1


def test_the_provider_says_how_long() -> None:
    clock = Clock()
    model = Canned(ModelUnavailable("busy", retry_after=40.0), ModelUnavailable("busy", retry_after=0.5), Reply("back"))
    waiting(model, clock).request("", (TASK,), ())
    assert sum(clock.slept) == 40 + 2


def test_attempts_can_be_bounded() -> None:
    model = Canned(OUT, OUT, ModelUnavailable("the third"), Reply("too late"))
    with pytest.raises(ModelUnavailable, match="the third"):
        waiting(model, Clock(), tries=3).request("", (TASK,), ())


def test_answers_that_cannot_be_read_do_not_go_on_for_ever() -> None:
    with pytest.raises(ModelUnavailable, match="nonsense"):
        waiting(Canned(*[GARBLED] * 9), Clock(), garbled_tries=3).request("", (TASK,), ())
    model = Canned(GARBLED, GARBLED, OUT, GARBLED, GARBLED, Reply("at last"))
    assert waiting(model, Clock(), garbled_tries=3).request("", (TASK,), ()).text == "at last"


def test_what_waiting_cannot_cure_is_raised_at_once() -> None:
    clock = Clock()
    with pytest.raises(InvalidInput):
        waiting(Canned(InvalidInput("no key")), clock).request("", (TASK,), ())
    assert clock.slept == []


def test_whoever_watches_can_end_it() -> None:
    def enough(outage: Outage | None) -> None:
        if outage is not None and outage.since >= 5:
            raise KeyboardInterrupt

    clock = Clock()
    patience = Patience(sleep=clock.sleep, now=clock.now)
    with pytest.raises(KeyboardInterrupt):
        Waiting(Canned(*[OUT] * 9), patience, enough).request("", (TASK,), ())


@given(st.integers(1, 10**6), st.floats(0, 1), st.none() | st.floats(0, 10**6))
def test_a_wait_is_bounded_on_both_sides(attempts: int, chance: float, retry_after: float | None) -> None:
    wait = Patience(first=2.0, longest=60.0, chance=lambda: chance).wait(attempts, retry_after)
    assert max(1.0, retry_after or 0) <= wait <= max(60.0, retry_after or 0)


def test_ctrl_c_ends_the_waiting_at_once() -> None:
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        Waiting(Canned(OUT), Patience(first=60)).request("", (TASK,), ())
    assert time.monotonic() - began < 10


def test_ctrl_c_ends_a_request_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    pressed: list[float] = []

    with serving(Answer(OPENAI.reply("late"), delay=6.0)) as server:

        def press() -> None:
            while not server.asked:
                time.sleep(0.01)
            pressed.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=press).start()
        with pytest.raises(KeyboardInterrupt):
            make_chat_model(OPENAI.choice(server)).request("", (TASK,), ())
        assert time.monotonic() - pressed[0] < 5


@each_wire
def test_limits_faults_and_broken_answers_of_a_server_are_outlasted(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(wire.key, "k")
    clock = Clock()
    answers = [
        Answer(wire.error(429, "slow down"), 429, {"retry-after": "30"}),
        Answer(wire.error(500, "fault"), 500),
        Answer(wire.error(529, "overloaded"), 529),
        Answer(b"<html>bad gateway</html>", 502),
        Answer(wire.reply("long " * 100), cut=200),
        Answer(wire.reply("at last")),
    ]
    with serving(*answers) as server:
        patience = Patience(sleep=clock.sleep, now=clock.now, chance=lambda: 0.0)
        assert make_chat_model(wire.choice(server), patience=patience).request("", (TASK,), ()).text == "at last"
        assert len(server.asked) == 6
    assert sum(clock.slept) == 30 + 2 + 4 + 8 + 16


@contextmanager
def serving_later(port: int, seconds: float) -> Iterator[None]:
    """A server that comes up on its port after some seconds."""
    is_over = threading.Event()

    def serve() -> None:
        time.sleep(seconds)
        with serving(Answer(OPENAI.reply("back again")), port=port):
            is_over.wait()

    thread = threading.Thread(target=serve)
    thread.start()
    yield
    is_over.set()
    thread.join()


def test_a_server_that_is_away_for_a_while_is_outlasted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with serving(Answer(OPENAI.reply("unused"))) as server:
        port = server.port
    reasons: list[str] = []
    model = make_chat_model(
        OPENAI.at(port),
        patience=Patience(first=0.1, longest=0.3),
        watch=lambda outage: reasons.append("back" if outage is None else outage.reason),
    )
    with serving_later(port, 1.2):
        assert model.request("", (TASK,), ()).text == "back again"
    assert "does not answer" in reasons[0]
    assert reasons[-1] == "back"
    assert len(reasons) > 3
