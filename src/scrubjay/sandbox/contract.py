"""The contract of a sandbox: what runs in it, what it may spend, and how it went.

It knows atoms by their signatures; it does not know an environment, a memory or an interpreter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from scrubjay.memory.jsonio import Json

__all__ = [
    "REQUIRED", "AtomFailed", "AtomSpec", "Atoms", "Budget", "Halted", "Outcome", "Parameter", "Problem", "Sandbox",
    "Why",
]  # fmt: skip

Why = Literal["done", "failed", "budget", "stopped"]
Atoms = Mapping[str, Callable[..., Any]]
REQUIRED: Any = object()


@dataclass(frozen=True, slots=True)
class Budget:
    """What one run may spend: environment steps, wall time, the interpreter's heap, printed output."""

    steps: int = 400
    seconds: float = 10.0
    memory_bytes: int = 64 << 20
    output_bytes: int = 16 << 10


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of an atom: `type` as an annotation is written (`float`, `str | None`, `list[int]`)."""

    name: str
    type: str = "Any"
    default: Any = REQUIRED


@dataclass(frozen=True, slots=True)
class AtomSpec:
    """An atom as procedures see it: its name and signature, what it does in a line, what type it returns."""

    name: str
    parameters: tuple[Parameter, ...] = ()
    doc: str = ""
    returns: str = "dict[str, Any]"


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a source before it runs. Lines and columns count from 1; 0 is the call itself."""

    line: int
    column: int
    message: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}" if self.line else f"the call: {self.message}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run went.

    `why` it ended: `done` (it returned), `failed` (it raised, or was refused before its first step), `budget`,
    `stopped` (from outside). `value` is what it returned, as JSON. `error` says what went wrong, with the source's own
    traceback. `output` is what it printed, cut at the budget. `steps` and `seconds` are what it spent, `calls` counts
    the atoms it called. None of these can be set by what ran.
    """

    why: Why
    value: Any = None
    error: str | None = None
    output: str = ""
    steps: int = 0
    calls: int = 0
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """True where it returned."""
        return self.why == "done"

    @property
    def recorded(self) -> str:
        """The word that the record of calls has for it: `success`, `failure`, `budget` or `stopped`."""
        return {"done": "success", "failed": "failure"}.get(self.why, self.why)


class AtomFailed(Exception):
    """What an atom raises to tell the procedure that it could not do it; the procedure may catch a RuntimeError.

    Every other exception of an atom passes through the sandbox to whoever called `run`.
    """


class Halted(Exception):
    """What an atom raises to end the run: `why` is `budget` or `stopped`. No procedure can catch it."""

    def __init__(self, why: Literal["budget", "stopped"], reason: str = "") -> None:
        super().__init__(reason or why)
        self.why: Literal["budget", "stopped"] = why


class Sandbox(Protocol):
    """Runs a function of a source text against atoms."""

    def check(
        self, source: str, specs: Sequence[AtomSpec], function: str | None = None, arguments: Json | None = None
    ) -> list[Problem]:
        """What is wrong with a source, and with a call of one of its functions, before a step is spent."""
        ...

    def run(
        self,
        source: str,
        function: str,
        arguments: Json,
        atoms: Atoms,
        specs: Sequence[AtomSpec],
        budget: Budget,
        stop: Callable[[], bool],
        count: Callable[[], int] | None = None,
    ) -> Outcome:
        """Calls a function of the source with keyword arguments, after `check` found nothing wrong.

        `stop` is asked at every call of an atom. `count` gives the environment steps taken so far, by which the step
        budget is measured before each call; without it, a call of an atom is one step. Raises what an atom raised,
        other than AtomFailed and Halted.
        """
        ...

    def close(self) -> None:
        """Lets go of processes."""
        ...
