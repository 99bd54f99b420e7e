"""A model that outlasts outages: where it gives no answer, it is asked again, later and later.

A life must survive an outage of any length, so by default there is no end to it; what is waited for is told, once a
second, so that a person sees it and can end it.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass

from scrubjay.errors import ModelUnavailable
from scrubjay.models.chat import ChatModel, Message, Reply, Tool

__all__ = ["Outage", "Patience", "Waiting"]


@dataclass(frozen=True, slots=True)
class Outage:
    """What is being waited for: the model, why it gave no answer, how often it was asked, and the seconds.

    `since` is how long the outage has lasted, `left` how long until it is asked again.
    """

    model: str
    reason: str
    attempts: int
    since: float
    left: float


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait between attempts, and how many there are.

    The wait doubles from `first` to `longest` seconds, each cut by up to half at random so that many lives do not
    ask at once; where the provider says how long, that long at least. `tries` bounds the attempts (None: as long as
    it takes), `garbled_tries` those in a row whose answer could not be read, which waiting may not cure.
    """

    first: float = 1.0
    longest: float = 300.0
    tries: int | None = None
    garbled_tries: int = 5
    sleep: Callable[[float], None] = time.sleep
    now: Callable[[], float] = time.monotonic
    chance: Callable[[], float] = random.random

    def wait(self, attempts: int, retry_after: float | None) -> float:
        """Seconds until the next attempt, after so many."""
        doubled = min(self.longest, self.first * 2.0 ** min(attempts - 1, 60))
        drawn = doubled * (1.0 - self.chance() / 2)
        return drawn if retry_after is None else max(drawn, retry_after)


class Waiting:
    """A model that waits for another one.

    `watch` is told of an outage at once and then every second, and None when it is over; what it raises ends the
    waiting, and so does Ctrl-C.
    """

    def __init__(
        self, model: ChatModel, patience: Patience | None = None, watch: Callable[[Outage | None], None] | None = None
    ) -> None:
        self._model = model
        self._patience = patience or Patience()
        self._watch = watch or (lambda outage: None)

    @property
    def name(self) -> str:
        """The name of the model that is waited for."""
        return self._model.name

    def request(self, system: str, messages: tuple[Message, ...], tools: tuple[Tool, ...]) -> Reply:
        """One request that is answered in the end. Raises ModelUnavailable where the attempts are used up."""
        began, attempts, garbled = self._patience.now(), 0, 0
        while True:
            try:
                reply = self._model.request(system, messages, tools)
            except ModelUnavailable as fault:
                attempts += 1
                garbled = garbled + 1 if fault.is_garbled else 0
                if attempts == self._patience.tries or garbled >= self._patience.garbled_tries:
                    raise
                self._wait(fault, attempts, began)
                continue
            if attempts:
                self._watch(None)
            return reply

    def _wait(self, fault: ModelUnavailable, attempts: int, began: float) -> None:
        now = self._patience.now
        until = now() + self._patience.wait(attempts, fault.retry_after)
        while (left := until - now()) > 0:
            self._watch(Outage(self.name, str(fault), attempts, now() - began, left))
            self._patience.sleep(min(left, 1.0))
