"""Was a task done? Judged by what the environment shows before and after, and by nothing that an agent says.

Each category has its own verifier. They see states and events of recorded episodes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from scrubjay.memory.jsonio import Json
from scrubjay.memory.records import is_number
from scrubjay.parametric.categories import words_of

__all__ = ["Evidence", "Verdict", "Verifier", "Verifiers", "evidence_of"]

_MILESTONE = "milestone "
_SMALL = frozenset({"the", "of", "and", "to", "some", "an", "one", "two", "with", "at", "in", "from", "for", "it"})


@dataclass(frozen=True, slots=True)
class Evidence:
    """What recorded episodes of one attempt show: states before and after, events, the outcome of the last."""

    before: Json
    after: Json
    events: tuple[str, ...] = ()
    outcome: str | None = None

    @property
    def reached(self) -> tuple[str, ...]:
        """Milestones and achievements that were reached, or reached once more."""
        named = [one.removeprefix(_MILESTONE) for one in self.events if one.startswith(_MILESTONE)]
        return tuple(dict.fromkeys([*named, *_risen(self.before, self.after, "achievements")]))

    @property
    def gained(self) -> tuple[str, ...]:
        """Items of which more are carried than before."""
        return _risen(self.before, self.after, "inventory")


def _risen(before: Json, after: Json, key: str) -> tuple[str, ...]:
    then, now = before.get(key), after.get(key)
    then, now = then if isinstance(then, dict) else {}, now if isinstance(now, dict) else {}
    return tuple(name for name, count in now.items() if _count(count) > _count(then.get(name)))


def _count(value: object) -> float:
    return float(value) if is_number(value) else float(value is True)


def evidence_of(records: Sequence[Json]) -> Evidence:
    """What the records of episodes, in order, show together."""
    return Evidence(
        records[0]["start"]["state"],
        records[-1]["end"]["state"],
        tuple(event for record in records for event in record["events"]),
        records[-1]["outcome"],
    )


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether it was done; `shown` are the names that the environment counted, `why` says what is lacking."""

    ok: bool
    shown: tuple[str, ...] = ()
    why: str = ""


Verifier = Callable[[str, Evidence], Verdict]


@dataclass(frozen=True, slots=True)
class Verifiers:
    """A verifier for each category, and one for the rest."""

    by_category: Mapping[str, Verifier] = field(
        default_factory=lambda: {"craft": made, "gather": gathered, "combat": beaten}
    )
    rest: Verifier = field(default_factory=lambda: changed)

    def verify(self, category: str | None, task: str, evidence: Evidence) -> Verdict:
        """Judges an attempt at a task."""
        return self.by_category.get(category or "", self.rest)(task, evidence)


def made(task: str, evidence: Evidence) -> Verdict:
    """Craft: something that the task names was reached, or is carried now."""
    return _named(task, (*evidence.reached, *evidence.gained), evidence)


def gathered(task: str, evidence: Evidence) -> Verdict:
    """Gather: the same; what is drunk or eaten is an achievement."""
    return _named(task, (*evidence.gained, *evidence.reached), evidence)


def beaten(task: str, evidence: Evidence) -> Verdict:
    """Combat: the defeat that the task names was counted, and the agent lives."""
    if evidence.outcome == "died":
        return Verdict(False, why="the life ended")
    return _named(task, evidence.reached, evidence)


def changed(task: str, evidence: Evidence) -> Verdict:
    """The rest: it says that it succeeded, and something is otherwise than before."""
    if evidence.outcome != "success":
        return Verdict(False, why=f"its outcome is {evidence.outcome}")
    is_other = bool(evidence.reached or evidence.gained) or evidence.before.get("pos") != evidence.after.get("pos")
    return Verdict(is_other, evidence.reached, "" if is_other else "nothing changed")


def _named(task: str, names: Sequence[str], evidence: Evidence) -> Verdict:
    """True where one of the names has all its words, but the verb, in the task."""
    asked = {word for word in words_of(task) if word not in _SMALL}
    for name in names:
        words = words_of(name)
        if set(words) <= asked or (len(words) > 1 and set(words[1:]) <= asked and words[0] in _VERBS):
            return Verdict(True, (name,))
    shown = ", ".join(names) or "nothing"
    return Verdict(False, why=f"{shown} was counted, outcome {evidence.outcome}; the task is {task!r:.80}")


_VERBS = frozenset({"collect", "make", "place", "defeat", "eat", "craft", "mine", "kill", "gather", "drink", "wake"})
