"""What a plan may call beside raw actions: the environment's atoms and the agent's own procedures.

It checks calls before a step is spent, runs them step by step through a Stepper, and keeps how procedures went. What
the steps lead to is the environment's business, what is recorded the Stepper's.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from scrubjay.agent.stepping import Halt, Stepper
from scrubjay.environments.atoms import FAILURE, SUCCESS, Atom, by_name, drive
from scrubjay.environments.contract import Environment
from scrubjay.errors import InvalidInput, NotFound
from scrubjay.memory.jsonio import Json
from scrubjay.memory.layout import parse_reference
from scrubjay.memory.procedure_files import Procedure, normal_name
from scrubjay.memory.procedure_runs import Run
from scrubjay.sandbox.contract import AtomFailed, AtomSpec, Budget, Halted, Outcome, Parameter, Problem, Sandbox
from scrubjay.sandbox.signatures import bind
from scrubjay.sandbox.vision import Vision

if TYPE_CHECKING:
    from scrubjay.memory.lives import Life
    from scrubjay.public import Memory

__all__ = ["Skills"]

_ACT = AtomSpec("act", (Parameter("action", "str"), Parameter("repeat", "int", 1)), "Takes a raw action.")
_STATE = AtomSpec("state", (), "The present state.")


class Skills:
    """Atoms and procedures of one environment and one memory. `sandbox` is made when the first procedure is checked."""

    def __init__(self, environment: Environment, memory: Memory, sandbox: Callable[[], Sandbox] | None = None) -> None:
        self._environment, self._memory = environment, memory
        self._atoms = by_name(getattr(environment, "atoms", ()))
        self._make_sandbox = sandbox or _monty
        self._sandbox: Sandbox | None = None
        self._checked: set[tuple[str, str, str]] = set()

    @property
    def calls(self) -> tuple[str, ...]:
        """A line for each atom: its signature and what it does."""
        return tuple(f"{one.signature}: {one.spec.doc}" for one in self._atoms.values())

    @property
    def actions(self) -> tuple[str, ...]:
        """Names of the environment's raw actions."""
        return self._environment.actions

    @property
    def rules(self) -> str:
        """What the environment's author has to say to whoever acts in it; empty where that is nothing."""
        return str(getattr(self._environment, "rules", ""))

    def own(self) -> tuple[str, ...]:
        """A line for each procedure that may be called and each reflex that is asked, with its record."""
        reflexes = self._memory.procedures.offer("reflex")
        return (*self._memory.procedures.offer(), *(f"reflex {line}" for line in reflexes))

    def check_atom(self, name: str, arguments: Json) -> str | None:
        """What is wrong with a call of an atom; None where nothing is."""
        atom = self._atoms.get(name)
        return f"{name!r} is neither an action nor an atom" if atom is None else _misfit(atom.spec, arguments)

    def check(self, name: str, arguments: Json) -> str | None:
        """What is wrong with a call, before a step is spent; None where nothing is."""
        if name in self._atoms:
            return self.check_atom(name, arguments)
        found = self.procedure(name, arguments)
        return found if isinstance(found, str) else None

    def _hint(self, found: Iterable[Problem]) -> str:
        """What can be called, where a procedure calls what is not there."""
        if not any("not defined" in problem.message for problem in found):
            return ""
        return f"; a procedure calls atoms, which are {', '.join(sorted(spec.name for spec in self._specs))}"

    def procedure(self, name: str, arguments: Json) -> Procedure | str:
        """The procedure as it is now, where it can be called with these arguments; else what is wrong."""
        try:
            procedure = self._memory.procedures.get(normal_name(name))
        except NotFound:
            return f"{name!r} is neither an action nor an atom nor a procedure"
        except InvalidInput as error:  # it is there and can't be used, or this is no name at all
            return f"{name!r} is neither an action nor an atom nor a procedure that can be called: {error}"
        if procedure.status == "disabled":
            return f"{procedure.name} is disabled: {procedure.reason}"
        if procedure.source is None:
            return f"{procedure.name} is text to follow; it has no script to run"
        key = (procedure.digest, procedure.name, repr(sorted(arguments.items())))
        if key not in self._checked:
            found = self._box.check(procedure.source, self._specs, procedure.function, arguments)
            if found:
                return f"{procedure.name}: " + "; ".join(map(str, found[:5])) + self._hint(found)
            self._checked.add(key)
        return procedure

    def forget(self, name: str) -> bool:
        """Forgets that calls of a procedure were accepted; true where one was."""
        try:
            accepted = {key for key in self._checked if key[1] == normal_name(name)}
        except InvalidInput:
            return False
        self._checked -= accepted
        return bool(accepted)

    def is_procedure(self, name: str) -> bool:
        """True for what is no atom."""
        return name not in self._atoms

    # --- running

    def run_atom(self, name: str, arguments: Json, stepper: Stepper) -> str:
        """Runs an atom to its end and returns its outcome. Raises Halt, or InvalidInput before the first step."""
        return drive(self._atoms[name].run(arguments, stepper.seen.state), stepper.take)

    def run_procedure(self, procedure: Procedure, arguments: Json, stepper: Stepper, budget: Budget) -> Outcome:
        """Runs a procedure in the sandbox against the atoms, within its budget."""
        if procedure.source is None or procedure.function is None:
            raise InvalidInput(f"{procedure.name} has no script to run")
        atoms: dict[str, Callable[..., Any]] = {one.name: _callable(one, stepper) for one in self._atoms.values()}
        vision = Vision(lambda: stepper.seen.frame, self._stored)
        atoms |= {"act": _acting(stepper), "state": lambda: stepper.seen.state, **vision.atoms()}
        return self._box.run(
            procedure.source,
            procedure.function,
            arguments,
            atoms,
            self._specs,
            budget,
            lambda: stepper.is_stopped,
            lambda: stepper.taken,
        )

    def keep(
        self, procedure: Procedure, arguments: Json, outcome: Outcome, life: Life, turn: int, episode: str
    ) -> None:
        """Records how a call of a procedure went."""
        self._memory.procedures.record(
            Run(
                procedure.name,
                outcome.recorded,
                arguments=arguments,
                episodes=(episode,),
                error=outcome.error,
                steps=outcome.steps,
                seconds=round(outcome.seconds, 3),
                life=life.number,
                step=life.step,
                turn=turn,
                digest=procedure.digest,
                category=procedure.category,
                time=time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime()),
            )
        )

    def close(self) -> None:
        """Ends the sandbox's processes."""
        if self._sandbox is not None:
            self._sandbox.close()
            self._sandbox = None

    @property
    def _box(self) -> Sandbox:
        if self._sandbox is None:
            self._sandbox = self._make_sandbox()
        return self._sandbox

    @property
    def _specs(self) -> list[AtomSpec]:
        return [*(one.spec for one in self._atoms.values()), _ACT, _STATE, *Vision(_no_frame, self._stored).specs()]

    def _stored(self, text: str) -> Any:
        reference = parse_reference(text)
        episode = self._memory.episode(reference.episode)
        return (episode.start_frame() if reference.step is None else episode.frame(reference.step)).array()


