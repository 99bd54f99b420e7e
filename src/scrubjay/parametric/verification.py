"""Was a task done? Judged by what the environment shows before and after, and by nothing that an agent says.

Each category has its own verifier. They see states and events of recorded episodes.
"""

from __future__ import annotations

import re
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
    """Craft: what the task names was made or placed, or more of it is carried now; not where it is to be placed."""
    is_placed = any(word in _PLACING for word in _Asked(task).verbs)
    return _named(task, evidence, _CRAFT, () if is_placed else evidence.gained)


def gathered(task: str, evidence: Evidence) -> Verdict:
    """Gather: more of what the task names is carried; what is drunk or eaten is an achievement."""
    return _named(task, evidence, _GATHER, evidence.gained)


def beaten(task: str, evidence: Evidence) -> Verdict:
    """Combat: the defeat that the task names was counted, and the agent lives."""
    if evidence.outcome == "died":
        return Verdict(False, why="the life ended")
    return _named(task, evidence, _COMBAT)


def changed(task: str, evidence: Evidence) -> Verdict:
    """The rest: it says that it succeeded, and something is otherwise than before."""
    if evidence.outcome != "success":
        return Verdict(False, why=f"its outcome is {evidence.outcome}")
    is_other = bool(evidence.reached or evidence.gained) or evidence.before.get("pos") != evidence.after.get("pos")
    return Verdict(is_other, evidence.reached, "" if is_other else "nothing changed")


_CRAFT = frozenset({"make", "craft", "build", "smelt", "brew", "place"})
_GATHER = frozenset({"collect", "gather", "mine", "chop", "dig", "harvest", "drink", "eat"})
_COMBAT = frozenset({"defeat", "kill", "fight", "attack", "hunt"})
_VERBS = _CRAFT | _GATHER | _COMBAT | {"wake"}
_PLACING = frozenset({"place", "put", "plant"})
# What follows is where, how or why: "make a pickaxe from wood" asks for no wood.
_AROUND = frozenset(
    {"to", "for", "so", "until", "from", "with", "using", "near", "by", "at", "in", "on", "before", "after", "because",
     "while", "beside", "next", "into", "onto", "out"}
)  # fmt: skip
_AFTER = frozenset({"and", "or", "then", "now", "again", "first", "more", "here", "there", "nearby", "please"})


class _Asked:
    """What a task asks for: of each of its clauses the words from the first verb on, to where or why it is."""

    def __init__(self, task: str) -> None:
        self._clauses: list[list[str]] = []
        for clause in re.split(r"[^\w\s'-]+", task):
            words = [word for word in words_of(clause) if word not in _SMALL - _AROUND - _AFTER]
            begin = next((at for at, word in enumerate(words) if word in _VERBS | _PLACING), 0)
            end = next((at for at, word in enumerate(words) if at > begin and word in _AROUND), len(words))
            self._clauses.append(words[begin:end])

    @property
    def verbs(self) -> set[str]:
        """What is to be done, one of each clause."""
        return {words[0] for words in self._clauses if words}

    def has(self, thing: Sequence[str]) -> bool:
        """True where all words of a thing are asked for, and its last one is the thing itself: the stone of a stone
        pickaxe is none."""
        return any(
            set(thing) <= set(words) and (list(thing) == words[:1] or _ends(words, thing[-1]))
            for words in self._clauses
        )


def _ends(words: list[str], last: str) -> bool:
    return any(
        word == last and (at + 1 == len(words) or words[at + 1] in _AFTER or words[at + 1] in _VERBS)
        for at, word in enumerate(words)
    )


def _named(task: str, evidence: Evidence, verbs: frozenset[str], gained: Sequence[str] = ()) -> Verdict:
    """True where the task asks for one of the things that were gained, or reached by one of these verbs."""
    asked = _Asked(task)
    for name in (*gained, *evidence.reached):
        words = words_of(name)
        if len(words) > 1 and words[0] in _VERBS and name not in gained:
            if words[0] not in verbs:
                continue
            words = words[1:]
        if words and asked.has(words):
            return Verdict(True, (name,))
    shown = ", ".join((*evidence.reached, *evidence.gained)) or "nothing"
    return Verdict(False, why=f"{shown:.200} was counted, outcome {evidence.outcome}; the task is {task!r:.80}")
