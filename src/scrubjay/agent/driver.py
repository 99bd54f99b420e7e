"""A coding agent as the model: its workspace is the memory's folder, and it is any command that takes a prompt.

In every turn the command is started anew, with the brief and the observation as its last argument; it reads, looks
and writes with its own tools and hands in a plan as a file. It is started only because a person chose it: it has a
shell. What it does to the evidence is put back and reported.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Self

from scrubjay.agent import child, handed_in
from scrubjay.agent.block import block
from scrubjay.agent.driver_brief import FRAME, OBSERVATION, driver_brief, prompt
from scrubjay.agent.forged import strike_out
from scrubjay.agent.guarding import Guard
from scrubjay.agent.offer import Offer
from scrubjay.agent.planning import CheckCall, Proposals
from scrubjay.agent.reported_usage import usage_of
from scrubjay.errors import InvalidInput, ModelUnavailable, NotFound
from scrubjay.memory import journal
from scrubjay.memory.layout import Layout
from scrubjay.models.chat import Usage
from scrubjay.models.contract import Account, Entry, Plan, Turn

if TYPE_CHECKING:
    from scrubjay.public import Memory

__all__ = ["Driver", "Patience"]

_LIFE = "SCRUBJAY_LIFE"
_MOST_TOLD = 20  # lines on what had to be put back, for one start of the command


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds that a start of the command may take, starts in a turn, and turns in a row in which it may fail."""

    seconds: float = 600.0
    starts: int = 2
    failures: int = 3


@dataclass(slots=True)
class _Spent:
    """What a turn has used so far, and what had to be put back."""

    usage: Usage = field(default_factory=Usage)
    refusals: int = 0
    events: list[str] = field(default_factory=list)


def _tell(line: str) -> None:
    print(f"scrubjay: {line}", file=sys.stderr, flush=True)


def _nothing_to_call(name: str, arguments: object) -> str | None:
    return f"{name!r} is neither an action nor an atom nor a procedure"


