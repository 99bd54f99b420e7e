"""Drives one source from pause to pause: each call of an atom is bound, counted, allowed or refused here.

It knows the interpreter's pauses and the budget; how a worker is started and killed it does not know.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from scrubjay.memory.jsonio import clean
from scrubjay.sandbox.contract import AtomFailed, Atoms, AtomSpec, Budget, Halted, Outcome, Problem, Why
from scrubjay.sandbox.messages import is_out_of_memory, is_out_of_time, problems_of, traceback_of
from scrubjay.sandbox.signatures import bind
from scrubjay.sandbox.values import NotPlain, plain, shown
from scrubjay.sandbox.watchdog import Watchdog

if TYPE_CHECKING:
    from pydantic_monty import FunctionSnapshot, MontySession, NameLookupSnapshot

__all__ = ["Drive", "Printed"]

_MAX_ATOM_ERROR = 2000


class Printed:
    """Takes what is printed, keeps the first bytes of it, and counts the rest."""

    def __init__(self, most: int) -> None:
        self._most, self._kept, self._size = most, list[bytes](), 0

    def __call__(self, stream: str, text: str) -> None:
        data = text.encode(errors="replace")
        left = self._most - self._size
        if left > 0:
            self._kept.append(data[:left])
        self._size += len(data)

    @property
    def text(self) -> str:
        """What is kept, and how much is not."""
        kept = b"".join(self._kept).decode(errors="ignore")
        return kept if self._size <= self._most else f"{kept}\n… ({self._size - self._most} more bytes)"


class _End(Exception):
    """A run ends here, by us."""

    def __init__(self, why: Why, error: str) -> None:
        super().__init__(error)
        self.why, self.error = why, error


class Drive:
    """One session: a source is loaded, then one call is made. The clock begins with this object."""

    def __init__(
        self,
        session: MontySession,
        atoms: Atoms,
        specs: Sequence[AtomSpec],
        budget: Budget,
        stop: Callable[[], bool] = lambda: False,
        count: Callable[[], int] | None = None,
        watchdog: Watchdog | None = None,
    ) -> None:
        self._session, self._atoms, self._budget, self._stop, self._watchdog = session, atoms, budget, stop, watchdog
        self._specs = {spec.name: spec for spec in specs}
        self._calls, self._source = 0, ""
        self._count = count or (lambda: self._calls)
        self._before = self._count()
        self._began = time.monotonic()
        self._printed = Printed(budget.output_bytes)

    # --- before the first step

    def load(self, source: str) -> list[Problem]:
        """Checks the source and defines what it defines; no atom can be called while it loads."""
        self._source = source
        return self._fed(source, is_call=False)

    def refuse(self, call: str) -> list[Problem]:
        """What the type checker has against a call. The call is not made."""
        return self._fed(f"def _() -> None:\n    {call}\n", is_call=True)

    def _fed(self, text: str, is_call: bool) -> list[Problem]:
        import pydantic_monty as monty

        try:
            snapshot = self._session.feed_start(text, print_callback=self._printed)
            while not isinstance(snapshot, monty.MontyComplete):
                if isinstance(snapshot, monty.FunctionSnapshot) and snapshot.is_os_function:
                    self._need_time()
                    snapshot = snapshot.resume_not_handled()
                else:
                    line = _line(text, snapshot.position.start)
                    return [Problem(line, 0, "acts while it is loaded: only its functions may call atoms")]
        except monty.MontyCrashedError:
            return [Problem(0, 0, self._died())]
        except (monty.MontyError, _End) as error:
            return problems_of(error, is_call) if isinstance(error, monty.MontyError) else [Problem(0, 0, str(error))]
        return []

    def spent(self) -> Outcome | None:
        """The outcome where loading alone took all the time there was, else None."""
        return self._outcome("budget", self._out_of_time()) if self._is_late() else None

    # --- the call

    def call(self, call: str) -> Outcome:
        """Makes the call and drives it to its end. Raises what an atom raised, other than AtomFailed and Halted."""
        import pydantic_monty as monty

        try:
            snapshot: Any = self._session.feed_start(call, print_callback=self._printed)
            while not isinstance(snapshot, monty.MontyComplete):
                self._need_time()
                snapshot = self._answer(snapshot)
            return self._outcome("done", value=shown(snapshot.output))
        except _End as end:
            return self._outcome(end.why, end.error)
        except Halted as halted:
            return self._outcome(halted.why, str(halted))
        except (monty.MontyTypingError, monty.MontySyntaxError) as error:
            problems = "\n".join(map(str, problems_of(error, is_call=True)))
            return self._outcome("failed", f"refused before its first step:\n{problems}")
        except monty.MontyRuntimeError as error:
            return self._raised(error)
        except monty.MontyCrashedError:
            # Ctrl-C on a terminal reaches the worker too; whoever asked to stop says so.
            is_stopped = not self._is_late() and self._stop()
            return self._outcome("stopped", "stopped from outside") if is_stopped else self._dead()

    def _dead(self) -> Outcome:
        return self._outcome("budget" if self._is_late() else "failed", self._died())

    def _raised(self, error: Any) -> Outcome:
        if is_out_of_time(error):
            return self._outcome("budget", self._out_of_time())
        if is_out_of_memory(error, self._source):
            memory = f"the memory budget of {self._budget.memory_bytes >> 20} MB is spent"
            return self._outcome("budget", f"{memory}\n{traceback_of(error)}")
        return self._outcome("failed", traceback_of(error))

    def _answer(self, snapshot: Any) -> Any:
        import pydantic_monty as monty

        if isinstance(snapshot, monty.FunctionSnapshot):
            if snapshot.is_os_function:
                return snapshot.resume_not_handled()
            return self._answer_call(snapshot)
        if isinstance(snapshot, monty.NameLookupSnapshot):
            return self._answer_name(snapshot)
        raise _End("failed", "it waits for something that never comes; atoms are called, not awaited")

    def _answer_name(self, snapshot: NameLookupSnapshot) -> Any:
        name = snapshot.variable_name
        if snapshot.object_id is not None or name not in self._specs:
            return snapshot.resume()

        def atom() -> None: ...

        # Only its name crosses: a call of it comes back here as a pause.
        atom.__name__ = atom.__qualname__ = name
        return snapshot.resume(value=atom)

    def _answer_call(self, snapshot: FunctionSnapshot) -> Any:
        spec = self._specs.get(str(snapshot.function_name)) if snapshot.object_id is None else None
        if spec is None:
            message = f"name {str(snapshot.function_name)[:80]!r} is not defined"
            return snapshot.resume({"exc_type": "NameError", "message": message})
        if self._stop():
            raise _End("stopped", f"stopped from outside, before {spec.name}")
        if self._steps() >= self._budget.steps:
            raise _End("budget", f"the budget of {self._budget.steps} steps is spent, before {spec.name}")
        self._calls += 1
        try:
            given = bind(spec, plain(snapshot.args), plain(snapshot.kwargs))
        except NotPlain as error:
            return snapshot.resume({"exc_type": "TypeError", "message": f"{spec.name}: it was given {error}"})
        except TypeError as error:
            return snapshot.resume({"exc_type": "TypeError", "message": str(error)})
        except ValueError as error:
            return snapshot.resume({"exc_type": "ValueError", "message": str(error)})
        try:
            result = self._atoms[spec.name](**given)
        except AtomFailed as error:
            message = str(error)[:_MAX_ATOM_ERROR]
            return snapshot.resume({"exc_type": "RuntimeError", "message": message})
        self._need_time()
        return snapshot.resume({"return_value": clean(result)[0]})

    # --- what is spent

    def _steps(self) -> int:
        return self._count() - self._before

    def _is_late(self) -> bool:
        late = time.monotonic() - self._began >= self._budget.seconds
        return late or (self._watchdog is not None and self._watchdog.has_bitten)

    def _need_time(self) -> None:
        if self._is_late():
            raise _End("budget", self._out_of_time())

    def _out_of_time(self) -> str:
        return f"the time budget of {self._budget.seconds:g} s is spent"

    def _died(self) -> str:
        return self._out_of_time() if self._is_late() else "the interpreter died of it (memory or stack)"

    def _outcome(self, why: Why, error: str | None = None, value: Any = None) -> Outcome:
        seconds = time.monotonic() - self._began
        return Outcome(why, value, error, self._printed.text, self._steps(), self._calls, round(seconds, 4))


def _line(text: str, offset: int) -> int:
    return text.encode()[:offset].count(b"\n") + 1
