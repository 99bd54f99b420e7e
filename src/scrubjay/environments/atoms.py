"""Atoms: closed-loop primitives of an environment, written as generators of raw actions.

An atom sees states and names actions. Who takes the steps, records them, counts a budget and interrupts is not its
business: it is sent the state that each action led to, and is closed where somebody stops it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from scrubjay.errors import InvalidInput
from scrubjay.memory.jsonio import Json
from scrubjay.sandbox.contract import AtomSpec
from scrubjay.sandbox.signatures import bind, signature, spec_of

__all__ = ["FAILURE", "SUCCESS", "Atom", "Moves", "Raw", "atom", "by_name", "drive", "failure"]

SUCCESS = "success"
FAILURE = "failure: "
Raw = str | Json  # the name of a raw action, or an object with its arguments: {"click": {"x": 500, "y": 320}}
Moves = Generator[Raw, Json, str]  # yields raw actions, is sent the states they led to, returns the outcome


@dataclass(frozen=True, slots=True)
class Atom:
    """A primitive: `spec` as procedures and models see it, `begin(state, **arguments)` as it starts."""

    spec: AtomSpec
    begin: Callable[..., Moves]

    @property
    def name(self) -> str:
        """What it is called."""
        return self.spec.name

    @property
    def signature(self) -> str:
        """`go_to(x: float, z: float) -> dict[str, Any]`"""
        return signature(self.spec)

    def run(self, arguments: Mapping[str, Any], state: Json) -> Moves:
        """The actions from a state on. Raises InvalidInput, before the first, for arguments that don't fit."""
        try:
            bound = bind(self.spec, (), arguments)
        except (TypeError, ValueError) as error:
            raise InvalidInput(str(error)) from None
        return self.begin(state, **bound)


def atom(function: Callable[..., Moves]) -> Atom:
    """The atom of a generator function: its first parameter is the state, the others are those of a call."""
    spec = spec_of(function)
    return Atom(replace(spec, parameters=spec.parameters[1:], returns="dict[str, Any]"), function)


def by_name(atoms: Iterable[Atom]) -> dict[str, Atom]:
    """The atoms by name."""
    return {one.name: one for one in atoms}


def failure(why: str) -> str:
    """The outcome of an atom that could not do it."""
    return f"{FAILURE}{why}"


def drive(moves: Moves, take: Callable[[Any], Json]) -> str:
    """Takes an atom's actions to its end and returns its outcome.

    `take` takes one raw action and gives the state it led to. What it raises ends the atom and passes through: so a
    budget, an end of the life and a reflex interrupt.
    """
    try:
        action = next(moves)
        while True:
            action = moves.send(take(action))
    except StopIteration as ended:
        return str(ended.value)
    finally:
        moves.close()
