"""Procedural memory: the procedures and reflexes that an agent wrote, and how their calls went.

Every edit goes through the agent's documents, so it has a history and can be undone. It runs nothing.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable

from scrubjay.errors import Conflict, Damaged, InvalidInput, NotFound, ReadOnly
from scrubjay.memory import procedure_files
from scrubjay.memory.citations import citations
from scrubjay.memory.documents import Documents
from scrubjay.memory.evidence import read_record
from scrubjay.memory.front_matter import FrontMatter, edited, parse, render
from scrubjay.memory.layout import Layout, Reference, parse_reference
from scrubjay.memory.procedure_files import KINDS, Flaw, Kind, Procedure, folder_of, normal_name
from scrubjay.memory.procedure_runs import Run, Runs, Statistics
from scrubjay.memory.records import is_number

__all__ = ["Flaw", "Procedure", "Procedures", "Run", "Statistics"]

List = list[Procedure]
_MAX_DESCRIPTION = 1024


class Procedures:
    """The procedures of a memory. `kind` is `procedure` or `reflex` everywhere; names are found however spelled.

    All that write raise what the documents raise: ReadOnly, StorageFull, Conflict.
    """

    def __init__(self, layout: Layout, documents: Documents, read_only: bool = False) -> None:
        self._layout, self._documents, self._read_only = layout, documents, read_only
        self.calls = Runs(layout)

    # --- reading

    def list(self, kind: Kind = "procedure") -> List:
        """Those that can be used, of every status, in the order of names."""
        return [*procedure_files.find(self._documents, kind).procedures]

    def flaws(self) -> tuple[Flaw, ...]:
        """What is wrong with the folders that can't be used, and which of them have the same name."""
        return tuple(itertools.chain.from_iterable(procedure_files.find(self._documents, kind).flaws for kind in KINDS))

    def get(self, name: str, kind: Kind = "procedure") -> Procedure:
        """One by its name. Raises NotFound, and InvalidInput where it is there but can't be used."""
        wanted = normal_name(name)
        found = procedure_files.find(self._documents, kind)
        for procedure in found.procedures:
            if procedure.name == wanted:
                return procedure
        for flaw in found.flaws:
            if _is_called(flaw.path, wanted):
                raise InvalidInput(str(flaw))
        names = ", ".join(procedure.name for procedure in found.procedures) or "none"
        raise NotFound(f"there is no {kind} {wanted}; there are: {names}")

    # --- writing

    def create(
        self,
        name: str,
        description: str,
        *,
        code: str | None = None,
        text: str = "",
        cites: Iterable[str] = (),
        status: str = "candidate",
        category: str | None = None,
        kind: Kind = "procedure",
        author: str = "agent",
    ) -> Procedure:
        """Makes a procedure; `code` is Python with a function of its name or `main`, `cites` are references.

        Raises Conflict where one has this name, however it is spelled.
        """
        name = normal_name(name)
        taken = self._taken(name, kind)
        if taken is not None:
            raise Conflict(f"{name} exists already, as mine/{taken}: update it, or choose another name")
        if status not in procedure_files.STATUSES:
            known = ", ".join(procedure_files.STATUSES)
            raise InvalidInput(f"status: one of {known} was expected, found {status!r:.80}")
        folder = folder_of(kind, name)
        metadata = {"status": status, "version": "1"}
        cited = self._cited(cites)
        if cited:
            metadata["cites"] = cited
        script = f"{folder}/{Layout.SCRIPTS}/{name}.py"
        if category is not None:
            metadata["category"] = category
        if code is not None:
            # Said in the head, which is written first and claims the name: a kill in between is seen as what it is.
            metadata["script"] = f"{Layout.SCRIPTS}/{name}.py"
            procedure_files.function_of(code, name, f"mine/{script}")
        elif kind == "reflex":
            raise InvalidInput(f"{name}: a reflex needs code: it is checked while others run")
        head = FrontMatter({"name": name, "description": _one_line(description)}, metadata, text)
        self._documents.create(f"{folder}/{Layout.SKILL}", render(head), author=author)
        if code is not None:
            self._documents.write(script, code, author=author)
        return self.get(name, kind)

    def _taken(self, name: str, kind: Kind) -> str | None:
        folders = self._documents.listing(folder_of(kind, "")[:-1], depth=1).folders
        return next(
            (
                folder
                for folder in sorted(folders)
                if _is_called(folder, name) and self._documents.status(f"{folder}/{Layout.SKILL}")
            ),
            None,
        )

    def update(
        self,
        name: str,
        *,
        description: str | None = None,
        code: str | None = None,
        text: str | None = None,
        cites: Iterable[str] | None = None,
        expected: str | None = None,
        kind: Kind = "procedure",
        author: str = "agent",
    ) -> Procedure:
        """Changes what is given, and counts the version up.

        Raises Conflict where `expected` is the digest of other code than the present one.
        """
        procedure = self.get(name, kind)
        if expected is not None and expected != procedure.digest:
            raise Conflict(f"{procedure.name} was changed by another since you read it: read it again, then update")
        changed = {"version": str(_number(procedure.version) + 1)}
        if cites is not None:
            changed["cites"] = self._cited(cites)
        if code is not None:
            script = procedure.script or f"{procedure.folder}/{Layout.SCRIPTS}/{procedure.name}.py"
            procedure_files.function_of(code, procedure.name, f"mine/{script}")
            digest = procedure.digest if procedure.script is not None else None
            self._documents.write(script, code, expected=digest, author=author)
        fields = {} if description is None else {"description": _one_line(description)}
        self._edit(procedure, fields, changed, text, author)
        return self.get(name, kind)

    def disable(self, name: str, reason: str, *, kind: Kind = "procedure", author: str = "agent") -> Procedure:
        """Offers it no longer. `reason` cites the episodes that speak against it: `fails on ice [ep_000043]`.

        Raises InvalidInput where it cites nothing that is there.
        """
        procedure = self.get(name, kind)
        references = [citation.reference for citation in citations(reason)]
        if not references:
            raise InvalidInput(f"why is {procedure.name} disabled? Name an episode that shows it: [ep_000043]")
        for reference in references:
            self._need(reference)
        self._edit(procedure, {}, {"status": "disabled", "reason": " ".join(reason.split())}, None, author)
        return self.get(name, kind)

    def enable(self, name: str, *, kind: Kind = "procedure", author: str = "agent") -> Procedure:
        """Offers it again. History keeps why it was disabled."""
        procedure = self.get(name, kind)
        self._edit(procedure, {}, {"status": "active", "reason": ""}, None, author)
        return self.get(name, kind)

    def _edit(
        self, procedure: Procedure, fields: dict[str, str], metadata: dict[str, str], text: str | None, author: str
    ) -> None:
        path = f"{procedure.folder}/{Layout.SKILL}"

        def changed(present: str) -> str:
            new = edited(present, f"mine/{path}", fields, metadata)
            if text is None:
                return new
            body = parse(new, f"mine/{path}").body
            return new.removesuffix(body).rstrip("\n") + "\n\n" + text.lstrip("\n")

        self._documents.edit(path, changed, operation="write", author=author)

    def _cited(self, cites: Iterable[str]) -> str:
        references = [parse_reference(text) for text in cites]
        for reference in references:
            self._need(reference)
        return f"[{', '.join(map(str, references))}]" if references else ""

    def _need(self, reference: Reference) -> None:
        try:
            record, _ = read_record(self._layout, reference.episode)
        except (NotFound, Damaged) as error:
            raise InvalidInput(f"{reference} can't be cited: {error}") from None
        first, last = record.get("first_step"), record.get("last_step")
        step = reference.step
        if step is not None and not (is_number(first) and is_number(last) and first <= step <= last):
            raise InvalidInput(f"{reference} can't be cited: {reference.episode} has steps {first} to {last}")

    # --- the record of calls

    def record(self, run: Run) -> None:
        """Keeps how a call went. Written by the harness, outside of what an agent can edit."""
        if self._read_only:
            raise ReadOnly(f"{self._layout.root} is open read-only: no call of a procedure can be kept in it")
        self.calls.record(dataclasses.replace(run, procedure=normal_name(run.procedure)))

    def runs(self, name: str | None = None, *, last: int | None = None) -> tuple[Run, ...]:
        """The calls of one procedure, or of all, in order; the newest `last` of them where given."""
        wanted = None if name is None else normal_name(name)
        if last is None:
            return tuple(run for run in self.calls.oldest() if wanted in (None, run.procedure))
        newest = (run for run in self.calls.newest() if wanted in (None, run.procedure))
        return tuple(itertools.islice(newest, last))[::-1]

    def statistics(self, name: str, kind: Kind = "procedure") -> Statistics:
        """What its calls add up to; failures in a row are those of the code that is there now."""
        return self._statistics(self.get(name, kind))

    def _statistics(self, procedure: Procedure) -> Statistics:
        found = self.calls.statistics(procedure.name, procedure.kind)
        if found.digest in (None, procedure.digest):
            return found
        return dataclasses.replace(found, failures_in_a_row=0, digest=procedure.digest, error=None)

    def offer(self, kind: Kind = "procedure") -> tuple[str, ...]:
        """A line for each that may be called: signature, what it does, its record."""
        return tuple(
            f"{one.signature}: {one.description} ({self._statistics(one)})"
            for one in self.list(kind)
            if one.status != "disabled"
        )


def _is_called(folder: str, name: str) -> bool:
    try:
        return normal_name(folder.rpartition("/")[2]) == name
    except InvalidInput:
        return False


def _one_line(description: str) -> str:
    line = " ".join(description.split())
    if not line or len(line) > _MAX_DESCRIPTION:
        raise InvalidInput(f"description: one line of at most {_MAX_DESCRIPTION} characters on what it does, and when")
    return line


def _number(version: str) -> int:
    return int(version) if version.isdecimal() and len(version) < 9 else 0
