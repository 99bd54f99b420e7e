"""One consolidation cycle: the adapter of one category is updated from what was staged, verified, kept or rolled back.

Other adapters and the base are not touched. Its folder tells all of it: data by citation, configuration, losses,
margins, result.
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from scrubjay.errors import ScrubjayError, TrainingFailed
from scrubjay.memory.jsonio import Json
from scrubjay.parametric.adapters import Adapters, digest_of_weights
from scrubjay.parametric.backbone import Backbone
from scrubjay.parametric.examples import Example, Preference
from scrubjay.parametric.generated import Parsed, parse
from scrubjay.parametric.shelf import CycleFolder, Shelf
from scrubjay.parametric.training import Loss, Recipe, Trained, train

__all__ = ["Check", "Material", "Outcome", "Settings", "agrees", "hold_out", "need_success", "run_cycle"]

Check = Callable[[Example, Parsed], bool]
_MOST_HELD = 32  # contexts
_LONGEST = 1024  # tokens of a failed trajectory


@dataclass(frozen=True, slots=True)
class Material:
    """What a cycle learns from and is verified on.

    `skills` names the procedures that it internalises with their digests, `executions` how often each was called.
    """

    successes: Sequence[Example]
    pairs: Sequence[Preference]
    held_out: Sequence[Example]
    skills: dict[str, str] = field(default_factory=dict)
    executions: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Settings:
    """How a cycle trains and asks. `max_new_tokens` bounds what the fast policy writes when it is verified."""

    recipe: Recipe = field(default_factory=Recipe)
    max_new_tokens: int = 160
    asked_at_once: int = 8


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a cycle went. `before` and `after` are how many of the held-out successes the verifier accepted.

    `kept` is False where the update made that fewer, or where it is none: what was in place stays.
    """

    folder: CycleFolder
    kept: bool
    before: int
    after: int
    n: int
    trained: Trained


def hold_out(
    successes: Sequence[Example], pairs: Sequence[Preference], one_in: int = 4
) -> tuple[list[Example], list[Preference], list[Example]]:
    """Sets apart every fourth context, with its pairs.

    Fewer than `one_in` contexts: all are learned, and each is verified.
    """
    prompts = list(dict.fromkeys(one.prompt.text for one in successes))
    if len(prompts) < one_in:
        return list(successes), list(pairs), list({one.prompt.text: one for one in successes}.values())
    chosen = prompts[one_in - 1 :: one_in]
    apart = set(chosen[:: math.ceil(len(chosen) / _MOST_HELD)])
    held = {one.prompt.text: one for one in successes if one.prompt.text in apart}
    learned = [one for one in successes if one.prompt.text not in apart]
    unseen = {one.episodes for one in successes if one.prompt.text in apart and one.episodes}
    kept = [one for one in pairs if one.prompt.text not in apart and one.chosen_episodes not in unseen]
    return learned, kept, list(held.values())


def agrees(example: Example, parsed: Parsed) -> bool:
    """The verifier where no environment is at hand: the program of the recorded success, names of functions aside."""
    return parsed.failure is None and _program(parsed.source) == _program(example.completion)


