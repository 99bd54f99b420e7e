"""A host with atoms to run procedures against, and procedures that misbehave."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from scrubjay.sandbox.contract import AtomFailed, Budget, Outcome
from scrubjay.sandbox.monty import MontySandbox
from scrubjay.sandbox.signatures import spec_of


class Quarry:
    """A host with atoms: it counts environment steps and writes down what was asked of it."""

    def __init__(self) -> None:
        self.steps = 0
        self.asked: list[tuple[Any, ...]] = []

    def mine_ahead(self, hold: int = 20) -> dict[str, Any]:
        """Holds the attack for some steps."""
        self.steps += hold
        self.asked.append(("mine_ahead", hold))
        return {"broke": True}

    def go_to(self, x: float, z: float, within: float = 0.8) -> dict[str, Any]:
        """Walks to a position."""
        self.steps += 5
        self.asked.append(("go_to", x, z, within))
        if x > 90:
            raise AtomFailed("stuck: no way there")
        return {"moved": 1.0, "pos": (x, 64.0, z)}

    def wait(self, ticks: int = 1) -> dict[str, Any]:
        """Does nothing."""
        self.steps += ticks
        return {}


_METHODS = [spec_of(Quarry.mine_ahead), spec_of(Quarry.go_to), spec_of(Quarry.wait)]
SPECS = [replace(spec, parameters=spec.parameters[1:]) for spec in _METHODS]


def run(
    sandbox: MontySandbox,
    source: str,
    function: str = "main",
    arguments: dict[str, Any] | None = None,
    budget: Budget = Budget(),  # noqa: B008 (frozen)
    quarry: Quarry | None = None,
    **others: Any,
) -> Outcome:
    quarry = quarry or Quarry()
    atoms = {spec.name: getattr(quarry, spec.name) for spec in SPECS}
    stop = others.pop("stop", lambda: False)
    return sandbox.run(source, function, arguments or {}, atoms, SPECS, budget, stop, lambda: quarry.steps)


def stubborn(line: str) -> str:
    """A procedure that does one thing for ever and swallows every exception."""
    return f"def main():\n  while True:\n    try:\n      {line}\n    except BaseException:\n      pass\n"
