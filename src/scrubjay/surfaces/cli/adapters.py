"""`scrubjay adapters`: the parametric tier of a memory: what there is to learn from, what is worth it, cycles."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrubjay.memory.jsonio import Json
    from scrubjay.parametric.cycle import Outcome, Settings
    from scrubjay.parametric.scoring import Due
    from scrubjay.parametric.shelf import CycleFolder, Shelf
    from scrubjay.parametric.worthiness import Weights
    from scrubjay.public import Memory

SUMMARY = "The parametric tier: adapters trained from a memory's episodes, one per skill category."

EXAMPLES = """\
examples:
  scrubjay adapters stage runs/first                  verified successes and pairs, by category; what yields none
  scrubjay adapters score runs/first                  procedures by worthiness, with its terms; which are due
  scrubjay adapters weights runs/first --size 10      a grid search for the weights of worthiness, printed
  scrubjay adapters base runs/first smollm2-135m      the base model: a folder, smollm2-135m, or http://… of a server
  scrubjay adapters update runs/first                 a cycle of every category in which a skill is due; else nothing
  scrubjay adapters cycle runs/first craft            train, verify, and keep or roll back, due or not
  scrubjay adapters publish runs/first http://…       tell a vLLM server of the adapters in place
  scrubjay adapters list runs/first                   adapters in place, and all cycles
  scrubjay adapters use runs/first                    turns on the fast path in each life, latency, tokens

