"""Small language models for tests: they give what they were given, and keep what they were asked."""

from __future__ import annotations

from scrubjay.errors import RequestTooLarge, ScrubjayError
from scrubjay.models.chat import Image, Message, Reply, Tool


class Canned:
    """Gives its answers in order; an error among them is raised."""

    name = "canned"

    def __init__(self, *answers: Reply | ScrubjayError) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[Message, ...]] = []

    def request(self, system: str, messages: tuple[Message, ...], tools: tuple[Tool, ...]) -> Reply:
        self.asked.append(messages)
        answer = self.answers.pop(0)
        if isinstance(answer, ScrubjayError):
            raise answer
        return answer


class Small:
    """Takes requests of so many pictures and characters of text, and says how many it was shown."""

    name = "small"

    def __init__(self, pictures: int, characters: int = 10**9) -> None:
        self.pictures, self.characters = pictures, characters
        self.asked: list[tuple[Message, ...]] = []

    def request(self, system: str, messages: tuple[Message, ...], tools: tuple[Tool, ...]) -> Reply:
        self.asked.append(messages)
        parts = [part for m in messages for part in (*m.parts, *(p for r in m.results for p in r.parts))]
        pictures = sum(isinstance(part, Image) for part in parts)
        characters = sum(len(part) for part in parts if isinstance(part, str))
        if pictures > self.pictures or characters > self.characters:
            raise RequestTooLarge(f"{pictures} pictures, {characters} characters")
        return Reply(f"{pictures} pictures")


class Clock:
    """Time that passes only by sleeping."""

    def __init__(self) -> None:
        self.time = 100.0
        self.slept: list[float] = []

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds
