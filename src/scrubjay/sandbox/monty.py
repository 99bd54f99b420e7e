"""A sandbox on pydantic-monty: an interpreter in a process of its own that can reach nothing but what it is handed.

Every call of an atom pauses it and comes here. Its own limits bound time and heap with a message for the procedure;
under them lie a watchdog that kills the process and limits of the system. It knows no environment.
"""

from __future__ import annotations

import keyword
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from scrubjay.errors import InvalidInput
from scrubjay.memory.jsonio import Json
from scrubjay.sandbox.contract import Atoms, AtomSpec, Budget, Outcome, Problem
from scrubjay.sandbox.driving import Drive
from scrubjay.sandbox.signatures import stubs
from scrubjay.sandbox.values import NotPlain, plain
from scrubjay.sandbox.watchdog import Watchdog, confine

if TYPE_CHECKING:
    from pydantic_monty import Monty, MontySession

__all__ = ["MAX_SOURCE", "MontySandbox", "load_monty"]

MAX_SOURCE = 64 << 10  # characters
_MAX_CALL = 16 << 10
_CHECKING = Budget(steps=0, seconds=5.0)
_GRACE = 0.25  # seconds after which a worker that did not stop by itself is killed
_ADDRESSES = 512 << 20  # bytes that a worker maps before it runs anything, and more
_WORKERS = 8  # at once: an atom may itself run a procedure


def load_monty() -> Any:
    """The module pydantic_monty. Raises InvalidInput, saying how to get it, where it is not installed."""
    try:
        import pydantic_monty
    except ModuleNotFoundError:
        raise InvalidInput("procedures run in pydantic-monty: pip install 'scrubjay[agent]' brings it") from None
    return pydantic_monty


class MontySandbox:
    """Runs each source in a fresh process. Use it in a `with`, or call `close`; the first run starts it."""

    def __init__(self) -> None:
        self._pool: Monty | None = None
        self._end: weakref.finalize[Any, Any] | None = None  # also where nobody closes it

    def check(
        self, source: str, specs: Sequence[AtomSpec], function: str | None = None, arguments: Json | None = None
    ) -> list[Problem]:
        """What is wrong with a source: syntax, types against the atoms, what happens when it is loaded.

        With `function` also whether it has it; with `arguments` whether that can be called so. No atom is called.
        """
        problems = _unfit(source, function, arguments)
        if problems:
            return problems
        with self._session(specs, _CHECKING) as (session, _):
            drive = Drive(session, {}, specs, _CHECKING)
            problems = drive.load(source)
            if not problems and function is not None:
                problems = drive.refuse(_call(function, arguments))
        return problems

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
        """Calls a function of the source, as the contract says; `error` of a refused one lists the problems."""
        problems = _unfit(source, function, arguments)
        if problems:
            return _refused(problems)
        with self._session(specs, budget) as (session, watchdog):
            drive = Drive(session, atoms, specs, budget, stop, count, watchdog)
            problems = drive.load(source)
            if problems:
                return drive.spent() or _refused(problems)
            return drive.call(_call(function, arguments))

    @contextmanager
    def _session(self, specs: Sequence[AtomSpec], budget: Budget) -> Iterator[tuple[MontySession, Watchdog]]:
        monty = load_monty()
        if self._pool is None:
            # A worker serves once: what a source left behind in it is nobody's business.
            pool = monty.Monty(
                min_processes=1,
                max_processes=_WORKERS,
                max_checkouts_per_worker=1,
                feed_duration_limit_grace=_GRACE,
            )
            self._pool = pool.__enter__()
            self._end = weakref.finalize(self, pool.__exit__, None, None, None)
        session = self._pool.checkout(
            script_name="procedure.py",
            limits={
                "max_feed_duration_secs": budget.seconds,
                "max_memory": budget.memory_bytes,
                "max_recursion_depth": 200,
                "max_suspensions": 1 << 30,
            },
            type_check=True,
            type_check_stubs=stubs(specs),
            type_check_format="jsonlines",
            # A procedure does the same every time it is called: what varies is an argument.
            os_policy={"random_start": {"seed": 0}},
        )
        with session as entered:
            worker = entered.worker_pid
            if worker is None:
                raise RuntimeError("the sandbox has no process")
            confine(worker, budget.memory_bytes + _ADDRESSES, budget.seconds)
            with Watchdog(worker, budget.seconds + _GRACE) as watchdog:
                yield entered, watchdog

    def close(self) -> None:
        """Ends the processes. A later run starts new ones."""
        self._pool = None
        if self._end is not None:
            self._end()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _unfit(source: str, function: str | None, arguments: Json | None) -> list[Problem]:
    """What needs no interpreter to be seen."""
    if len(source) > MAX_SOURCE:
        return [Problem(0, 0, f"the source has {len(source)} characters; at most {MAX_SOURCE} are run")]
    if not source.isprintable() and any(0xD800 <= ord(one) < 0xE000 for one in source):
        return [Problem(0, 0, "the source is no valid Unicode")]
    for name in [*([] if function is None else [function]), *(arguments or {})]:
        if not name.isidentifier() or keyword.iskeyword(name):
            return [Problem(0, 0, f"{name!r:.80} is no name that Python can call")]
    try:
        call = _call(function or "f", arguments)
    except NotPlain as problem:
        return [Problem(0, 0, f"the arguments hold {problem}")]
    if len(call) > _MAX_CALL:
        return [Problem(0, 0, f"the arguments are longer than {_MAX_CALL} characters")]
    return []


def _call(function: str, arguments: Json | None) -> str:
    """The call as source: arguments as literals, so that the type checker sees them."""
    if arguments is None:
        return function
    return f"{function}({', '.join(f'{name}={_literal(value)}' for name, value in plain(arguments).items())})"


def _literal(value: Any) -> str:
    text = ascii(value)
    if "nan" in text or "inf" in text:
        _need_finite(value)
    return text


def _need_finite(value: Any) -> None:
    if isinstance(value, float) and value - value != 0:
        raise NotPlain(f"the number {value}")
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _need_finite(inner)


def _refused(problems: list[Problem]) -> Outcome:
    return Outcome("failed", error="refused before its first step:\n" + "\n".join(map(str, problems)))
