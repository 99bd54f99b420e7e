"""Staging: from the episodes of a memory, D_succ and D_cpair, each item citing the episodes that it rests on.

D_succ holds verified successes; D_cpair = {(x, t_f, t_c, c)} a failure and a later success in a matched context: the
same task, the same category, a comparable state. What yields no pair is counted by category and reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scrubjay.errors import Damaged, NotFound
from scrubjay.parametric.attempts import Attempt, Attempts, Lost
from scrubjay.parametric.categories import Categories, load_categories
from scrubjay.parametric.contexts import facts_of, overlap, prompt_of
from scrubjay.parametric.examples import Example, Preference, Prompt
from scrubjay.parametric.verification import Verifiers

if TYPE_CHECKING:
    from scrubjay.public import Memory

__all__ = ["Pair", "Staged", "examples_of", "pair_up", "stage"]

OTHER = "other"


@dataclass(frozen=True, slots=True)
class Pair:
    """An element of D_cpair: a failure, and the first later success that corrects it."""

    failed: Attempt
    corrected: Attempt


@dataclass(frozen=True, slots=True)
class Staged:
    """What there is to learn from. `unpaired` counts failures without a pair, `lost` attempts that can't be used.

    Both by category (`other` for what is of none) and reason.
    """

    successes: tuple[Attempt, ...]
    pairs: tuple[Pair, ...]
    unpaired: Counter[tuple[str, str]]
    lost: Counter[tuple[str, str]]

    def of(self, category: str) -> Staged:
        """The part of one category."""
        return Staged(
            tuple(one for one in self.successes if one.context.category == category),
            tuple(one for one in self.pairs if one.failed.context.category == category),
            Counter({key: n for key, n in self.unpaired.items() if key[0] == category}),
            Counter({key: n for key, n in self.lost.items() if key[0] == category}),
        )


def stage(
    memory: Memory,
    categories: Categories | None = None,
    verifiers: Verifiers | None = None,
) -> Staged:
    """Stages everything in a memory."""
    known = categories or load_categories(memory.layout)
    found = Attempts(memory, known, verifiers).all()
    lost = Counter((one.category or OTHER, one.why) for one in found if isinstance(one, Lost))
    attempts = [one for one in found if isinstance(one, Attempt)]
    pairs, unpaired = pair_up(attempts)
    return Staged(tuple(one for one in attempts if one.ok), pairs, unpaired, lost)


def pair_up(attempts: Iterable[Attempt]) -> tuple[tuple[Pair, ...], Counter[tuple[str, str]]]:
    """Every failure with the first later success that has its context and other code; and why others have none."""
    ordered = sorted(attempts, key=lambda one: one.order)
    successes: dict[tuple[str, str | None], _Corrections] = {}
    pairs: list[Pair] = []
    unpaired: Counter[tuple[str, str]] = Counter()
    for one in reversed(ordered):
        known = successes.setdefault(one.context.key, _Corrections())
        if one.ok:
            known.add(one)
            continue
        found = known.of(one)
        if isinstance(found, Attempt):
            pairs.append(Pair(one, found))
        else:
            unpaired[(one.context.category or OTHER, found)] += 1
    return tuple(reversed(pairs)), unpaired


class _Corrections:
    """The successes in one context, added from the last to the first: of those that show the same and have the same
    code the first alone can be a correction. Which states are comparable is found once for each two."""

    def __init__(self) -> None:
        self._first: dict[frozenset[str], dict[str, Attempt]] = {}
        self._near: dict[frozenset[str], list[dict[str, Attempt]]] = {}

    def add(self, success: Attempt) -> None:
        """One that is earlier than those before."""
        facts = facts_of(success.context.state)
        if facts not in self._first:
            self._first[facts] = {}
            for asked, near in self._near.items():
                if overlap(asked, facts):
                    near.append(self._first[facts])
        self._first[facts][success.code.strip()] = success

    def of(self, failed: Attempt) -> Attempt | str:
        """The first success of what was added, or why there is none."""
        if not self._first:
            return "no later success at this task"
        facts = facts_of(failed.context.state)
        if facts not in self._near:
            self._near[facts] = [by_code for shown, by_code in self._first.items() if overlap(facts, shown)]
        if not self._near[facts]:
            return "no later success from a comparable state"
        code = failed.code.strip()
        other = [one for by_code in self._near[facts] for text, one in by_code.items() if text != code]
        return min(other, key=lambda one: one.order, default="the same code succeeded later")


def examples_of(memory: Memory, staged: Staged, with_frames: bool) -> tuple[list[Example], list[Preference]]:
    """What an update learns from, as text; `with_frames` reads the frame that each attempt began with."""

    def prompt(one: Attempt) -> Prompt:
        image = _frame(memory, one.episodes[0]) if with_frames else None
        return prompt_of(one.context.task, one.context.state, image)

    successes = [Example(prompt(one), one.code.strip(), one.episodes) for one in staged.successes]
    pairs = [
        Preference(
            prompt(one.failed),
            one.corrected.code.strip(),
            one.failed.code.strip(),
            one.corrected.episodes,
            one.failed.episodes,
        )
        for one in staged.pairs
    ]
    return successes, pairs


def _frame(memory: Memory, episode: str) -> bytes | None:
    try:
        return memory.episode(episode).start_frame().data
    except (NotFound, Damaged):
        return None