def _program(source: str) -> str:
    try:
        tree = ast.parse(source)
        names = {one.name: f"f{i}" for i, one in enumerate(n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef))}
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                node.name = names[node.name]
            elif isinstance(node, ast.Name):
                node.id = names.get(node.id, node.id)
        return ast.dump(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return source


def run_cycle(
    shelf: Shelf,
    adapters: Adapters,
    category: str,
    material: Material,
    settings: Settings | None = None,
    check: Check = agrees,
) -> Outcome:
    """Runs a cycle; what it returns is on disk.

    Raises TrainingFailed (nothing to learn from, a loss that is no number), InvalidInput (an adapter of another base),
    Damaged, Locked. Whatever is raised, and wherever a kill comes, the adapter that was in place stays.
    """
    chosen = settings or Settings()
    need_success(category, material)
    with shelf.cycle(category) as folder:
        try:
            current = shelf.current(category)
            fitting = _fitting(adapters.backbone, material, chosen.max_new_tokens)
            _write_plan(folder, adapters, current, material, fitting, chosen)
            if not fitting.successes:
                raise TrainingFailed(
                    f"{category}: each of {len(material.successes)} successes is longer than {chosen.max_new_tokens} "
                    "tokens, more than the fast policy writes: procedures that call others are shorter"
                )
            if current is not None:
                adapters.load(category, current.adapter)
            elif category not in adapters.names:
                adapters.add(category, chosen.recipe.seed)
            return _update(shelf, adapters, folder, fitting, chosen, check)
        except (ScrubjayError, KeyboardInterrupt) as error:
            why = "stopped" if isinstance(error, KeyboardInterrupt) else f"{type(error).__name__}: {error}"
            with contextlib.suppress(ScrubjayError):  # a full disk takes this neither
                folder.write("result", {"kept": False, "error": why})
            raise


def _fitting(backbone: Backbone, material: Material, most: int) -> Material:
    """What the fast policy can write whole: more than `most` tokens of a completion are cut, and so never verified."""

    def fits(text: str, longest: int = most) -> bool:
        return backbone.count(text) < longest

    successes = [one for one in material.successes if fits(one.completion)]
    held = [one for one in material.held_out if fits(one.completion)]
    pairs = [one for one in material.pairs if fits(one.chosen) and fits(one.rejected, _LONGEST)]
    return replace(material, successes=successes, pairs=pairs, held_out=held or successes)


def need_success(category: str, material: Material) -> None:
    """Raises TrainingFailed where there is nothing to learn from."""
    if not material.successes:
        raise TrainingFailed(f"{category}: no verified success to learn from; let the slow model act first")


def _update(
    shelf: Shelf, adapters: Adapters, folder: CycleFolder, material: Material, settings: Settings, check: Check
) -> Outcome:
    category, n = folder.category, len(material.held_out)
    with adapters.training(category) as weights:
        old = adapters.snapshot(category)
        try:
            before = _accepted(adapters, material.held_out, settings, check)
            trained = train(adapters.backbone, weights, material.successes, material.pairs, settings.recipe)
            after = _accepted(adapters, material.held_out, settings, check)
            folder.write_rows("losses", (_row(i, loss) for i, loss in enumerate(trained.losses, 1)))
            kept = after >= max(before, 1)
            if kept:
                adapters.save(category, folder.adapter)
            digest = digest_of_weights(folder.adapter) if kept else None
            folder.write("result", _result(kept, before, after, n, trained, digest))
            if kept:
                shelf.put_in_place(folder)
            else:
                adapters.restore(category, old)
        except BaseException:
            adapters.restore(category, old)
            raise
    return Outcome(folder, kept, before, after, n, trained)


def _accepted(adapters: Adapters, held: Sequence[Example], settings: Settings, check: Check) -> int:
    accepted = 0
    for at in range(0, len(held), settings.asked_at_once):
        part = held[at : at + settings.asked_at_once]
        texts = adapters.backbone.generate([one.prompt for one in part], settings.max_new_tokens)
        accepted += sum(check(one, parse(text)) for one, text in zip(part, texts, strict=True))
    return accepted


# --- what is written of it


def _write_plan(
    folder: CycleFolder,
    adapters: Adapters,
    current: CycleFolder | None,
    material: Material,
    fitting: Material,
    settings: Settings,
) -> None:
    rows: list[Json] = [_cited("success", one.prompt.text, succeeded=one.episodes) for one in fitting.successes]
    rows += [_cited("held out", one.prompt.text, succeeded=one.episodes) for one in fitting.held_out]
    for pair in fitting.pairs:
        rows.append(_cited("pair", pair.prompt.text, failed=pair.rejected_episodes, corrected=pair.chosen_episodes))
    learned = {id(one) for one in (*fitting.successes, *fitting.held_out)}
    all_of_it = {id(one): one for one in (*material.successes, *material.held_out)}
    long = [one for key, one in all_of_it.items() if key not in learned]
    rows += [_cited("too long", one.prompt.text, succeeded=one.episodes) for one in long]
    folder.write_rows("data", rows)
    folder.write(
        "configuration",
        {
            "base": adapters.backbone.name,
            "fingerprint": adapters.backbone.fingerprint,
            "from_cycle": None if current is None else current.number,
            "shape": dataclasses.asdict(adapters.shape),
            "recipe": dataclasses.asdict(settings.recipe),
            "max_new_tokens": settings.max_new_tokens,
            "skills": material.skills,
            "executions": material.executions,
        },
    )


def _cited(kind: str, prompt: str, **episodes: tuple[str, ...]) -> Json:
    """A row names its episodes; the code and the frames lie there, and are not said again."""
    return {"kind": kind, "task": prompt.splitlines()[0], **{key: list(value) for key, value in episodes.items()}}


def _row(step: int, loss: Loss) -> Json:
    return {"step": step, "total": loss.total, "cloning": loss.cloning, "preferring": loss.preferring}


def _result(kept: bool, before: int, after: int, n: int, trained: Trained, digest: str | None) -> Json:
    return {
        "kept": kept,
        "verified_before": before,
        "verified_after": after,
        "held_out": n,
        "margin": trained.margin,
        "cpu_seconds": round(trained.cpu_seconds, 2),
        "weights_sha256": digest,
    }
