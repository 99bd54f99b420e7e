"""The score of a project: its candidate netlist, found or made, judged beside the task's reference."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from scrubjay.environments.kicad.comparing import Checks, check
from scrubjay.environments.kicad.netlist import Netlist
from scrubjay.environments.kicad.project import NETLIST, files_of, root_schematic
from scrubjay.environments.kicad.tasks import Task
from scrubjay.environments.temporary import TemporaryFolder
from scrubjay.errors import Damaged, InvalidInput, NotFound
from scrubjay.memory.jsonio import Json

__all__ = ["Candidate", "Score", "export", "find_candidate", "score"]

_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Candidate:
    """What is judged: a netlist, the file it comes from, and what is doubtful about it."""

    netlist: Netlist
    source: str
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Score:
    """How a project did in a task. `source` is None where there was nothing to judge."""

    task: str
    checks: Checks
    source: str | None
    warnings: tuple[str, ...] = ()

    @property
    def value(self) -> float:
        """The mean of the three checks."""
        return self.checks.score

    def to_json(self) -> Json:
        """As `scrubjay kicad score --json` prints it."""
        checks = {name: bool(getattr(self.checks, name)) for name in ("components", "nets", "net_names")}
        return {
            "task": self.task,
            **checks,
            "score": self.value,
            "source": self.source,
            "warnings": list(self.warnings),
        }


def score(task: Task, project: str | os.PathLike[str]) -> Score:
    """Judges the project in a folder. Without a netlist and a schematic nothing was done: all checks fail.

    Raises NotFound for a folder or a reference that is not there, Damaged for a file that can't be read, InvalidInput
    where a schematic must be exported and kicad-cli can't do it.
    """
    reference = task.reference()
    candidate = find_candidate(Path(project))
    if candidate is None:
        return Score(task.id, Checks(False, False, False), None)
    return Score(task.id, check(candidate.netlist, reference), candidate.source, candidate.warnings)


def find_candidate(project: Path) -> Candidate | None:
    """The newest exported netlist anywhere in the folder; else one made from the schematic; None without either.

    Where both are there, and the schematic was saved later or says something else, a warning tells it.
    """
    if not project.is_dir():
        raise NotFound(f"there is no project folder {project}")
    netlists = files_of(project, NETLIST)
    schematic = root_schematic(project)
    if not netlists:
        return None if schematic is None else Candidate(export(schematic), str(schematic))
    chosen = max(netlists, key=lambda one: (netlists[one].st_mtime_ns, one))
    warnings = [f"{len(netlists)} netlists are there; the newest is judged: {chosen.name}"] if len(netlists) > 1 else []
    netlist = Netlist.load(chosen)
    if schematic is not None:
        warnings += _compared(chosen, netlist, schematic, netlists[chosen].st_mtime_ns)
    return Candidate(netlist, str(chosen), tuple(warnings))


def _compared(exported: Path, netlist: Netlist, schematic: Path, exported_at: int) -> list[str]:
    warnings = []
    with contextlib.suppress(FileNotFoundError):
        if schematic.stat().st_mtime_ns > exported_at:
            warnings.append(f"{schematic.name} was saved after {exported.name} was exported")
    try:
        now = export(schematic)
    except (Damaged, InvalidInput) as error:
        return [*warnings, f"{exported.name} could not be set beside the schematic: {error}"]
    if set(now.components) != set(netlist.components) or set(now.nets) != set(netlist.nets):
        warnings.append(f"{schematic.name} now says something else than {exported.name}, which is judged")
    return warnings


def export(schematic: Path) -> Netlist:
    """The netlist of a schematic, made by kicad-cli in a fresh home; the schematic's folder is not written to.

    Raises InvalidInput where there is no kicad-cli or it refuses the file, Damaged where the file is broken.
    """
    program = shutil.which("kicad-cli")
    if program is None:
        raise InvalidInput("kicad-cli was not found: install KiCad 9, or export a netlist into the project folder")
    temporary = TemporaryFolder()
    try:
        return _exported(program, schematic, str(temporary.path))
    finally:
        temporary.remove()


def _exported(program: str, schematic: Path, folder: str) -> Netlist:
    out = os.path.join(folder, "out.net")
    environment = {**os.environ, "HOME": folder, "KICAD_CONFIG_HOME": folder, "LC_ALL": "C.UTF-8"}
    command = [program, "sch", "export", "netlist", "--output", out, os.path.abspath(schematic)]
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, encoding="utf-8", errors="replace", timeout=_SECONDS
        )
    except subprocess.TimeoutExpired:
        raise InvalidInput(f"kicad-cli did not end within {_SECONDS} s for {schematic}") from None
    if done.returncode or not os.path.exists(out):
        said = " ".join((done.stderr or done.stdout).split())[:300]
        raise Damaged(f"kicad-cli made no netlist of it: {said}", file=str(schematic))
    return Netlist.load(out)
