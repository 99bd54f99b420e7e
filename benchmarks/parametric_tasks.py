"""Tasks of three skill categories in a small workshop, made for the benchmarks of the parametric tier: ours.

192 tasks: 64 each of craft, gather and combat. A task has a procedure that does it and two that fail, as an agent
fails: without a material, with the wrong tool, in the wrong order. Whether a procedure does a task is found by running
it in the sandbox.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from scrubjay.parametric.examples import Example, Preference, Prompt
from scrubjay.sandbox.contract import AtomFailed, AtomSpec, Budget, Parameter
from scrubjay.sandbox.monty import MontySandbox

CATEGORIES = ("craft", "gather", "combat")
HELD_OUT = 16
_WOODS = ["oak", "birch", "spruce", "jungle", "acacia", "mangrove", "cherry", "bamboo"]
_PRODUCTS = {
    "planks": ("log", 1, 4), "slab": ("planks", 3, 6), "stairs": ("planks", 6, 4), "fence": ("planks", 4, 3),
    "door": ("planks", 6, 3), "boat": ("planks", 5, 1), "sign": ("planks", 6, 3), "button": ("planks", 1, 1),
}  # fmt: skip
_ORES = {
    "coal": "wood", "iron": "stone", "copper": "stone", "lapis": "stone", "gold": "iron", "diamond": "iron",
    "redstone": "iron", "emerald": "iron",
}  # fmt: skip
_KINDS = ("ore", "deep_ore", "block", "raw_block")
_FOES = ["zombie", "skeleton", "spider", "creeper", "witch", "slime", "pillager", "drowned"]
_WEAPONS = {"baby": "wood_sword", "wild": "stone_sword", "armored": "iron_sword", "giant": "diamond_sword"}
Call = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Task:
    """A task, the source that does it, two that fail, and what the inventory must hold in the end."""

    category: str
    text: str
    name: str
    good: str
    bad: tuple[str, str]
    calls: tuple[Call, ...]
    goal: tuple[str, int]

    @property
    def prompt(self) -> Prompt:
        """What a policy is asked."""
        return Prompt(f"Task: {self.text}")


def source(name: str, calls: tuple[Call, ...]) -> str:
    """A procedure that makes these calls: what the harness reads."""
    return f"def {name}():\n" + "".join(f"    {line}\n" for line in bare(calls).splitlines())


def bare(calls: tuple[Call, ...]) -> str:
    """The calls alone, as the base model writes them."""
    return "\n".join(f"{call[0]}({', '.join(map(_literal, call[1:]))})" for call in calls)


def _literal(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def _task(category: str, text: str, name: str, goal: tuple[str, int], good: list[Call], *bad: list[Call]) -> Task:
    wrong = (source(name, tuple(bad[0])), source(name, tuple(bad[1])))
    return Task(category, text, name, source(name, tuple(good)).strip(), (wrong[0].strip(), wrong[1].strip()),
                tuple(good), goal)  # fmt: skip


def tasks(category: str) -> list[Task]:
    """All 64 of a category."""
    if category == "craft":
        return [_craft(wood, product) for wood in _WOODS for product in _PRODUCTS]
    if category == "gather":
        return [_gather(ore, kind, n) for ore in _ORES for kind in _KINDS for n in (2, 5)]
    return [_combat(foe, kind, n) for foe in _FOES for kind in _WEAPONS for n in (1, 3)]


def _craft(wood: str, product: str) -> Task:
    of, needs, makes = _PRODUCTS[product]
    item = f"{wood}_{product}"
    obtain, craft = ("obtain", f"{wood}_{of}", needs), ("craft", item, makes)
    return _task("craft", f"craft {wood} {product}", f"craft_{item}", (item, makes),
                 [obtain, craft], [craft], [("obtain", f"{wood}_{of}", 0), craft])  # fmt: skip


def _gather(ore: str, kind: str, n: int) -> Task:
    block = f"{ore}_{kind}"
    equip, mine = ("equip", f"{_ORES[ore]}_pickaxe"), ("mine", block, n)
    return _task("gather", f"gather {n} {ore} {kind}", f"gather_{block}", (block, n),
                 [equip, mine], [mine], [mine, equip])  # fmt: skip


def _combat(foe: str, kind: str, n: int) -> Task:
    who = f"{kind}_{foe}"
    equip, attack, pick = ("equip", _WEAPONS[kind]), ("attack", who, n), ("pick_up",)
    return _task("combat", f"kill {n} {kind} {foe}", f"kill_{who}", (f"{who}_loot", n),
                 [equip, attack, pick], [attack, pick], [attack, equip, pick])  # fmt: skip


def split(category: str, seed: int) -> tuple[list[Task], list[Task]]:
    """Tasks to learn from, and 16 that are held out."""
    found = tasks(category)
    random.Random(1000 + seed).shuffle(found)
    return found[HELD_OUT:], found[:HELD_OUT]


def learnable(found: list[Task]) -> tuple[list[Example], list[Preference]]:
    """D_succ and D_cpair of these tasks: every success once, every failure with its correction."""
    successes = [Example(task.prompt, task.good) for task in found]
    pairs = [Preference(task.prompt, task.good, bad) for task in found for bad in task.bad]
    return successes, pairs


# --- the workshop

_TEXT, _COUNT = Parameter("what", "str"), Parameter("n", "int", 1)
SPECS = [
    AtomSpec("obtain", (_TEXT, _COUNT), "Fetches a material."),
    AtomSpec("craft", (_TEXT, _COUNT), "Makes something of what is carried."),
    AtomSpec("equip", (_TEXT,), "Takes a tool or weapon in hand."),
    AtomSpec("mine", (_TEXT, _COUNT), "Digs with the tool in hand."),
    AtomSpec("attack", (_TEXT, _COUNT), "Fights with the weapon in hand."),
    AtomSpec("pick_up", (), "Takes what lies around."),
]


class Workshop:
    """What the calls do: an inventory, what is in hand, what lies around."""

    def __init__(self) -> None:
        self.inventory: dict[str, int] = {}
        self._hand = ""
        self._around: dict[str, int] = {}

    def atoms(self) -> dict[str, Callable[..., Any]]:
        """The calls by name."""
        return {spec.name: getattr(self, spec.name) for spec in SPECS}

    def obtain(self, what: str, n: int = 1) -> dict[str, Any]:
        """Fetches a raw or half-made material."""
        self._add(what, n)
        return {"ok": n > 0}

    def craft(self, what: str, n: int = 1) -> dict[str, Any]:
        """Makes something by the recipe."""
        wood, _, product = what.partition("_")
        if product not in _PRODUCTS or wood not in _WOODS:
            raise AtomFailed(f"{what}: no recipe")
        of, needs, makes = _PRODUCTS[product]
        if self.inventory.get(f"{wood}_{of}", 0) < needs or n > makes:
            raise AtomFailed(f"{what} needs {needs} {wood}_{of}")
        self._add(f"{wood}_{of}", -needs)
        self._add(what, n)
        return {"ok": True}

    def equip(self, what: str) -> dict[str, Any]:
        """Takes something in hand."""
        self._hand = what
        return {"ok": True}

    def mine(self, what: str, n: int = 1) -> dict[str, Any]:
        """Digs, with exactly the tool that the ore wants."""
        ore, _, kind = what.partition("_")
        if kind not in _KINDS or self._hand != f"{_ORES.get(ore)}_pickaxe":
            raise AtomFailed(f"{what} can't be dug with {self._hand or 'bare hands'}")
        self._add(what, n)
        return {"ok": True}

    def attack(self, what: str, n: int = 1) -> dict[str, Any]:
        """Fights, with exactly the weapon that the foe wants."""
        kind, _, foe = what.partition("_")
        if foe not in _FOES or self._hand != _WEAPONS.get(kind):
            raise AtomFailed(f"{what} is not beaten with {self._hand or 'bare hands'}")
        self._around[f"{what}_loot"] = n
        return {"ok": True}

    def pick_up(self) -> dict[str, Any]:
        """Takes what lies around."""
        for what, n in self._around.items():
            self._add(what, n)
        self._around = {}
        return {"ok": True}

    def _add(self, what: str, n: int) -> None:
        self.inventory[what] = self.inventory.get(what, 0) + n


class Judge:
    """Runs procedures in the sandbox and says whether they did their task. The same source is run once."""

    def __init__(self) -> None:
        self._sandbox = MontySandbox()
        self._known: dict[tuple[str, str, str], bool] = {}

    def does(self, task: Task, source: str, function: str) -> bool:
        """True where the goal's items are carried in the end, in exactly the number asked for."""
        key = (task.category, task.text, source)
        if key not in self._known:
            workshop = Workshop()
            outcome = self._sandbox.run(source, function, {}, workshop.atoms(), SPECS, Budget(), lambda: False)
            self._known[key] = outcome.ok and workshop.inventory.get(task.goal[0]) == task.goal[1]
        return self._known[key]

    def close(self) -> None:
        """Ends the sandbox's processes."""
        self._sandbox.close()