A base needs `pip install 'scrubjay[parametric]'`. Whoever lives in the memory with --method peam or mfm-peam uses the
adapters in place.
"""

_ACTIONS = ("stage", "score", "weights", "base", "update", "cycle", "publish", "list", "use")


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the actions and their options."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    made = {name: actions.add_parser(name, help=_HELP[name]) for name in _ACTIONS}
    for one in made.values():
        one.add_argument("dir", metavar="DIR", help="folder of the memory")
        one.add_argument("--json", action="store_true", help="a JSON object a line")
    made["base"].add_argument("base", metavar="BASE", nargs="?", help="what to choose; without it, what is chosen")
    made["publish"].add_argument("server", metavar="SERVER", nargs="?", help="its address; without it, the base chosen")
    for name in ("score", "update"):
        made[name].add_argument(
            "--q", type=float, default=0.5, metavar="Q", help="the upper share that is worth it (0.5)"
        )
        made[name].add_argument(
            "--trigger",
            choices=("stc", "sequential"),
            default="stc",
            help="the rule by which a skill is due: the paper's (the default), or the corrected one",
        )
    made["weights"].add_argument("--size", type=int, default=10, metavar="N", help="how many skills are chosen (10)")
    made["cycle"].add_argument("category", metavar="CATEGORY", help="craft, gather, combat, or one of categories.json")
    for name in ("update", "cycle"):
        _add_recipe(made[name])


def _add_recipe(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--steps", type=int, default=60, metavar="N", help="training steps (default 60)")
    parser.add_argument("--rate", type=float, default=1e-3, metavar="R", help="learning rate (default 0.001)")
    parser.add_argument("--batch", type=int, default=4, metavar="N", help="successes, and pairs, in a step (default 4)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="which chances (default 0)")


_HELP = {
    "stage": "what there is to learn from",
    "score": "worthiness of procedures, and which are due for an update",
    "weights": "search the weights of worthiness",
    "base": "choose the base model",
    "update": "update the adapters in whose category a skill is due",
    "cycle": "update the adapter of a category, due or not",
    "publish": "tell a server of the adapters in place",
    "list": "adapters and cycles",
    "use": "turns on the fast path",
}


def run(arguments: argparse.Namespace) -> int:
    """Carries out one action and prints what it says; 1 where a cycle was rolled back or could not be."""
    from scrubjay.public import Memory

    if not 0 < getattr(arguments, "q", 1) <= 1:
        from scrubjay.errors import InvalidInput

        raise InvalidInput(f"--q: a share above 0, at most 1, was expected, found {arguments.q}")
    changes = arguments.action in ("update", "cycle") or (arguments.action == "base" and arguments.base is not None)
    with Memory.open(arguments.dir, read_only=not changes) as memory:
        return _RUN[arguments.action](memory, arguments)


# --- what there is


def _stage(memory: Memory, arguments: argparse.Namespace) -> int:
    from scrubjay.parametric.staging import stage

    staged = stage(memory)
    if arguments.json:
        for one in staged.successes:
            _json({"kind": "success", "category": one.context.category, "task": one.context.task,
                   "episodes": list(one.episodes), "procedure": one.procedure})  # fmt: skip
        for pair in staged.pairs:
            _json({"kind": "pair", "category": pair.failed.context.category, "task": pair.failed.context.task,
                   "failed": list(pair.failed.episodes), "corrected": list(pair.corrected.episodes)})  # fmt: skip
    names = [one.context.category for one in staged.successes] + [p.failed.context.category for p in staged.pairs]
    for name in sorted({str(one) for one in names} | {key[0] for key in (*staged.unpaired, *staged.lost)}):
        part = staged.of(name)
        why = {**part.unpaired, **part.lost}
        if arguments.json:
            _json({"kind": "count", "category": name, "successes": len(part.successes), "pairs": len(part.pairs),
                   "no_pair": {reason: n for (_, reason), n in why.items()}})  # fmt: skip
        else:
            told = "".join(f"\n    {n} gave no pair: {reason}" for (_, reason), n in sorted(why.items()))
            print(f"{name}: {len(part.successes)} verified successes, {len(part.pairs)} pairs{told}")
    if not (staged.successes or staged.unpaired or staged.lost):
        print("(no attempt at a task: no procedure was called, no plan of atoms was made)", file=sys.stderr)
    return 0


def _score(memory: Memory, arguments: argparse.Namespace) -> int:
    found = _due(memory, arguments)
    for one in found:
        if arguments.json:
            _json(one.to_json())
        else:
            print(one)
    if not found:
        print("(no procedure)", file=sys.stderr)
    return 0


def _due(memory: Memory, arguments: argparse.Namespace) -> list[Due]:
    from scrubjay.parametric.scoring import due_skills
    from scrubjay.parametric.trigger import TRIGGERS

    return due_skills(memory, TRIGGERS[arguments.trigger](), q=arguments.q)


def _weights(memory: Memory, arguments: argparse.Namespace) -> int:
    from scrubjay.parametric.categories import load_categories
    from scrubjay.parametric.skills import skills_of
    from scrubjay.parametric.weighing import search

    found = search(skills_of(memory, load_categories(memory.layout)), arguments.size)
    if not arguments.json:
        print("cost  stability  redundancy  forgetting  characters saved")
    for one in found[:10]:
        if arguments.json:
            _json({**_weights_json(one.weights), "saved": round(one.value, 1)})
        else:
            w = one.weights
            print(f"{w.cost:4g}  {w.stability:9g}  {w.redundancy:10g}  {w.forgetting:10g}  {one.value:16.1f}")
    return 0


def _weights_json(weights: Weights) -> Json:
    import dataclasses

    return dataclasses.asdict(weights)


def _list(memory: Memory, arguments: argparse.Namespace) -> int:
    from scrubjay.errors import Damaged
    from scrubjay.parametric.shelf import Shelf

    shelf, is_any, is_whole = Shelf(memory.layout), False, True
    for category in shelf.categories():
        try:
            current, learned = shelf.current(category), set(shelf.lineage(category))
            is_any |= current is not None
            for cycle in shelf.cycles(category):
                _tell_cycle(cycle, cycle == current, cycle in learned, arguments)
        except Damaged as error:  # it costs its category alone
            is_whole = False
            print(f"{category}: {error}", file=sys.stderr)
    if not is_any:
        print("(no adapter)", file=sys.stderr)
    return 0 if is_whole else 1


def _tell_cycle(cycle: CycleFolder, is_in_place: bool, was_in_place: bool, arguments: argparse.Namespace) -> None:
    result = cycle.read("result")
    if arguments.json:
        _json({"category": cycle.category, "cycle": cycle.number, "in_place": is_in_place, "result": result})
    else:
        what = "in place" if is_in_place else _ended(result, was_in_place)
        print(f"{cycle.category} {cycle.number}: {what}{_verified(result)}")


def _use(memory: Memory, arguments: argparse.Namespace) -> int:
    from scrubjay.parametric.metrics import tier_use

    for life in (one.life for one in memory.lives()):
        use = tier_use(memory, [life])
        if arguments.json:
            _json({"life": life, "turns": use.turns, "fast": use.fast, "tokens": use.tokens, "latency": use.latency})
            continue
        latency = "" if use.latency is None else f", {use.latency:.2f} s from observation to action (median)"
        print(f"life {life}: {use.fast} of {use.turns} turns on the fast path{latency}, {use.tokens} tokens")
    return 0


def _ended(result: Json | None, was_in_place: bool) -> str:
    if result is None:
        return "unfinished: it runs, or was killed"
    if "error" in result:
        return f"failed: {result['error']}"
    if result.get("kept"):
        return "replaced" if was_in_place else "killed before it was in place"
    return "rolled back"


def _verified(result: Json | None) -> str:
    if result is None or "verified_after" not in result:
        return ""
    told = f", verified {result['verified_before']} -> {result['verified_after']} of {result['held_out']}"
    return told + f", {result['cpu_seconds']:.0f} CPU-s"


# --- what changes


def _base(memory: Memory, arguments: argparse.Namespace) -> int:
    from scrubjay.parametric.shelf import Shelf

    shelf = Shelf(memory.layout)
    if arguments.base is not None:
        shelf.choose_base(_checked(shelf, arguments.base))
    if arguments.json:
        _json({"base": shelf.base})
    else:
        print(shelf.base or "(none chosen)")
    return 0


def _checked(shelf: Shelf, base: str) -> str:
    """What was chosen, as it is kept. Raises NotFound, InvalidInput where it is no base."""
    from scrubjay.parametric.bases import is_served, named_base
    from scrubjay.parametric.serving import served_policy

    if not is_served(base):
        return named_base(base)
    served_policy(shelf, base)
    return base


def _update(memory: Memory, arguments: argparse.Namespace) -> int:
    from scrubjay.parametric.updating import update

    due = [one for one in _due(memory, arguments) if one.fired is not None]
    for one in due:
        if not arguments.json:
            print(f"{one.scored.skill.name} is due: {one.fired.why if one.fired else ''}", flush=True)
    if not due:
        print("(no skill is due: `scrubjay adapters score` shows them; `cycle` trains all the same)", file=sys.stderr)
        return 0
    are_kept = True
    for one_update in update(memory, due, _settings(arguments)):
        are_kept &= one_update.outcome is not None and one_update.outcome.kept
        if one_update.outcome is not None:
            _tell(memory, one_update.category, one_update.outcome, arguments)
        elif arguments.json:
            _json({"category": one_update.category, "kept": False, "error": one_update.why})
        else:
            print(one_update.why, file=sys.stderr)
    return 0 if are_kept else 1


def _cycle(memory: Memory, arguments: argparse.Namespace) -> int:
    from scrubjay.parametric.updating import cycle_of

    outcome = cycle_of(memory, arguments.category, _settings(arguments))
    _tell(memory, arguments.category, outcome, arguments)
    return 0 if outcome.kept else 1


def _publish(memory: Memory, arguments: argparse.Namespace) -> int:
    from scrubjay.errors import InvalidInput
    from scrubjay.parametric.bases import is_served
    from scrubjay.parametric.serving import served_policy
    from scrubjay.parametric.shelf import Shelf

    shelf = Shelf(memory.layout)
    server = arguments.server or shelf.base
    if server is None or not is_served(server):
        raise InvalidInput(f"publish: a server was expected, as http://127.0.0.1:8000, found {server or 'none'}")
    policy = served_policy(shelf, server)
    for category, adapter in shelf.all().items():
        policy.publish(category)
        if arguments.json:
            _json({"category": category, "cycle": adapter.number, "server": server})
        else:
            print(f"{category}: {server} has the adapter of cycle {adapter.number}")
    if not policy.categories:
        print("(no adapter)", file=sys.stderr)
    return 0


def _settings(arguments: argparse.Namespace) -> Settings:
    from scrubjay.parametric.cycle import Settings
    from scrubjay.parametric.training import Recipe

    return Settings(Recipe(steps=arguments.steps, rate=arguments.rate, batch=arguments.batch, seed=arguments.seed))


def _tell(memory: Memory, category: str, outcome: Outcome, arguments: argparse.Namespace) -> None:
    told = f"verified {outcome.before} -> {outcome.after} of {outcome.n}, {outcome.trained.cpu_seconds:.0f} CPU-s"
    where = memory.layout.relative(outcome.folder.path)
    if arguments.json:
        _json({"category": category, "cycle": outcome.folder.number, "kept": outcome.kept, "path": where,
               "verified_before": outcome.before, "verified_after": outcome.after, "held_out": outcome.n})  # fmt: skip
    elif outcome.kept:
        print(f"{category}: the adapter of cycle {outcome.folder.number} is in place, {told}: {where}")
    else:
        print(f"{category}: cycle {outcome.folder.number} was rolled back, {told}: {where}")


def _json(row: Json) -> None:
    print(json.dumps(row, ensure_ascii=False))


_RUN: dict[str, Callable[[Memory, argparse.Namespace], int]] = {
    "stage": _stage,
    "score": _score,
    "weights": _weights,
    "base": _base,
    "update": _update,
    "cycle": _cycle,
    "publish": _publish,
    "list": _list,
    "use": _use,
}
