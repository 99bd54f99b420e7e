"""Attempts at tasks, read from a memory: which code was tried, in which context, in which episodes, and how it went.

An attempt is a call of a procedure (a row of `procedures.jsonl`), or a plan of atoms that a model handed in (a turn).
It reads; what is made of attempts it does not know.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scrubjay.errors import Damaged, InvalidInput, NotFound
from scrubjay.memory import journal
from scrubjay.memory.evidence import read_record
from scrubjay.memory.jsonio import Json
from scrubjay.memory.procedure_files import folder_of, function_of
from scrubjay.memory.procedure_runs import Run
from scrubjay.parametric.backbone import Generation
from scrubjay.parametric.categories import Categories
from scrubjay.parametric.contexts import Context
from scrubjay.parametric.generated import parse
from scrubjay.parametric.verification import Evidence, Verifiers, evidence_of

if TYPE_CHECKING:
    from scrubjay.public import Memory

__all__ = ["Attempt", "Attempts", "Lost", "call_of"]


_NO_CODE = "its call can't be written as code"


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt. `order` is the number of its first episode, `procedure` the name where one was called."""

    context: Context
    code: str
    episodes: tuple[str, ...]
    ok: bool
    order: int
    procedure: str | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Lost:
    """An attempt that can't be learned from, and why: in words that are counted."""

    category: str | None
    why: str


class Attempts:
    """The attempts of a memory, oldest first, verified."""

    def __init__(self, memory: Memory, categories: Categories, verifiers: Verifiers | None = None) -> None:
        self._memory, self._categories = memory, categories
        self._verifiers = verifiers or Verifiers()
        self._codes: dict[tuple[str, str], str | None] = {}
        self._described: dict[str, str] | None = None

    def all(self) -> list[Attempt | Lost]:
        """Calls and plans together, in the order of their episodes; what can't be used among them."""
        runs = list(self._memory.procedures.runs())
        called = {episode for run in runs for episode in run.episodes}
        found = [self._of_run(run) for run in runs if run.kind == "procedure" and run.outcome != "stopped"]
        found += self._plans(called)
        return sorted(found, key=lambda one: one.order if isinstance(one, Attempt) else -1)

    def _of_run(self, run: Run) -> Attempt | Lost:
        named = self._categories.known(run.category)
        try:
            records = [self._record(ident) for ident in run.episodes]
        except (NotFound, Damaged, InvalidInput):
            return Lost(named, "its episode is not there")
        if not records:
            return Lost(named, "it names no episode")
        code = self._code(run)
        if code is None:
            return Lost(named, "the code that ran is not in the history")
        called = call_of(code, run.procedure, run.arguments)
        if called is None:
            return Lost(named, _NO_CODE)
        task = _task_of(records) or self._description(run.procedure)
        return self._judged(task, named, records, called, run.episodes, run.procedure, run.outcome == "success")

    def _judged(
        self,
        task: str,
        named: str | None,
        records: Sequence[Json],
        code: str,
        episodes: tuple[str, ...],
        procedure: str | None,
        went_well: bool,
    ) -> Attempt | Lost:
        """The category is assigned here: by who named one, by what was verified, by the words of the task."""
        evidence = evidence_of(records)
        category = named or self._categories.of(task)
        verdict = self._verifiers.verify(category, task, evidence)
        if category is None:
            category = self._shown(evidence) if verdict.ok else None
        if category is None:
            return Lost(None, "of no category")
        if verdict.ok and not went_well:  # to learn it would be as wrong as to learn against it
            return Lost(category, "the task was done by a call that failed")
        order = int(episodes[0][3:])
        return Attempt(
            Context(task, category, evidence.before), code, episodes, verdict.ok, order, procedure, verdict.why
        )

    def _shown(self, evidence: Evidence) -> str | None:
        return next(filter(None, map(self._categories.of, evidence.reached)), None)

    def _record(self, ident: str) -> Json:
        record, _ = read_record(self._memory.layout, ident)
        if record.get("removed"):
            raise NotFound(f"{ident} was removed")
        return record

    # --- the code that ran

    def _code(self, run: Run) -> str | None:
        if run.digest is None:
            return None
        key = (run.procedure, run.digest)
        if key not in self._codes:
            self._codes[key] = self._sought(*key)
        return self._codes[key]

    def _sought(self, name: str, digest: str) -> str | None:
        folder = folder_of("procedure", name)
        script = f"{folder}/scripts/{name}.py"
        try:
            present = self._memory.procedures.get(name)
            if present.digest == digest:
                return present.source
            script = present.script or script
        except (NotFound, InvalidInput):
            pass
        try:
            return self._memory.documents.show(script, digest)
        except (NotFound, InvalidInput, Damaged):
            return None

    def _description(self, name: str) -> str:
        if self._described is None:
            self._described = {one.name: one.description for one in self._memory.procedures.list()}
        return self._described.get(name, name.replace("-", " "))

    # --- plans

    def _plans(self, called: set[str]) -> Iterator[Attempt | Lost]:
        for life in self._memory.lives():
            for row in journal.rows(self._memory.layout.turns(life.life)):
                episodes = row.get("episodes")
                named = tuple(map(str, episodes)) if isinstance(episodes, list) else ()
                if named and called.isdisjoint(named):
                    found = self._of_plan(named)
                    if found is not None:
                        yield found

    def _of_plan(self, episodes: tuple[str, ...]) -> Attempt | Lost | None:
        """A plan that calls something; one of raw actions alone teaches a place, not a skill."""
        try:
            records = [self._record(ident) for ident in episodes]
        except (NotFound, Damaged, InvalidInput):
            return Lost(None, "its episode is not there")
        if all(record["arguments"] is None for record in records):
            return None
        task = _task_of(records)
        entries = [_entry(record) for record in records]
        if None in entries:
            return Lost(self._categories.of(task), _NO_CODE)
        code = "def plan():\n" + "".join(f"    {entry}\n" for entry in entries)
        went_well = records[-1]["outcome"] in ("success", None)
        return self._judged(task, None, records, code, episodes, None, went_well)


def _task_of(records: Sequence[Json]) -> str:
    """What the plan said that it was for."""
    plan = records[0].get("plan")
    return str(plan.get("text") or "") if isinstance(plan, dict) else ""


def _entry(record: Json) -> str | None:
    arguments = record["arguments"]
    if arguments is None:  # a raw action
        repeat = record["last_step"] - record["first_step"]
        return f"act({record['action_kind']!r}, {repeat})"
    if not _is_name(record["action_kind"]) or not all(map(_is_name, arguments)):
        return None
    return f"{record['action_kind']}({_given(arguments)})"


def _given(arguments: Json) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in arguments.items())


def _is_name(text: str) -> bool:
    return text.isidentifier() and not keyword.iskeyword(text)


def call_of(source: str, procedure: str, arguments: Json) -> str | None:
    """A source whose function to call, as `generated.parse` chooses it, makes this very call; None where it can't be
    written so."""
    source = source.strip() + "\n"
    try:
        function = function_of(source, procedure, procedure)
    except InvalidInput:
        return None
    if not arguments and _chosen(source) == function:
        return source
    if not all(map(_is_name, arguments)):
        return None
    code = f"{source}\n\ndef call():\n    return {function}({_given(arguments)})\n"
    return code if function != "call" and _chosen(code) == "call" else None


def _chosen(source: str) -> str | None:
    return parse(Generation(source, 0, 0, False)).function
