"""Reflexes: small procedures asked every few steps whether what runs should stop.

Each sees a plain dict and answers with one; none can call an atom, and none keeps anything between two steps. One
that fails is told once and not asked again.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from scrubjay.memory.jsonio import Json
from scrubjay.sandbox.contract import Problem
from scrubjay.sandbox.messages import traceback_of
from scrubjay.sandbox.monty import MontySandbox, load_monty
from scrubjay.sandbox.values import NotPlain, plain
from scrubjay.sandbox.watchdog import confine

if TYPE_CHECKING:
    from pydantic_monty import Monty

__all__ = ["Reflex", "Reflexes", "Verdict", "seen"]

SECONDS = 0.02
_MEMORY = 16 << 20
_GRACE = 0.1
_MAX_NOTE = 400
_MAX_ACTS = 8
_MAX_SEEN = 64
_MAX_TEXT = 1000


@dataclass(frozen=True, slots=True)
class Reflex:
    """A reflex by its source and the function that is asked, at every step that `every` divides."""

    name: str
    source: str
    function: str = "main"
    every: int = 1


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a reflex said: stop the plan, a note to keep, entries to act on first; or why it is out of use."""

    reflex: str
    stop: bool = False
    note: str | None = None
    act: tuple[Json, ...] = ()
    error: str | None = None


def seen(before: Json, now: Json) -> Json:
    """What reflexes are shown: each small value of the state now, and under `…_prev` what it was k steps before.

    What is large, or no JSON, is not shown.
    """
    shown: Json = {}
    for key, value in now.items():
        if isinstance(key, str) and _is_small(value):
            shown[key] = plain(value)
            earlier = before.get(key)
            shown[f"{key}_prev"] = plain(earlier) if _is_small(earlier) else None
    return shown


def _is_small(value: Any) -> bool:
    if isinstance(value, dict | list | tuple):
        inner = [*value.values(), *value] if isinstance(value, dict) else value
        if len(value) > _MAX_SEEN or any(isinstance(one, dict | list | tuple) for one in inner):
            return False
    try:
        plain(value)
    except NotPlain:
        return False
    return not isinstance(value, str) or len(value) <= _MAX_TEXT


class Reflexes:
    """Asks reflexes. Use it in a `with`, or call `close`; without reflexes it starts nothing.

    Each question may take 20 ms of the interpreter's time and 16 MB; a worker that goes on is killed 0.1 s later.
    """

    def __init__(self, reflexes: Iterable[Reflex] = ()) -> None:
        self._reflexes: dict[str, Reflex] = {}
        self._out: set[Reflex] = set()
        self._pool: Monty | None = None
        self._end: weakref.finalize[Any, Any] | None = None  # also where nobody closes it
        self._confined: int | None = None
        self.use(reflexes)

    def use(self, reflexes: Iterable[Reflex]) -> None:
        """Asks these from now on. One that is out of use stays so until its source changes."""
        self._reflexes = {one.name: one for one in reflexes if one not in self._out}

    @property
    def furthest(self) -> int:
        """How many steps back the one that is asked most rarely looks; 0 where there is none."""
        return max((one.every for one in self._reflexes.values()), default=0)

    def ask(self, step: int, states: Sequence[Json]) -> list[Verdict]:
        """The verdicts at this step, of those reflexes that have one; none where it isn't their step.

        `states` end with the present one; the one `every` before it is what `…_prev` shows, or the oldest there is.
        """
        verdicts = []
        for reflex in [*self._reflexes.values()]:
            if step % reflex.every == 0:
                before = states[max(0, len(states) - 1 - reflex.every)]
                verdicts.append(self._ask(reflex, seen(before, states[-1])))
        return [verdict for verdict in verdicts if verdict is not None]

    def drop(self, name: str) -> None:
        """Takes one out of use, for what it asked for can't be done."""
        reflex = self._reflexes.pop(name, None)
        if reflex is not None:
            self._out.add(reflex)

    def _ask(self, reflex: Reflex, shown: Json) -> Verdict | None:
        monty = load_monty()
        pool = self._pool or self._started()
        limits = {
            "max_feed_duration_secs": SECONDS,
            "max_memory": _MEMORY,
            "max_recursion_depth": 100,
            "max_suspensions": 20,
        }
        policy = {"sleep": "zero", "random_start": {"seed": 0}}
        try:
            with pool.checkout(script_name="reflex.py", limits=limits, os_policy=policy) as session:  # type: ignore[arg-type]
                self._confine(session.worker_pid)
                text = f"{reflex.source}\n{reflex.function}(_seen_)\n"
                said = session.feed_run(text, inputs={"_seen_": shown}, print_callback=_nowhere)
            return _verdict(reflex.name, plain(said))
        except monty.MontyRuntimeError as error:
            return self._out_of_use(reflex, traceback_of(error))
        except monty.MontyError as error:
            return self._out_of_use(reflex, str(error))
        except (NotPlain, _Unfit) as error:
            return self._out_of_use(reflex, f"it returned {error}")

    def _started(self) -> Monty:
        monty = load_monty()
        pool: Monty = monty.Monty(min_processes=1, max_processes=1, feed_duration_limit_grace=_GRACE)
        self._pool = pool.__enter__()
        self._end = weakref.finalize(self, pool.__exit__, None, None, None)
        return self._pool

    def check(self) -> dict[str, list[Problem]]:
        """What is wrong with each reflex before it is asked; those without a problem are left out."""
        with MontySandbox() as sandbox:
            found = {one.name: sandbox.check(one.source, [], one.function) for one in self._reflexes.values()}
        return {name: problems for name, problems in found.items() if problems}

    def _confine(self, worker: int | None) -> None:
        if worker is not None and worker != self._confined:
            confine(worker, _MEMORY + (512 << 20))
            self._confined = worker

    def _out_of_use(self, reflex: Reflex, error: str) -> Verdict:
        self.drop(reflex.name)
        return Verdict(reflex.name, error=error)

    def close(self) -> None:
        """Ends the process."""
        self._pool = None
        if self._end is not None:
            self._end()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Unfit(Exception):
    """An answer of another form."""


def _verdict(name: str, said: Any) -> Verdict | None:
    if said is None or said == {}:
        return None
    if not isinstance(said, dict) or not said.keys() <= {"stop", "note", "act"}:
        raise _Unfit(f"{said!r:.200}; None, or a dict of stop, note and act, was expected")
    stop, note, act = said.get("stop", False), said.get("note"), said.get("act") or []
    if not isinstance(stop, bool):
        raise _Unfit(f"stop: {stop!r:.80}; True or False was expected")
    if note is not None and not isinstance(note, str):
        raise _Unfit(f"note: {note!r:.80}; a text was expected")
    if not (isinstance(act, list) and len(act) <= _MAX_ACTS and all(isinstance(entry, dict) for entry in act)):
        raise _Unfit(f"act: {act!r:.80}; a list of at most {_MAX_ACTS} entries was expected")
    return Verdict(name, stop, None if note is None else note[:_MAX_NOTE], tuple(act))


def _nowhere(_stream: str, _text: str) -> None:
    """Where a reflex prints to."""
