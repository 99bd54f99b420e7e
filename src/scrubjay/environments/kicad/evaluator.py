"""The evaluator's view of a life: what each save changed in the netlist, and the score at the end.

It reads the project's files, which the agent can't see. What it notes is for the record and the report, and never
part of an observation.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from scrubjay.environments.kicad.comparing import differences
from scrubjay.environments.kicad.netlist import Netlist
from scrubjay.environments.kicad.project import NETLIST, SCHEMATIC, files_of, root_schematic
from scrubjay.environments.kicad.scoring import Score, export, score
from scrubjay.environments.kicad.tasks import Task
from scrubjay.errors import ScrubjayError
from scrubjay.memory.jsonio import Json

__all__ = ["Evaluator"]

_EMPTY = Netlist((), ())
_SETTLED = 0.05  # seconds since the last write, after which a file is taken to be whole


class Evaluator:
    """Watches the project folder of one life. `rows` are what it noted, oldest first; `keep` is given each at once."""

    def __init__(self, task: Task, project: Path, keep: Callable[[Json], None] = lambda row: None) -> None:
        self._task, self._project, self._keep = task, project, keep
        self._rows: list[Json] = []
        self._seen = self._files()
        schematic = root_schematic(project)
        self._netlist = _EMPTY if schematic is None else export(schematic)
        self._score: Score | None = None
        self._floor = self._judge()

    @property
    def rows(self) -> tuple[Json, ...]:
        """What it noted: saves with their changes, and the score once the life has ended."""
        return tuple(self._rows)

    def after(self, step: int) -> None:
        """Looks whether a file was saved since the last look, and notes what that changed."""
        files = self._files()
        saved = sorted(name for name, stamp in files.items() if self._seen.get(name) != stamp)
        self._seen = files
        for name in saved:
            self._note(step, name)

    def end(self, step: int, ending: str | None) -> None:
        """Judges the project as it lies. A second call does nothing."""
        if any(row["event"] == "score" for row in self._rows):
            return
        self.after(step)
        result = self._judge()
        row = {"event": "score", "step": step, "time": _now(), "ending": ending, "task": self._task.id}
        floor = self._floor["score"]
        self._add({**row, **result, "floor": floor})

    def _judge(self) -> Json:
        try:
            result = score(self._task, self._project)
        except ScrubjayError as error:
            return {"score": None, "error": str(error)}
        told = result.to_json()
        source = None if result.source is None else str(Path(result.source).relative_to(self._project))
        return {**told, "source": source}

    def _note(self, step: int, name: str) -> None:
        row: Json = {
            "event": "exported" if name.endswith(NETLIST) else "saved",
            "step": step,
            "time": _now(),
            "file": name,
        }
        try:
            now = self._netlist_of(name)
        except ScrubjayError as error:
            self._add({**row, "error": str(error)})
            return
        changes = differences(self._netlist, now)
        self._netlist = now
        self._add({**row, "changes": list(changes)})

    def _netlist_of(self, name: str) -> Netlist:
        """What the project says now: a sheet that was saved says it as part of the whole."""
        path = self._project / name
        return Netlist.load(path) if name.endswith(NETLIST) else export(root_schematic(self._project) or path)

    def _add(self, row: Json) -> None:
        self._rows.append(row)
        self._keep(row)

    def _files(self) -> dict[str, tuple[int, int]]:
        found = {**files_of(self._project, SCHEMATIC), **files_of(self._project, NETLIST)}
        if any(time.time() - status.st_mtime < _SETTLED for status in found.values()):
            time.sleep(_SETTLED)
            found = {**files_of(self._project, SCHEMATIC), **files_of(self._project, NETLIST)}
        return {
            str(path.relative_to(self._project)): (status.st_mtime_ns, status.st_size) for path, status in found.items()
        }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
