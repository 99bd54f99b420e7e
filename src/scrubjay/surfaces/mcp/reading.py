"""The tools that only read: locate, look, documents, procedures, check.

They hold a memory that was opened read-only, so that none of them can change a file of it.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from typing import Any

from scrubjay.agent.asked import query_of, reference_of, references_of
from scrubjay.agent.toolbox import RECORDED
from scrubjay.errors import InvalidInput, NotFound, ScrubjayError
from scrubjay.memory.checking import check
from scrubjay.memory.file_memory import FileMemory
from scrubjay.memory.jsonio import Json
from scrubjay.memory.paths import given_path
from scrubjay.memory.procedure_files import Kind
from scrubjay.memory.procedures import Procedure
from scrubjay.memory.records import Row
from scrubjay.public import Memory
from scrubjay.retrieval.given import given_frame
from scrubjay.retrieval.inspections import Inspector
from scrubjay.retrieval.lines import line_of
from scrubjay.retrieval.looking import MOST_IN_SHEET
from scrubjay.retrieval.query import Query
from scrubjay.retrieval.views import Bounds, Source, View
from scrubjay.surfaces.apart import Apart, Found
from scrubjay.surfaces.mcp.asked import Ask, Asked
from scrubjay.surfaces.mcp.given import decoded
from scrubjay.surfaces.mcp.results import Answer, Link, Picture, bounded, cut, row_json, within
from scrubjay.surfaces.mcp.uris import DocumentAddress, FrameAddress

__all__ = ["BOUNDS", "Progress", "Reading"]

Progress = Callable[[int, int], None]

BOUNDS = Bounds(max_bytes=600_000)  # 800 KB of base64: some clients refuse a result of more than 1 MB
_MOST_ROWS = 60
_MOST_LINE = 4_000
_MOST_ROW_TEXT = 40_000
_MOST_LINKS = 16
_MOST_PROBLEMS = 100
_MOST_RUNS = 200


class Reading:
    """Answers calls from any thread. `asked` is where a question waits for its answer; None: none can be kept."""

    def __init__(self, memory: Memory, asked: Asked | None) -> None:
        self._memory, self._asked = memory, asked
        self._locating = threading.Lock()  # what the locator keeps open is used by one call at a time
        self._apart = Apart(memory.root)

    def close(self) -> None:
        """Lets go of the index."""
        self._apart.close()
        with self._locating:
            self._memory.close()

    # --- locate

    def episodes(self, arguments: Json) -> Answer:
        """The rows that match, as lines and as objects; `more` is what `after` takes for the next page."""
        query = query_of(arguments, _MOST_ROWS)
        if query.regex is not None:
            return self._episodes(self._apart.find(query))
        with self._locating:
            found = Found.of(self._memory.find(query))
        return self._episodes(found)

    def _episodes(self, matches: Found) -> Answer:
        worlds = self._memory.worlds()
        rows = within([row_json(row) for row in matches.rows], _MOST_ROW_TEXT)
        shown = matches.rows[: len(rows)]
        grounds = [worlds[row.world].ground if row.world in worlds else (0, 2) for row in shown]
        lines = [cut(line_of(row, ground), _MOST_LINE) for row, ground in zip(shown, grounds, strict=True)]
        more = matches.more if len(rows) == len(matches.rows) else shown[-1].id
        structured: Json = {"recorded": RECORDED, "rows": rows, "more": more}
        told = [RECORDED, *lines] if lines else ["(no matching episodes)"]
        if more is not None:
            told.append(f"(more rows follow: after {more})")
        if matches.documents:
            found = [(one.path, one.line, cut(one.text, 500)) for one in matches.documents]
            structured["documents"] = [{"path": path, "line": line, "text": text} for path, line, text in found]
            told += [f"mine/{path}:{line}  {text}" for path, line, text in found]
        return Answer("\n".join(told), structured)

    # --- inspect

    def look(self, arguments: Json) -> Answer:
        """One stored frame, or a region of it."""
        reference = reference_of(arguments["reference"])
        return self._seen(
            lambda inspector: inspector.look(
                reference,
                zoom=arguments.get("zoom"),
                camera=arguments.get("camera"),
                question=arguments.get("question"),
            )
        )

    def sheet(self, arguments: Json) -> Answer:
        """The frames of several episodes in one picture."""
        references = references_of(arguments["references"])
        return self._seen(lambda inspector: inspector.sheet(references, question=arguments.get("question")))

    def compare(self, arguments: Json) -> Answer:
        """Several frames, each as large as there is room."""
        references = references_of(arguments["references"])
        return self._seen(lambda inspector: inspector.compare(references, question=arguments.get("question")))

    def then_now(self, arguments: Json) -> Answer:
        """A remembered frame beside the current one."""
        reference = reference_of(arguments["reference"])
        self._memory.episode(reference)  # else a file of this name would be shown
        now = self._now(arguments.get("now"))
        return self._seen(lambda inspector: inspector.then_now(reference, now=now, question=arguments.get("question")))

    def _now(self, given: str | None) -> bytes:
        """The current picture: the one given, the one referred to, or the newest that is recorded."""
        if given is not None and not given.startswith("ep_"):
            # Small, since it is kept with its question.
            return given_frame(decoded(given, "now"), BOUNDS).data
        if given is not None:
            return Inspector(self._memory, BOUNDS).look(reference_of(given)).data
        with self._locating:
            newest = self._memory.find(Query(last=1)).rows
        if not newest:
            raise NotFound("nothing is recorded yet: give the current picture as `now`")
        try:
            frame = self._memory.episode(newest[0]).end_frame()
        except NotFound as error:
            raise NotFound(f"{error}; give the current picture as `now`") from None
        return given_frame(frame.data, BOUNDS).data

    def _seen(self, ask: Ask) -> Answer:
        view = ask(Inspector(self._memory, BOUNDS))
        names = list(dict.fromkeys(str(source.reference) for source in view.sources if source.reference is not None))
        structured: Json = {"recorded": RECORDED, "sources": [self._source(source) for source in view.sources]}
        structured["rows"] = within([row_json(row) for row in self._rows(view)])
        told = [f"{RECORDED} {', '.join(names)}"]
        told += [f"{source.reference}: {source.missing}" for source in view.sources if source.missing]
        if view.left_out:
            structured["left_out"] = view.left_out
            told.append(f"{view.left_out} more had no room: ask for at most {MOST_IN_SHEET} at once")
        if view.question is not None:
            self._tell_question(view, ask, structured, told)
        links = list(dict.fromkeys(link for source in view.sources if (link := self._link(source)) is not None))
        return Answer("\n".join(told), structured, (Picture(view.data, view.media_type),), links[:_MOST_LINKS])

    def _tell_question(self, view: View, ask: Ask, structured: Json, told: list[str]) -> None:
        structured["question"] = view.question
        if self._asked is None:
            structured["warning"] = view.warning
            told.append(str(view.warning))
            return
        structured["id"] = self._asked.keep(ask)
        structured["next"] = f"give what you see to answer, with id {structured['id']}: that keeps question and answer"
        told.append(f"question {structured['id']}: {structured['next']}")

    def _rows(self, view: View) -> Iterator[Row]:
        for ident in dict.fromkeys(source.reference.episode for source in view.sources if source.reference):
            try:
                yield self._memory.episode(ident).row
            except ScrubjayError:
                continue  # its source says what is wrong

    def _source(self, source: Source) -> Json:
        said: Json = {"reference": None if source.reference is None else str(source.reference)}
        for name in ("camera", "region", "size", "at", "missing"):
            value = getattr(source, name)
            if value is not None:
                said[name] = list(value) if isinstance(value, tuple) else value
        link = self._link(source)
        return said if link is None else {**said, "frame": link.uri}

    def _link(self, source: Source) -> Link | None:
        if source.reference is None or source.missing is not None:
            return None
        step: int | str = "start" if source.reference.step is None else source.reference.step
        address = FrameAddress(source.reference.episode, step, source.camera)
        return Link(str(address), f"{source.reference}, as recorded")

    # --- documents and procedures

    def documents(self, arguments: Json) -> Answer:
        """A document with line numbers, or the list of what is there."""
        path = arguments.get("path", "/memories")
        command = {"command": "view", "path": path, "view_range": arguments.get("view_range")}
        shown = FileMemory(self._memory.documents).execute(command)
        inside = given_path(path)
        uri = f"; it lies whole at {DocumentAddress(inside)}" if inside else ""
        return Answer.of_text(bounded(shown, f"give view_range{uri}"))

    def procedures(self, arguments: Json) -> Answer:
        """Procedures with the record of their calls; one with its text and code; calls."""
        kind: Kind = arguments.get("kind", "procedure")
        match arguments["command"]:
            case "list":
                return self._list()
            case "show":
                return self._show(self._memory.procedures.get(_named(arguments), kind))
            case _:
                last = min(max(int(arguments.get("last", 20)), 1), _MOST_RUNS)
                runs = self._memory.procedures.runs(arguments.get("name"), last=last)
                return self._runs([run.to_json() for run in runs])

    def _list(self) -> Answer:
        procedures = self._memory.procedures
        rows = [self._procedure(one) for kind in ("procedure", "reflex") for one in procedures.list(kind)]
        flaws = [str(flaw) for flaw in procedures.flaws()]
        told = [
            f"{row['signature']} [{row['kind']}, {row['status']}] {row['description']} ({row['record']})"
            for row in rows
        ]
        text = bounded("\n".join([*(told or ["(no procedures)"]), *flaws]), "show one by its name")
        shown = within(rows)
        return Answer(text, {"procedures": shown, "left_out": len(rows) - len(shown), "flaws": within(flaws)})

    def _procedure(self, one: Procedure) -> Json:
        record = str(self._memory.procedures.statistics(one.name, one.kind))
        return {
            "name": one.name, "kind": one.kind, "status": one.status, "signature": one.signature,
            "description": one.description, "record": record, "path": f"mine/{one.folder}",
            **({"reason": one.reason} if one.status == "disabled" else {}),
        }  # fmt: skip

    def _show(self, one: Procedure) -> Answer:
        parts = [one.text, f"--- mine/{one.script}\n{one.source or ''}"] if one.script else [one.text]
        text = bounded("\n".join(parts), f"read_documents shows mine/{one.folder} in parts")
        return Answer(text, {**self._procedure(one), "text": text})

    def _runs(self, rows: list[Json]) -> Answer:
        told = [f"{row['time']} {row['procedure']} {row['outcome']} {row['steps']} steps" for row in rows]
        shown = [{**row, "error": row["error"] and cut(row["error"], 500)} for row in rows]
        kept = within(shown[::-1])[::-1]  # the newest
        text = bounded("\n".join(told or ["(no calls)"]), "ask for fewer")
        return Answer(text, {"runs": kept, "left_out": len(shown) - len(kept)})

    # --- check

    def check(self, arguments: Json, progress: Progress) -> Answer:
        """The report of a check; the first problems, and how many there are."""
        report = check(self._memory.layout, progress)
        shown = [cut(str(problem), 500) for problem in report.problems[:_MOST_PROBLEMS]]
        verdict = "sound: nothing is wrong" if report.is_sound else f"{len(report.problems)} problems"
        counted = ", ".join(f"{count:,} {name}" for name, count in sorted(report.counts.items()))
        notes = [cut(f"note: {note}", 500) for note in report.notes[:_MOST_PROBLEMS]]
        more = [
            f"({count - _MOST_PROBLEMS} more {what}: `scrubjay check` in a shell shows them)"
            for count, what in ((len(report.problems), "problems"), (len(report.notes), "notes"))
            if count > _MOST_PROBLEMS
        ]
        text = bounded("\n".join([*shown, *notes, *more, counted, verdict]), "run `scrubjay check` in a shell")
        structured = {"sound": report.is_sound, "problem_count": len(report.problems), "problems": shown}
        return Answer(
            text, {**structured, "notes": notes, "note_count": len(report.notes), "counts": dict(report.counts)}
        )

    def handlers(self) -> dict[str, Callable[[Json, Progress], Answer]]:
        """What carries out each tool."""

        def plain(work: Callable[[Json], Answer], arguments: Json, progress: Progress) -> Answer:
            return work(arguments)

        works = {
            "episodes": self.episodes, "look": self.look, "sheet": self.sheet, "then_now": self.then_now,
            "compare": self.compare, "read_documents": self.documents, "procedures": self.procedures,
        }  # fmt: skip
        return {**{name: functools.partial(plain, work) for name, work in works.items()}, "check": self.check}


def _named(arguments: Json) -> str:
    name: Any = arguments.get("name")
    if name is None:
        raise InvalidInput("show needs the name of a procedure; list says which there are")
    return str(name)
