"""The adapters of a memory brought up to date: a cycle of one category, or of every one in which a skill is due.

It joins staging, trigger and cycle over one memory. What a trigger asks and how a cycle trains it does not know.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scrubjay.errors import Damaged, InvalidInput, Locked, NotFound, ReadOnly, TrainingFailed
from scrubjay.parametric.bases import base_sees, is_served, load_base
from scrubjay.parametric.categories import load_categories
from scrubjay.parametric.cycle import Check, Material, Outcome, Settings, agrees, hold_out, need_success, run_cycle
from scrubjay.parametric.scoring import Due
from scrubjay.parametric.shelf import Shelf
from scrubjay.parametric.skills import calls_of
from scrubjay.parametric.staging import examples_of, stage

if TYPE_CHECKING:
    from scrubjay.parametric.adapters import Adapters
    from scrubjay.public import Memory

__all__ = ["Update", "adapters_of", "cycle_of", "material_of", "update"]


@dataclass(frozen=True, slots=True)
class Update:
    """What became of a category with skills that were due: how its cycle went, or why there was none."""

    category: str
    due: tuple[Due, ...]
    outcome: Outcome | None
    why: str = ""


def material_of(memory: Memory, category: str, with_frames: bool) -> Material:
    """What a cycle of a category learns from: all that was staged of it, a part held out."""
    categories = load_categories(memory.layout)
    if category not in categories.names:
        raise InvalidInput(f"{category!r} is no category; there are {', '.join(categories.names)}")
    part = stage(memory, categories).of(category)
    successes, pairs, held = hold_out(*examples_of(memory, part, with_frames))
    digests = {one.name: one.digest for one in memory.procedures.list()}
    names = sorted({str(one.procedure) for one in part.successes if one.procedure in digests})
    calls = calls_of(memory)
    return Material(
        successes, pairs, held, {one: digests[one] for one in names}, {one: len(calls.get(one, ())) for one in names}
    )


def adapters_of(memory: Memory) -> Adapters:
    """The base that the memory's settings name, loaded, ready to be trained.

    Raises InvalidInput where none was chosen or it is a server's.
    """
    base = Shelf(memory.layout).base
    if base is None:
        raise InvalidInput("no base model was chosen: `scrubjay adapters base DIR BASE` chooses one")
    if is_served(base):
        raise InvalidInput(f"{base} serves adapters; a cycle needs the base's own weights: a folder, or smollm2-135m")
    from scrubjay.parametric.adapters import Adapters

    return Adapters(load_base(base))


def cycle_of(
    memory: Memory,
    category: str,
    settings: Settings | None = None,
    check: Check = agrees,
    adapters: Adapters | None = None,
) -> Outcome:
    """One cycle of a category; without `adapters` the base that was chosen is loaded.

    Raises InvalidInput for a category that is not there, ReadOnly, and what `adapters_of` and `run_cycle` raise.
    """
    if memory.read_only:
        raise ReadOnly(f"{memory.root} is open read-only; open it with Memory.open(path) to train its adapters")
    base = Shelf(memory.layout).base
    sees = adapters.backbone.sees if adapters else base is not None and not is_served(base) and base_sees(base)
    material = material_of(memory, category, with_frames=sees)
    need_success(category, material)  # before a base is loaded, which takes its time
    return run_cycle(Shelf(memory.layout), adapters or adapters_of(memory), category, material, settings, check)


def update(
    memory: Memory,
    due: Sequence[Due],
    settings: Settings | None = None,
    check: Check = agrees,
    adapters: Adapters | None = None,
) -> Iterator[Update]:
    """A cycle of every category in which a skill is due (of `due`, see `due_skills`), in the order of names.

    What can't be learned, for lack of a verified success or of numbers that are some, and an adapter in place that
    can't be read or is being trained already, costs its own category alone.
    """
    found: dict[str, list[Due]] = {}
    for one in due:
        if one.fired is not None and one.scored.skill.category is not None:
            found.setdefault(one.scored.skill.category, []).append(one)
    loaded = adapters or (adapters_of(memory) if found else None)
    for category, skills in sorted(found.items()):
        try:
            outcome = cycle_of(memory, category, settings, check, loaded)
        except (TrainingFailed, Locked, Damaged, NotFound, InvalidInput) as error:
            yield Update(category, tuple(skills), None, str(error))
        else:
            yield Update(category, tuple(skills), outcome)