class Driver:
    """A Model that is a command, such as `claude -p`. `check` says what is wrong with a call of an atom or procedure,
    `own` gives lines on the agent's procedures, `tell` is told what had to be put back.

    Raises InvalidInput where there is no such command. Use it in a `with`, or close it: it holds a copy of the
    evidence.
    """

    def __init__(
        self,
        command: str,
        memory: Memory,
        *,
        check: CheckCall = _nothing_to_call,
        own: Callable[[], Sequence[str]] = tuple,
        patience: Patience | None = None,
        tell: Callable[[str], None] = _tell,
    ) -> None:
        self._command = shlex.split(command)
        found = shutil.which(self._command[0]) if self._command else None
        if found is None:
            raise InvalidInput(f"driver: {command!r} is not a command that can be run here")
        self._command[0] = os.path.abspath(found)  # it is started in another folder
        self._memory, self._check, self._own, self._tell = memory, check, own, tell
        self._patience = patience or Patience()
        self._guard: Guard | None = None
        self._proposals = Proposals()
        self._failures = 0

    @property
    def name(self) -> str:
        """`driver:claude` for `claude -p`."""
        return f"driver:{os.path.basename(self._command[0])}"

    def decide(self, turn: Turn) -> Plan:
        """One turn: starts the command until a valid plan is handed in, a few times at most.

        Where none is, the plan is the environment's first action, and the account says so. Raises ModelUnavailable
        where the command failed in several turns in a row.
        """
        began, spent = time.monotonic(), _Spent()
        guard = self._guarding(turn.life)
        self._note(spent, guard.restore())
        guard.keep()
        plan = self._ask(turn, guard, spent)
        handed_in.clear(self._memory.layout)
        self._memory.documents.sync()
        account = Account(
            spent.usage,
            inspected=self._inspected(guard),
            refusals=spent.refusals,
            seconds=time.monotonic() - began,
            events=tuple(spent.events),
        )
        if plan is None:
            return Plan((Entry(turn.actions[0]),), "the agent handed in no plan", account)
        return Plan(plan[0], plan[1], account)

    def _guarding(self, life: int) -> Guard:
        if self._guard is None or self._guard.life != life:
            self.close()
            self._guard, self._proposals = Guard(self._memory.layout, life), Proposals()
        return self._guard

    def _ask(self, turn: Turn, guard: Guard, spent: _Spent) -> tuple[tuple[Entry, ...], str] | None:
        layout, refused, status = self._memory.layout, "", 0
        brief = driver_brief(turn, layout.relative(layout.turn(turn.life)))
        observation = block(turn, Offer(), self._memory.grid(), self._own(), self._working(turn.life))
        for start in range(1, self._patience.starts + 1):
            told = prompt(brief, observation, refused).encode(errors="backslashreplace").decode()  # lone surrogates
            self._show(turn, observation, told)
            ended = self._run(turn, told, guard, spent, start)
            if ended.why == "stopped":
                return None
            try:
                entries, intention = handed_in.read(layout, turn.turn, turn.actions, self._check)
                self._proposals.judge(entries, turn.unchanged)
            except InvalidInput as error:
                refused, status = str(error), ended.status
                spent.refusals += 1
                spent.events.append(_no_plan(refused, ended))
                continue
            self._failures = 0
            return entries, intention
        self._count_failure(status)
        return None

    def _run(self, turn: Turn, told: str, guard: Guard, spent: _Spent, start: int) -> child.Ended:
        layout = self._memory.layout
        handed_in.clear(layout)
        try:
            ended = child.run([*self._command, told], layout.root, _environment(turn.life), self._patience.seconds)
        finally:  # also where a second Ctrl-C interrupts: what the agent did until then is put back
            self._note(spent, guard.restore())
            forged = strike_out(layout, turn.life, guard.episodes, guard.kept_size)
            self._note(spent, forged)
        spent.usage += usage_of(ended.out)
        folder = self._folder(turn.life)
        for name, data in ((f"stdout-{start}.txt", ended.out), (f"stderr-{start}.txt", ended.err)):
            _write(os.path.join(folder, name), data)
        return ended

    def _inspected(self, guard: Guard) -> tuple[str, ...]:
        """The references of the questions that were asked of evidence in this turn; a look without one leaves none."""
        path = self._memory.layout.inspections
        sources = [source for row in journal.rows(path, guard.kept_size(path)) for source in row.get("sources") or ()]
        found = [source.get("reference") for source in sources if isinstance(source, dict)]
        return tuple(dict.fromkeys(one for one in found if isinstance(one, str)))

    def _note(self, spent: _Spent, lines: list[str]) -> None:
        shown = lines[:_MOST_TOLD] + ([f"and {len(lines) - _MOST_TOLD} more"] if len(lines) > _MOST_TOLD else [])
        for line in shown:
            self._tell(line)
        spent.events += shown

    def _count_failure(self, status: int) -> None:
        """A command that can't work (no key, no connection) is no player that thinks badly: the steps are kept."""
        self._failures = self._failures + 1 if status else 0
        if self._failures >= self._patience.failures:
            raise ModelUnavailable(
                f"{shlex.join(self._command)} ended with status {status} and without a plan in {self._failures} turns "
                "in a row; what it printed lies in the life's folder, under turn/"
            )

    # --- what it is shown

    def _working(self, life: int) -> str | None:
        try:
            return self._memory.documents.read(Layout.working(life))
        except NotFound:
            return None

    def _show(self, turn: Turn, observation: str, told: str) -> None:
        from PIL import Image

        folder = self._memory.layout.turn(turn.life)
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            os.unlink(folder) if os.path.islink(folder) else shutil.rmtree(folder)
        folder = self._folder(turn.life)
        _write(os.path.join(folder, OBSERVATION), observation.encode(errors="backslashreplace"))
        _write(os.path.join(folder, "prompt.md"), told.encode())
        Image.fromarray(turn.frame).save(os.path.join(folder, FRAME), "PNG")

    def _folder(self, life: int) -> str:
        """The turn's folder, really a folder: the agent may have put a link in its place."""
        path = self._memory.layout.turn(life)
        if os.path.islink(path) or not os.path.isdir(path):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
            os.mkdir(path)
        return path

    # --- the end

    def close(self) -> None:
        """Lets go of the copy of the evidence; what is recorded can be written again."""
        if self._guard is not None:
            self._guard.close()
            self._guard = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _no_plan(refused: str, ended: child.Ended) -> str:
    how = {"limit": f"it was ended after {ended.seconds:.0f} s", "": f"it ended with status {ended.status}"}
    return f"no plan: {refused} ({how[ended.why]})"


def _environment(life: int) -> dict[str, str]:
    """Ours, with the life it is in, and with the `scrubjay` command where the person's PATH has none."""
    here = os.path.dirname(sys.executable)
    return {**os.environ, _LIFE: str(life), "PATH": f"{os.environ.get('PATH', os.defpath)}{os.pathsep}{here}"}


def _write(path: str, data: bytes) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    with open(descriptor, "wb") as file:
        file.write(data)
