"""The files of a project that count: schematics, and netlists that were exported. It reads none of them."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

__all__ = ["NETLIST", "SCHEMATIC", "files_of", "root_schematic"]

NETLIST, SCHEMATIC = ".net", ".kicad_sch"
_OTHERS = (".", "~", "_autosave")  # an editor's own: unfinished, locks, copies


def files_of(project: Path, ending: str) -> dict[Path, os.stat_result]:
    """The files with that ending anywhere in the folder, by path; one that goes away meanwhile is left out."""
    found = {}
    for folder, _, names in os.walk(project):
        for name in names:
            if name.endswith(ending) and not name.startswith(_OTHERS):
                with contextlib.suppress(OSError):
                    status = os.stat(path := Path(folder, name))
                    if stat.S_ISREG(status.st_mode):
                        found[path] = status
    return dict(sorted(found.items()))


def root_schematic(project: Path) -> Path | None:
    """The schematic of the project: the one beside a project file of its name, else the first."""
    found = files_of(project, SCHEMATIC)
    own = [one for one in found if one.with_suffix(".kicad_pro").is_file()]
    return next(iter(own or found), None)
