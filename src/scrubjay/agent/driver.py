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
from scrubjay.agent.driver_brief import (
    EVIDENCE,
    FRAME,
    OBSERVATION,
    PROMPT,
    consolidation_brief,
    driver_brief,
    prompt,
    workshop_brief,
)
from scrubjay.agent.forged import strike_out
from scrubjay.agent.guarding import Guard
from scrubjay.agent.offer import Offer
from scrubjay.agent.planning import CheckCall, Proposals
from scrubjay.agent.reported_usage import usage_of
from scrubjay.agent.workshop import earlier_lives
from scrubjay.errors import InvalidInput, ModelUnavailable, NotFound
from scrubjay.memory import journal
from scrubjay.memory.jsonio import Json
from scrubjay.memory.layout import Layout
from scrubjay.models.chat import Usage
from scrubjay.models.contract import Account, Entry, Plan, Turn

if TYPE_CHECKING:
    from scrubjay.public import Memory

__all__ = ["DRIVER", "Driver", "Patience", "Spent"]

DRIVER = "driver:"  # before a command, where a model is named
_LIFE = "SCRUBJAY_LIFE"
_MOST_ARGUMENT = 100_000  # bytes; Linux starts no command with an argument of more than 128 KiB
_MOST_TOLD = 20  # lines on what had to be put back, for one start of the command


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds that a start of the command may take, starts in a turn, and turns in a row in which it may fail."""

    seconds: float = 600.0
    starts: int = 2
    failures: int = 3


@dataclass(slots=True)
class Spent:
    """What a turn has used so far, and what had to be put back."""

    usage: Usage = field(default_factory=Usage)
    refusals: int = 0
    events: list[str] = field(default_factory=list)


def _tell(line: str) -> None:
    clear = "\r\x1b[2K" if sys.stderr.isatty() else ""  # a line of progress may stand there
    print(f"{clear}{line}", file=sys.stderr, flush=True)


def _nothing_to_call(name: str, arguments: object) -> str | None:
    return f"{name!r} is neither an action nor an atom nor a procedure"


class Driver:
    """A Model that is a command, such as `claude -p`. `check` says what is wrong with a call of an atom or procedure,
    `own` gives lines on the agent's procedures, `rules` are what the environment's author has to say, `tell` is told
    what had to be put back.

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
        rules: str = "",
        patience: Patience | None = None,
        tell: Callable[[str], None] = _tell,
    ) -> None:
        self._command = shlex.split(command)
        found = shutil.which(self._command[0]) if self._command else None
        if found is None:
            raise InvalidInput(f"driver: {command!r} is not a command that can be run here")
        self._command[0] = os.path.abspath(found)  # it is started in another folder
        self._memory, self._check, self._own, self._rules, self._tell = memory, check, own, rules, tell
        self._patience = patience or Patience()
        self._guard: Guard | None = None
        self._proposals = Proposals()
        self._failures = 0

    @property
    def name(self) -> str:
        """`driver:claude` for `claude -p`."""
        return f"{DRIVER}{os.path.basename(self._command[0])}"

    def decide(self, turn: Turn) -> Plan:
        """One turn: starts the command until a valid plan is handed in, a few times at most.

        Where none is, the plan is the environment's first action, and the account says so. Raises ModelUnavailable
        where the command failed in several turns in a row.
        """
        began, spent = time.monotonic(), Spent()
        guard = self._ready(turn.life, spent)
        plan = self._ask(turn, guard, spent)
        account = self._settle(guard, spent, began)
        if plan is None:
            return Plan((Entry(turn.actions[0]),), "the agent handed in no plan", account)
        return Plan(plan[0], plan[1], account)

    def workshop(self, turn: Turn) -> Account:
        """Starts the command once, without a plan to hand in: over the evidence of earlier lives."""
        began, spent = time.monotonic(), Spent()
        guard = self._ready(turn.life, spent)
        observation = f"{self._block(turn)}\n\n{earlier_lives(self._memory, turn.life)}"
        told = _sayable(prompt(workshop_brief(turn, self._relative(turn.life)), observation))
        self._show(turn, observation, told)
        ended = self._run(turn.life, told, guard, spent, 1)
        if ended.status or ended.why:
            spent.events.append(f"workshop: {_how(ended)}")
        return self._settle(guard, spent, began)

    def consolidate(self, life: int, reason: str, evidence: str, refused: str, spent: Spent) -> Json:
        """Starts the command once to consolidate, and returns what it handed in; `refused` is what it is to mend.

        Raises InvalidInput where it handed in nothing that can be read, ModelUnavailable where the command failed.
        """
        guard = self._ready(life, spent)
        told = _sayable(prompt(consolidation_brief(life, reason, self._relative(life)), "", refused))
        self._clear_folder(life)
        folder = self._folder(life)
        _write(os.path.join(folder, EVIDENCE), evidence.encode(errors="backslashreplace"))
        _write(os.path.join(folder, PROMPT), told.encode())
        ended = self._run(life, told, guard, spent, 1)
        try:
            return handed_in.content(self._memory.layout, handed_in.UPDATES, '{"items": []}')
        except InvalidInput:
            if ended.status or ended.why:
                raise ModelUnavailable(f"{self.name} did not consolidate: {_how(ended)}") from None
            raise
        finally:
            handed_in.clear(self._memory.layout)
            self._memory.documents.sync()

    def _ready(self, life: int, spent: Spent) -> Guard:
        guard = self._guarding(life)
        self._note(spent, guard.restore())
        guard.keep()
        return guard

    def _settle(self, guard: Guard, spent: Spent, began: float) -> Account:
        """What the agent wrote is taken over, what it handed in is gone; what the turn used."""
        handed_in.clear(self._memory.layout)
        self._memory.documents.sync()
        return Account(
            spent.usage,
            inspected=self._inspected(guard),
            refusals=spent.refusals,
            seconds=time.monotonic() - began,
            events=tuple(spent.events),
        )

    def _guarding(self, life: int) -> Guard:
        if self._guard is None or self._guard.life != life:
            self.close()
            self._guard, self._proposals = Guard(self._memory.layout, life), Proposals()
        return self._guard

    def _ask(self, turn: Turn, guard: Guard, spent: Spent) -> tuple[tuple[Entry, ...], str] | None:
        layout, refused, status = self._memory.layout, "", 0
        brief, observation = driver_brief(turn, self._relative(turn.life), self._rules), self._block(turn)
        for start in range(1, self._patience.starts + 1):
            told = _sayable(prompt(brief, observation, refused))
            self._show(turn, observation, told)
            ended = self._run(turn.life, told, guard, spent, start)
            if ended.why == "stopped":
                return None
            try:
                entries, intention = handed_in.read(layout, turn.turn, turn.actions, self._check)
                self._proposals.judge(entries, turn.unchanged)
            except InvalidInput as error:
                refused, status = f"mine/{Layout.ACTIONS}: {error}", ended.status
                spent.refusals += 1
                spent.events.append(f"no plan: {error} ({_how(ended)})")
                continue
            self._failures = 0
            return entries, intention
        self._count_failure(status)
        return None

    def _run(self, life: int, told: str, guard: Guard, spent: Spent, start: int) -> child.Ended:
        layout = self._memory.layout
        handed_in.clear(layout)
        try:
            argument = self._argument(life, told)
            ended = child.run([*self._command, argument], layout.root, _environment(life), self._patience.seconds)
        finally:  # also where a second Ctrl-C interrupts: what the agent did until then is put back
            self._note(spent, guard.restore())
            forged = strike_out(layout, life, guard.episodes, guard.kept_size)
            self._note(spent, forged)
        spent.usage += usage_of(ended.out)
        folder = self._folder(life)
        for name, data in ((f"stdout-{start}.txt", ended.out), (f"stderr-{start}.txt", ended.err)):
            _write(os.path.join(folder, name), data)
        return ended

    def _argument(self, life: int, told: str) -> str:
        """What the command is given: all of it, or where it is too long for that, where it stands."""
        if len(told.encode()) <= _MOST_ARGUMENT:
            return told
        return (
            f"What you are told is too long to be given at once. Read {self._relative(life)}/{PROMPT} first, in parts "
            "where need be, to its end: it says what you are, where you stand and what to hand in."
        )

    def _inspected(self, guard: Guard) -> tuple[str, ...]:
        """The references of the questions that were asked of evidence in this turn; a look without one leaves none."""
        path = self._memory.layout.inspections
        sources = [source for row in journal.rows(path, guard.kept_size(path)) for source in row.get("sources") or ()]
        found = [source.get("reference") for source in sources if isinstance(source, dict)]
        return tuple(dict.fromkeys(one for one in found if isinstance(one, str)))

    def _note(self, spent: Spent, lines: list[str]) -> None:
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

    def _relative(self, life: int) -> str:
        return self._memory.layout.relative(self._memory.layout.turn(life))

    def _block(self, turn: Turn) -> str:
        return block(turn, Offer(), self._memory.grid(), self._own(), self._working(turn.life))

    def _working(self, life: int) -> str | None:
        try:
            return self._memory.documents.read(Layout.working(life))
        except NotFound:
            return None

    def _show(self, turn: Turn, observation: str, told: str) -> None:
        from PIL import Image

        self._clear_folder(turn.life)
        folder = self._folder(turn.life)
        _write(os.path.join(folder, OBSERVATION), observation.encode(errors="backslashreplace"))
        _write(os.path.join(folder, PROMPT), told.encode())
        Image.fromarray(turn.frame).save(os.path.join(folder, FRAME), "PNG")

    def _clear_folder(self, life: int) -> None:
        folder = self._memory.layout.turn(life)
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            os.unlink(folder) if os.path.islink(folder) else shutil.rmtree(folder)

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


def _how(ended: child.Ended) -> str:
    how = {"limit": f"it was ended after {ended.seconds:.0f} s", "stopped": "it was stopped"}
    return how.get(ended.why, f"it ended with status {ended.status}")


def _sayable(text: str) -> str:
    """A text that can be an argument of a command: lone surrogates are escaped."""
    return text.encode(errors="backslashreplace").decode()


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
