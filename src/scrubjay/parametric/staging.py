"""Staging: from the episodes of a memory, D_succ and D_cpair, each item citing the episodes that it rests on.

D_succ holds verified successes; D_cpair = {(x, t_f, t_c, c)} a failure and a later success in a matched context: the
same task, the same category, a comparable state. What yields no pair is counted by category and reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scrubjay.errors import Damaged, NotFound
from scrubjay.memory.jsonio import Json
from scrubjay.parametric.attempts import Attempt, Attempts, Lost
from scrubjay.parametric.categories import Categories, load_categories
from scrubjay.parametric.contexts import comparable, prompt_of
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
    alike: Callable[[Json, Json], bool] = comparable,
) -> Staged:
    """Stages everything in a memory. `alike` says whether two states are comparable."""
    known = categories or load_categories(memory.layout)
    found = Attempts(memory, known, verifiers).all()
    lost = Counter((one.category or OTHER, one.why) for one in found if isinstance(one, Lost))
    attempts = [one for one in found if isinstance(one, Attempt)]
    pairs, unpaired = pair_up(attempts, alike)
    return Staged(tuple(one for one in attempts if one.ok), pairs, unpaired, lost)


def pair_up(
    attempts: Iterable[Attempt], alike: Callable[[Json, Json], bool] = comparable
) -> tuple[tuple[Pair, ...], Counter[tuple[str, str]]]:
    """Every failure with the first later success that has its context and other code; and why others have none."""
    ordered = sorted(attempts, key=lambda one: one.order)
    successes: dict[tuple[str, str | None], list[Attempt]] = {}
    for one in ordered:
        if one.ok:
            successes.setdefault(one.context.key, []).append(one)
    pairs: list[Pair] = []
    unpaired: Counter[tuple[str, str]] = Counter()
    for failed in (one for one in ordered if not one.ok):
        later = [one for one in successes.get(failed.context.key, ()) if one.order > failed.order]
        found = _correction(failed, later, alike)
        if isinstance(found, Attempt):
            pairs.append(Pair(failed, found))
        else:
            unpaired[(failed.context.category or OTHER, found)] += 1
    return tuple(pairs), unpaired


def _correction(failed: Attempt, later: list[Attempt], alike: Callable[[Json, Json], bool]) -> Attempt | str:
    if not later:
        return "no later success at this task"
    comparable_ones = [one for one in later if alike(failed.context.state, one.context.state)]
    if not comparable_ones:
        return "no later success from a comparable state"
    different = [one for one in comparable_ones if one.code.strip() != failed.code.strip()]
    return different[0] if different else "the same code succeeded later"


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
