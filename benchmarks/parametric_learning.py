"""What an update learns, and what it forgets: objectives, and the order craft, gather, combat.

Every function returns rows of results for one seed; a row says how it came to be. Success is judged by running what
was generated in the sandbox, on 16 tasks of each category that were held out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from parametric_tasks import CATEGORIES, Judge, Task, learnable, split
from scrubjay.parametric import ewc
from scrubjay.parametric.adapters import Adapters
from scrubjay.parametric.backbone import Backbone
from scrubjay.parametric.examples import Example, Preference
from scrubjay.parametric.generated import CUT, parse
from scrubjay.parametric.training import Recipe, margins, train

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Scale:
    """What differs between the small base and the pretrained one. `full_rate` is that of all weights at once."""

    base: str
    recipe: Recipe
    full_rate: float
    tokens: int = 80
    held_out: int = 16
    learned: tuple[int, int] = (48, 96)  # successes and pairs, of a category
    asked_at_once: int = 16

    def learnable(self, found: list[Task]) -> tuple[list[Example], list[Preference]]:
        """What is learned of these tasks."""
        successes, pairs = learnable(found)
        return successes[: self.learned[0]], pairs[: self.learned[1]]


@dataclass(frozen=True, slots=True)
class Bench:
    """A base that can be made anew, and a judge."""

    fresh: Callable[[], Backbone]
    scale: Scale
    judge: Judge


def asked(bench: Bench, backbone: Backbone, found: list[Task]) -> Json:
    """How many held-out tasks: written in the form that is read, done in the sandbox, the very text of the success."""
    scale = bench.scale
    texts, tokens, seconds = [], 0, 0.0
    for at in range(0, len(found), scale.asked_at_once):
        part = backbone.generate([task.prompt for task in found[at : at + scale.asked_at_once]], scale.tokens)
        texts += part
    parsed = [parse(one) for one in texts]
    tokens, seconds = sum(one.new_tokens for one in texts), sum(one.seconds for one in texts)
    done = [
        one.function is not None and bench.judge.does(task, one.source, one.function)
        for task, one in zip(found, parsed, strict=True)
    ]
    return {
        "n": len(found),
        "form": sum(one.failure is None for one in parsed),
        "cut": sum(one.failure == CUT for one in parsed),
        "done": sum(done),
        "exact": sum(one.text.strip() == task.good for one, task in zip(texts, found, strict=True)),
        "new_tokens": tokens,
        "seconds": round(seconds, 3),
        "first": texts[0].text[:200],
    }


def held_margin(backbone: Backbone, found: list[Task], before: list[float]) -> float:
    """Mean log-ratio of held-out corrections over held-out failures, against what it was `before`."""
    now = margins(backbone, learnable(found)[1][::2])
    return sum(a - b for a, b in zip(now, before, strict=True)) / len(now)


def _weighed(recipe: Recipe, cloning: float, preferring: float, seed: int) -> Recipe:
    return Recipe(recipe.steps, recipe.rate, recipe.batch, cloning, preferring, recipe.beta, seed)


OBJECTIVES = {"BC": (1.0, 0.0), "DPO": (0.0, 1.0), "BC + DPO": (1.0, 1.0)}


def objectives(bench: Bench, seed: int, chosen: tuple[str, ...] = tuple(OBJECTIVES)) -> Iterator[Json]:
    """One category, craft, from a fresh adapter, by each objective."""
    learned, held = split("craft", seed)
    held = held[: bench.scale.held_out]
    successes, pairs = bench.scale.learnable(learned)
    for name in chosen:
        adapters = Adapters(bench.fresh())
        adapters.add("craft", seed)
        with adapters.training("craft") as weights:
            before = margins(adapters.backbone, learnable(held)[1][::2])
            trained = train(
                adapters.backbone, weights, successes, pairs, _weighed(bench.scale.recipe, *OBJECTIVES[name], seed)
            )
            yield {
                "part": "objectives", "base": bench.scale.base, "seed": seed, "objective": name,
                **_told(trained), "margin_held_out": round(held_margin(adapters.backbone, held, before), 2),
                **asked(bench, adapters.backbone, held),
            }  # fmt: skip


def control(bench: Bench, seed: int) -> Iterator[Json]:
    """As objectives, but the adapter writes the form already: what does a second cycle do to it, at which rate?

    The first cycle clones the successes of half of the tasks; the second has the other half.
    """
    learned, held = split("craft", seed)
    half = len(learned) // 2
    held = held[: bench.scale.held_out]
    rate = bench.scale.recipe.rate
    for name, used in (("none", rate), ("DPO", rate), ("DPO", rate / 6), ("BC + DPO", rate)):
        adapters = Adapters(bench.fresh())
        adapters.add("craft", seed)
        backbone = adapters.backbone
        with adapters.training("craft") as weights:
            train(backbone, weights, *learnable(learned[:half]), _weighed(bench.scale.recipe, 1.0, 0.0, seed))
            before = margins(backbone, learnable(held)[1][::2])
            told: Json = {}
            if name in OBJECTIVES:
                recipe = replace(_weighed(bench.scale.recipe, *OBJECTIVES[name], seed + 100), rate=used, steps=60)
                told = _told(train(backbone, weights, *learnable(learned[half:]), recipe))
            yield {
                "part": "control", "base": bench.scale.base, "seed": seed, "objective": name, "rate": used, **told,
                "margin_held_out": round(held_margin(backbone, held, before), 2), **asked(bench, backbone, held),
            }  # fmt: skip


# --- forgetting


def retention(bench: Bench, seed: int, kind: str, strength: float = 0.0) -> Iterator[Json]:
    """Craft, then gather, then combat, by one kind of learner; each is asked when learned, and all at the end."""
    parts = {category: split(category, seed) for category in CATEGORIES}
    learner = _LEARNERS[kind](bench.fresh(), seed, bench.scale, strength)
    for number, category in enumerate(CATEGORIES):
        told = learner.learn(category, *bench.scale.learnable(parts[category][0]))
        of_all = number + 1 == len(CATEGORIES)
        for asked_of in CATEGORIES if of_all else [category]:
            with learner.ready(asked_of) as backbone:
                found = asked(bench, backbone, parts[asked_of][1][: bench.scale.held_out])
            yield {
                "part": "retention", "base": bench.scale.base, "seed": seed, "kind": kind, "strength": strength,
                "after": category, "asked": asked_of, **told, **found,
            }  # fmt: skip


class Isolated:
    """An adapter for each category: PEAM."""

    def __init__(self, backbone: Backbone, seed: int, scale: Scale, strength: float) -> None:
        self.adapters, self.seed, self.scale, self.strength = Adapters(backbone), seed, scale, strength

    def name(self, category: str) -> str:
        """The adapter that a category is learned in."""
        return category

    def learn(self, category: str, successes: list[Example], pairs: list[Preference]) -> Json:
        """One cycle."""
        name = self.name(category)
        if name not in self.adapters.names:
            self.adapters.add(name, self.seed)
        with self.adapters.training(name) as weights:
            recipe = _weighed(self.scale.recipe, 1.0, 1.0, self.seed)
            trained = train(self.adapters.backbone, weights, successes, pairs, recipe, self.penalty(weights))
            self.after(weights, successes)
        return _told(trained)

    def penalty(self, weights: list[Any]) -> Callable[[], Any] | None:
        """What is added to the loss."""
        return None

    def after(self, weights: list[Any], successes: list[Example]) -> None:
        """What is kept of a category for the next."""

    def ready(self, category: str) -> Any:
        """A `with` in which the base is as this learner has it for a category."""
        return _Ready(self.adapters.use(self.name(category)), self.adapters)


class Shared(Isolated):
    """One adapter for all categories."""

    def name(self, category: str) -> str:
        """Always the same."""
        return "shared"


class Ewc(Shared):
    """One adapter, held where it mattered for what was learned before."""

    def __init__(self, backbone: Backbone, seed: int, scale: Scale, strength: float) -> None:
        super().__init__(backbone, seed, scale, strength)
        self._anchors: list[ewc.Anchor] = []

    def penalty(self, weights: list[Any]) -> Callable[[], Any] | None:
        """The pull of all earlier categories."""
        return ewc.pull(weights, self._anchors, self.strength) if self._anchors else None

    def after(self, weights: list[Any], successes: list[Example]) -> None:
        """An anchor here."""
        self._anchors.append(ewc.anchor(self.adapters.backbone, weights, successes[:32]))


class Naive:
    """All weights of the base, without an adapter."""

    def __init__(self, backbone: Backbone, seed: int, scale: Scale, strength: float) -> None:
        self._backbone, self._seed, self._scale = backbone, seed, scale

    def learn(self, category: str, successes: list[Example], pairs: list[Preference]) -> Json:
        """One cycle."""
        weights = list(self._backbone.model.parameters())
        self._backbone.model.requires_grad_(True)
        old = self._scale.recipe
        recipe = Recipe(old.steps, self._scale.full_rate, old.batch, 1.0, 1.0, old.beta, self._seed)
        trained = train(self._backbone, weights, successes, pairs, recipe)
        self._backbone.model.requires_grad_(False)
        return _told(trained)

    def ready(self, category: str) -> Any:
        """The base as it is."""
        return _Ready(None, self)

    @property
    def backbone(self) -> Backbone:
        """The base."""
        return self._backbone


class _Ready:
    def __init__(self, inner: Any, owner: Any) -> None:
        self._inner, self._owner = inner, owner

    def __enter__(self) -> Backbone:
        if self._inner is not None:
            self._inner.__enter__()
        found: Backbone = self._owner.backbone
        return found

    def __exit__(self, *error: Any) -> None:
        if self._inner is not None:
            self._inner.__exit__(*error)


_LEARNERS: dict[str, Any] = {"isolated": Isolated, "shared": Shared, "EWC": Ewc, "naive": Naive}
STRENGTHS = (10.0, 1_000.0, 10_000.0, 100_000.0)


def _told(trained: Any) -> Json:
    first, last = trained.losses[0], trained.losses[-1]
    return {
        "first_loss": [first.total, first.cloning, first.preferring],
        "last_loss": [last.total, last.cloning, last.preferring],
        "margin": None if trained.margin is None else round(trained.margin, 2),
        "train_cpu_s": round(trained.cpu_seconds, 1),
    }