def _no_frame() -> Any:
    raise AssertionError("specifications are read without a frame")


def _monty() -> Sandbox:
    from scrubjay.sandbox.monty import MontySandbox

    return MontySandbox()


def _misfit(spec: AtomSpec, arguments: Json) -> str | None:
    try:
        bind(spec, (), arguments)
    except (TypeError, ValueError) as error:
        return str(error)
    return None


def _callable(atom: Atom, stepper: Stepper) -> Callable[..., Json]:
    """The atom as a procedure calls it: {"ok", "outcome", "state"} comes back; the end of the life ends the run."""

    def call(**arguments: Any) -> Json:
        try:
            outcome = drive(atom.run(arguments, stepper.seen.state), stepper.take)
        except InvalidInput as error:
            raise AtomFailed(str(error)) from None
        except Halt as halt:
            raise _halted(stepper, halt) from None
        return {"ok": outcome == SUCCESS, "outcome": outcome.removeprefix(FAILURE), "state": stepper.seen.state}

    return call


def _halted(stepper: Stepper, halt: Halt) -> Halted:
    return Halted("stopped" if stepper.is_stopped else "budget", str(halt))


def _acting(stepper: Stepper) -> Callable[..., Json]:
    def act(action: str, repeat: int = 1) -> Json:
        try:
            for _ in range(repeat):
                stepper.take(action)
        except InvalidInput as error:
            raise AtomFailed(str(error)) from None
        except Halt as halt:
            raise _halted(stepper, halt) from None
        return {"ok": True, "outcome": SUCCESS, "state": stepper.seen.state}

    return act
